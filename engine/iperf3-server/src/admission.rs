//! Who may test now, who waits, who is sent away.

/// How many tests run at once, and how many clients wait for a place.
#[derive(Clone, Copy, Debug)]
pub struct Admission {
    /// Tests at once.
    pub tests_max: usize,
    /// Clients that wait.
    pub queue_max: usize,
}

/// What becomes of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It begins.
    Begin,
    /// It waits for a place.
    Wait,
    /// It is told that the server is busy.
    Deny,
}

impl Admission {
    /// One test at a time, and nobody waits: as iperf3 does.
    pub const EXCLUSIVE: Self = Self { tests_max: 1, queue_max: 0 };

    /// What becomes of the next client. Whoever waits already comes first.
    #[must_use]
    pub fn decide(self, running: usize, waiting: usize) -> Decision {
        if waiting == 0 && running < self.tests_max {
            Decision::Begin
        } else if waiting < self.queue_max {
            Decision::Wait
        } else {
            Decision::Deny
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusive_is_one_at_a_time() {
        assert_eq!(Admission::EXCLUSIVE.decide(0, 0), Decision::Begin);
        assert_eq!(Admission::EXCLUSIVE.decide(1, 0), Decision::Deny);
    }

    #[test]
    fn nobody_overtakes_who_waits() {
        let two = Admission { tests_max: 2, queue_max: 3 };
        assert_eq!(two.decide(1, 0), Decision::Begin);
        assert_eq!(two.decide(1, 1), Decision::Wait);
        assert_eq!(two.decide(2, 2), Decision::Wait);
        assert_eq!(two.decide(2, 3), Decision::Deny);
    }
}
