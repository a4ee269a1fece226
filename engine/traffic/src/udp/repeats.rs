//! When a sink of datagrams says once more that a flow runs. No clock.

use std::time::Duration;

use crate::{
    defaults::{RUNNING_PAUSE_MOST, RUNNING_PAUSE_SHORTEST},
    time::nanoseconds,
};

/// What is due for each flow. Its thread has said it when the first datagram came, and nothing tells whether that was
/// lost; so each pause is twice as long as the one before, up to a limit: most flows are heard at once, and what many
/// of them repeat may share a slow path with what is measured.
pub struct Repeats {
    lasting_ns: i64,
    flows: Vec<Option<Next>>,
}

#[derive(Clone, Copy)]
struct Next {
    due_ns: i64,
    pause_ns: i64,
}

impl Repeats {
    /// Of so many flows, each for so long after its first datagram: then its source has given up.
    pub fn new(flows: usize, lasting: Duration) -> Self {
        Self { lasting_ns: nanoseconds(lasting), flows: vec![None; flows] }
    }

    /// Whether it is time for the flow at this place, whose first datagram came at `first_ns`; if so, it counts as done.
    pub fn take_if_due(&mut self, place: usize, first_ns: i64, now_ns: i64) -> bool {
        let Some(next) = self.flows.get_mut(place) else { return false };
        if now_ns - first_ns >= self.lasting_ns {
            return false;
        }
        let pause_ns = nanoseconds(RUNNING_PAUSE_SHORTEST);
        let next = next.get_or_insert(Next { due_ns: first_ns + pause_ns, pause_ns });
        if now_ns < next.due_ns {
            return false;
        }
        next.pause_ns = (2 * next.pause_ns).min(nanoseconds(RUNNING_PAUSE_MOST));
        // From now: a coordinator that was held up makes no burst of it.
        next.due_ns = now_ns + next.pause_ns;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// When the flow at this place is due, looked at every millisecond, in milliseconds after its first datagram.
    fn due(repeats: &mut Repeats, place: usize, first_ms: i64, for_ms: i64) -> Vec<i64> {
        (0..for_ms).filter(|after_ms| repeats.take_if_due(place, first_ms * MS, (first_ms + after_ms) * MS)).collect()
    }

    #[test]
    fn pauses_grow_and_a_flow_is_repeated_a_few_times_only() {
        let mut repeats = Repeats::new(2, Duration::from_secs(10));
        let found = due(&mut repeats, 0, 7, 60_000);
        let late = (0..11).map(|turn| 1550 + turn * 800);
        assert_eq!(found, [50, 150, 350, 750].into_iter().chain(late).collect::<Vec<_>>());
        // One more is what the thread said. Whatever was repeated of a flow is nothing to the next.
        assert!(found.iter().filter(|ms| **ms < 3000).count() < 8);
        assert_eq!(due(&mut repeats, 1, 9000, 700), [50, 150, 350]);
    }

    #[test]
    fn a_coordinator_that_was_held_up_makes_no_burst() {
        let mut repeats = Repeats::new(1, Duration::from_secs(10));
        let times = [2000, 2001, 2099, 2100, 2101, 2299, 2300];
        let found = times.map(|now_ms| repeats.take_if_due(0, 0, now_ms * MS));
        assert_eq!(found, [true, false, false, true, false, false, true]);
    }

    #[test]
    fn a_source_that_has_given_up_is_told_nothing() {
        let mut repeats = Repeats::new(1, Duration::from_millis(300));
        assert_eq!(due(&mut repeats, 0, 0, 20_000), [50, 150]);
        assert!(!repeats.take_if_due(7, 0, 50 * MS));
    }
}
