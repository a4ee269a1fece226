//! Who may test now, who waits, who is sent away.

use serving::defaults::PART_OF_ONE_ORIGIN;

/// How many tests run at once, and how many clients wait for a place.
#[derive(Clone, Copy, Debug)]
pub struct Admission {
    /// Tests at once.
    pub tests_max: usize,
    /// Of these, from one address (of IPv6: from one /64); whoever else comes from there waits.
    pub per_address_max: usize,
    /// Clients that wait.
    pub queue_max: usize,
}

/// What is there when somebody comes, of its own address and of all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crowd {
    /// Tests that run.
    pub running: usize,
    /// Of these, from its address.
    pub running_own: usize,
    /// Clients that wait.
    pub waiting: usize,
    /// Of these, from its address.
    pub waiting_own: usize,
    /// Most that wait from one address.
    pub waiting_most: usize,
}

/// What becomes of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It begins.
    Begin,
    /// It waits for a place.
    Wait,
    /// It waits for a place, in place of the last to arrive from the origin with the most that wait.
    WaitInstead,
    /// It is informed that the server is busy.
    Deny,
}

impl Admission {
    /// One test at a time, and nobody waits: as iperf3 does.
    pub const EXCLUSIVE: Self = Self { tests_max: 1, per_address_max: 1, queue_max: 0 };

    /// So many tests at once, and of one address the usual part of them.
    #[must_use]
    pub fn shared(tests_max: usize, queue_max: usize) -> Self {
        Self { tests_max, per_address_max: (tests_max / PART_OF_ONE_ORIGIN).max(1), queue_max }
    }

    /// What becomes of the next client. Of those that wait nobody could have the place that it gets: they have theirs
    /// first.
    #[must_use]
    pub fn decide(self, crowd: Crowd) -> Decision {
        if crowd.running < self.tests_max && crowd.running_own < self.per_address_max {
            Decision::Begin
        } else if crowd.waiting < self.queue_max {
            Decision::Wait
        } else if crowd.waiting_most > crowd.waiting_own + 1 {
            Decision::WaitInstead
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
        assert_eq!(Admission::EXCLUSIVE.decide(Crowd::default()), Decision::Begin);
        let busy = Crowd { running: 1, ..Crowd::default() };
        assert_eq!(Admission::EXCLUSIVE.decide(busy), Decision::Deny);
    }

    #[test]
    fn an_address_has_its_part_of_the_places() {
        let eight = Admission::shared(8, 4);
        assert_eq!(eight.per_address_max, 2);
        assert_eq!(Admission::shared(1, 4).per_address_max, 1);
        let two = Crowd { running: 2, running_own: 2, ..Crowd::default() };
        assert_eq!(eight.decide(two), Decision::Wait);
        assert_eq!(eight.decide(Crowd { running_own: 0, ..two }), Decision::Begin);
    }

    #[test]
    fn a_full_queue_is_shared_by_addresses() {
        let full = Crowd { running: 8, waiting: 4, waiting_most: 4, ..Crowd::default() };
        let eight = Admission::shared(8, 4);
        assert_eq!(eight.decide(full), Decision::WaitInstead);
        assert_eq!(eight.decide(Crowd { waiting_own: 4, ..full }), Decision::Deny);
        assert_eq!(eight.decide(Crowd { waiting_most: 1, ..full }), Decision::Deny, "each has one");
    }
}
