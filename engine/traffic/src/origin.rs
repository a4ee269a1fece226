//! Where the times of one end count from.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::{
    defaults::{ORIGIN_READINGS, ORIGIN_SPREAD_MAX},
    time::nanoseconds,
};

/// One moment, by both clocks.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// By the clock that samples are taken with.
    pub instant: Instant,
    /// By the wall clock, in nanoseconds since 1970 UTC.
    pub unix_ns: i64,
}

impl Origin {
    /// Now. A thread may be interrupted between its clocks: the reading that took least counts.
    pub fn now() -> Self {
        let mut best = Reading::take();
        for _ in 1..ORIGIN_READINGS {
            if best.spread() <= ORIGIN_SPREAD_MAX {
                break;
            }
            let next = Reading::take();
            best = if next.spread() < best.spread() { next } else { best };
        }
        Self { instant: best.before + best.spread() / 2, unix_ns: best.unix_ns }
    }

    /// Time since then, in nanoseconds.
    pub fn elapsed_ns(&self) -> i64 {
        self.ns_at(Instant::now())
    }

    /// When a later moment was, in nanoseconds since then; 0 for an earlier one.
    pub fn ns_at(&self, moment: Instant) -> i64 {
        nanoseconds(moment.saturating_duration_since(self.instant))
    }
}

/// What the wall clock shows, in nanoseconds since 1970 UTC: the kernel stamps datagrams with the same.
pub fn wall_clock_ns() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX)
}

/// The wall clock, between two looks at the other.
struct Reading {
    before: Instant,
    unix_ns: i64,
    after: Instant,
}

impl Reading {
    fn take() -> Self {
        let before = Instant::now();
        let unix_ns = wall_clock_ns();
        Self { before, unix_ns, after: Instant::now() }
    }

    fn spread(&self) -> Duration {
        self.after.saturating_duration_since(self.before)
    }
}
