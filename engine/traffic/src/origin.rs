//! Where the times of one end count from.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

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

/// What both clocks show at a later moment.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_field_names, reason = "each name says its unit")]
pub struct Look {
    /// Since the origin, by the clock that samples are taken with.
    pub at_ns: i64,
    /// By the wall clock, in nanoseconds since 1970 UTC.
    pub unix_ns: i64,
    /// How far apart the two may have been read.
    pub spread_ns: i64,
    /// How long this host has been suspended since it started: the clock that samples are taken with stood still then.
    pub asleep_ns: i64,
}

impl Look {
    /// How far the wall clock is ahead of the time since the origin.
    pub fn offset_ns(&self) -> i64 {
        self.unix_ns.saturating_sub(self.at_ns)
    }
}

impl Origin {
    /// Now.
    pub fn now() -> Self {
        let closest = Reading::closest();
        Self { instant: closest.middle(), unix_ns: closest.unix_ns }
    }

    /// Both clocks, now.
    pub fn look(&self) -> Look {
        let closest = Reading::closest();
        Look {
            at_ns: self.ns_at(closest.middle()),
            unix_ns: closest.unix_ns,
            spread_ns: nanoseconds(closest.spread()),
            asleep_ns: asleep_ns(),
        }
    }

    /// Now by a wall clock that nobody has set since the origin, in nanoseconds since 1970 UTC.
    pub fn steady_unix_ns(&self) -> i64 {
        self.unix_ns.saturating_add(self.elapsed_ns())
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

/// What the wall clock shows, in nanoseconds since 1970 UTC. It may be set at any moment: nothing is measured with it.
pub fn wall_clock_ns() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX)
}

/// How long this host has been suspended since it started; too much by the time between two looks at clocks.
fn asleep_ns() -> i64 {
    let [awake_ns, all_ns] = [ClockId::Monotonic, ClockId::Boottime].map(|clock| {
        let now = clock_gettime(clock);
        now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
    });
    all_ns.saturating_sub(awake_ns)
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

    /// A thread may be interrupted between its clocks: the reading that took least counts.
    fn closest() -> Self {
        let mut best = Self::take();
        for _ in 1..ORIGIN_READINGS {
            if best.spread() <= ORIGIN_SPREAD_MAX {
                break;
            }
            let next = Self::take();
            best = if next.spread() < best.spread() { next } else { best };
        }
        best
    }

    fn middle(&self) -> Instant {
        self.before + self.spread() / 2
    }

    fn spread(&self) -> Duration {
        self.after.saturating_duration_since(self.before)
    }
}
