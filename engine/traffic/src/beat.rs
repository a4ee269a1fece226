//! What is done at each multiple of an interval. No clock.

use std::time::Duration;

use crate::time::{from_nanoseconds, nanoseconds};

/// When something is due that is done at each multiple of an interval. `now` is an argument.
pub struct Beat {
    interval_ns: i64,
    next_ns: i64,
}

impl Beat {
    /// Due for the first time after one interval.
    pub fn new(interval: Duration) -> Self {
        let interval_ns = nanoseconds(interval).max(1);
        Self { interval_ns, next_ns: interval_ns }
    }

    /// How long until it is due.
    pub fn due_in(&self, now_ns: i64) -> Duration {
        from_nanoseconds(self.next_ns - now_ns)
    }

    /// How long it has been due.
    pub fn overdue(&self, now_ns: i64) -> Duration {
        from_nanoseconds(now_ns - self.next_ns)
    }

    /// Whether it is due.
    pub fn is_due(&self, now_ns: i64) -> bool {
        now_ns >= self.next_ns
    }

    /// It was done: due at the next multiple after `now_ns`. What was done late makes a longer interval, not several
    /// short ones afterwards.
    pub fn done(&mut self, now_ns: i64) {
        self.next_ns = (now_ns / self.interval_ns + 1) * self.interval_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_due_at_multiples_and_late_once_only() {
        let mut beat = Beat::new(Duration::from_nanos(10));
        assert_eq!((beat.is_due(9), beat.due_in(4)), (false, Duration::from_nanos(6)));
        assert!(beat.is_due(10));
        assert_eq!([9, 10, 13].map(|now_ns| beat.overdue(now_ns).as_nanos()), [0, 0, 3]);
        beat.done(37);
        assert_eq!((beat.is_due(39), beat.is_due(40), beat.due_in(50)), (false, true, Duration::ZERO));
    }
}
