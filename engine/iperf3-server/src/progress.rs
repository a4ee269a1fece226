//! Whether anything becomes of a test: `now` is an argument, nothing here looks at a clock.

use std::time::{Duration, Instant};

/// How far one direction of a test has come, and since when no further.
pub struct Progress {
    since: Instant,
    bytes: u64,
    enough: u64,
}

impl Progress {
    /// Of a direction that begins at `now`; `enough`: how many bytes are a progress.
    #[must_use]
    pub fn new(now: Instant, enough: u64) -> Self {
        Self { since: now, bytes: 0, enough: enough.max(1) }
    }

    /// It has carried so many bytes in all; whether that is further than when it last was.
    pub fn note(&mut self, now: Instant, bytes: u64) -> bool {
        let further = bytes >= self.bytes.saturating_add(self.enough);
        if further {
            self.bytes = bytes;
            self.since = now;
        }
        further
    }

    /// It rests because it is to, and not because of its client.
    pub fn rests(&mut self, now: Instant) {
        self.since = now;
    }

    /// For how long it has come no further.
    #[must_use]
    pub fn idle(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_a_minute_is_no_progress() {
        let begin = Instant::now();
        let mut progress = Progress::new(begin, 1000);
        for minute in 1..30 {
            let now = begin + Duration::from_secs(60 * minute);
            assert!(!progress.note(now, minute));
            assert_eq!(progress.idle(now), now - begin);
        }
        assert!(progress.note(begin + Duration::from_secs(3600), 1000));
        assert_eq!(progress.idle(begin + Duration::from_secs(3601)), Duration::from_secs(1));
    }

    #[test]
    fn whoever_rests_is_not_idle() {
        let begin = Instant::now();
        let mut progress = Progress::new(begin, 1);
        let now = begin + Duration::from_secs(100);
        progress.rests(now);
        assert_eq!(progress.idle(now), Duration::ZERO);
        assert!(!progress.note(now, 0) && progress.note(now, 1) && !progress.note(now, 1));
    }
}
