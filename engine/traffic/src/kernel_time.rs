//! The kernel stamps what arrives with the wall clock, which may be set at any moment. Here its times become such of the
//! monotonic clock, which never is, and those that a step may have touched become none. What clocks show is an argument.
//!
//! On Linux a clock that is slewed is slewed with the monotonic one, so that the difference of both changes in steps only;
//! it is looked at after everything that was received. Where it drifts all the same it is followed.

use std::time::Instant;

use crate::{
    defaults::{CLOCK_DRIFT_SHARE, CLOCK_SET_BACK_MOST, CLOCK_STEP_LEAST, SUSPENDED_LEAST},
    origin::{Look, Origin},
    time::{from_nanoseconds, nanoseconds},
};

/// Turns the kernel's times into nanoseconds since an origin.
pub struct KernelTime {
    origin: Origin,
    /// The wall clock less the time since the origin, from the closest look.
    offset_ns: i64,
    /// How far this may be wrong.
    within_ns: i64,
    /// Of the latest look, since the origin.
    looked_ns: i64,
    /// How long the host had been suspended then.
    asleep_ns: i64,
    /// What was stamped up to here may be of the clock as it was before it was set.
    touched_unix_ns: Option<i64>,
    /// The latest look has shown so: what it was after may have been received before.
    just_set: bool,
    /// What was seen of steps.
    pub steps: Steps,
}

/// How often a host's wall clock was set or went on while the host slept, and what that has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// How often it was set.
    pub count: u32,
    /// By how much, at most: the step itself.
    pub largest_ns: i64,
    /// When the first was seen, since the origin.
    pub first_ns: i64,
    /// How long the host was suspended.
    pub asleep_ns: i64,
    /// Arrivals of which the time is not known.
    pub untimed: u64,
}

impl KernelTime {
    /// Counts from now on.
    #[must_use]
    pub fn begin() -> Self {
        Self::new(Origin::now())
    }

    /// Counts from an origin.
    #[must_use]
    pub fn new(origin: Origin) -> Self {
        Self::since(origin, origin.look())
    }

    fn since(origin: Origin, look: Look) -> Self {
        Self {
            origin,
            offset_ns: look.offset_ns(),
            within_ns: look.spread_ns,
            looked_ns: look.at_ns,
            asleep_ns: look.asleep_ns,
            touched_unix_ns: None,
            just_set: false,
            steps: Steps::default(),
        }
    }

    /// To be called after everything that was received, before its times are asked for.
    pub fn look(&mut self) {
        self.follow(self.origin.look());
    }

    /// What was received before the latest look was all that waited: what comes from now on was stamped after all steps but
    /// one that this look has shown.
    pub fn drained(&mut self) {
        if !self.just_set {
            self.touched_unix_ns = None;
        }
    }

    /// When something arrived, since the origin; absent if the clock was set about then. Counts those.
    pub fn arrived_ns(&mut self, stamp_unix_ns: i64) -> Option<i64> {
        let touched = self.touched_unix_ns.is_some_and(|touched_unix_ns| stamp_unix_ns <= touched_unix_ns);
        let arrived_ns = stamp_unix_ns.saturating_sub(self.offset_ns);
        // A stamp of the future is one of a clock that was set back, and forth again, between two looks.
        let latest_ns = self.looked_ns.saturating_add(tolerance_ns(0)).saturating_add(self.within_ns);
        let known = !touched && arrived_ns <= latest_ns;
        self.steps.untimed += u64::from(!known);
        known.then_some(arrived_ns)
    }

    /// The same as a moment of this process's clock.
    pub fn arrived(&mut self, stamp_unix_ns: i64) -> Option<Instant> {
        let arrived_ns = self.arrived_ns(stamp_unix_ns)?;
        if arrived_ns < 0 {
            return self.origin.instant.checked_sub(from_nanoseconds(arrived_ns.saturating_neg()));
        }
        self.origin.instant.checked_add(from_nanoseconds(arrived_ns))
    }

    fn follow(&mut self, look: Look) {
        let change_ns = look.offset_ns().saturating_sub(self.offset_ns);
        let elapsed_ns = look.at_ns.saturating_sub(self.looked_ns).max(0);
        let noise_ns = self.within_ns.saturating_add(look.spread_ns);
        self.looked_ns = look.at_ns;
        self.just_set = false;
        if change_ns.saturating_abs() > tolerance_ns(elapsed_ns).saturating_add(noise_ns) {
            self.step(look, change_ns);
        } else if change_ns.saturating_abs() > noise_ns || look.spread_ns < self.within_ns {
            (self.offset_ns, self.within_ns) = (look.offset_ns(), look.spread_ns);
        }
    }

    fn step(&mut self, look: Look, change_ns: i64) {
        let before_unix_ns = look.at_ns.saturating_add(self.offset_ns.max(look.offset_ns()));
        // What was stamped by a clock that was far ahead seems to come from the future, and has no time for that.
        let most_unix_ns = look.unix_ns.saturating_add(nanoseconds(CLOCK_SET_BACK_MOST));
        self.touched_unix_ns = self.touched_unix_ns.max(Some(before_unix_ns)).map(|last| last.min(most_unix_ns));
        self.just_set = true;
        (self.offset_ns, self.within_ns) = (look.offset_ns(), look.spread_ns);
        let asleep_ns = look.asleep_ns.saturating_sub(self.asleep_ns);
        let steps = &mut self.steps;
        if asleep_ns > nanoseconds(SUSPENDED_LEAST) {
            // The wall clock is right again, and the other one stood still.
            self.asleep_ns = look.asleep_ns;
            steps.asleep_ns = steps.asleep_ns.saturating_add(asleep_ns);
            return;
        }
        if steps.count == 0 {
            steps.first_ns = look.at_ns;
        }
        steps.count = steps.count.saturating_add(1);
        if change_ns.unsigned_abs() > steps.largest_ns.unsigned_abs() {
            steps.largest_ns = change_ns;
        }
    }
}

/// How far the difference of both clocks may have drifted meanwhile.
fn tolerance_ns(elapsed_ns: i64) -> i64 {
    nanoseconds(CLOCK_STEP_LEAST).saturating_add(elapsed_ns / CLOCK_DRIFT_SHARE)
}

impl Steps {
    /// Those that several looked at, each for itself, and all arrivals that have no time.
    pub fn seen_by_all(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::default(), |sum, one| {
            let first = if one.count > 0 && (sum.count == 0 || one.first_ns < sum.first_ns) { one } else { sum };
            let largest = if one.largest_ns.unsigned_abs() > sum.largest_ns.unsigned_abs() { one } else { sum };
            Self {
                count: sum.count.max(one.count),
                largest_ns: largest.largest_ns,
                first_ns: first.first_ns,
                asleep_ns: sum.asleep_ns.max(one.asleep_ns),
                untimed: sum.untimed.saturating_add(one.untimed),
            }
        })
    }

    /// The remark on them for the report, if there were any; `consequence`: what became of the arrivals in question.
    pub fn remark(&self, consequence: &str) -> Option<String> {
        let Self { count, largest_ns, first_ns, asleep_ns, untimed } = *self;
        let [by_s, after_s, asleep_s] = [largest_ns, first_ns, asleep_ns].map(seconds);
        let set = (count > 0).then(|| {
            format!(
                "this host's clock was set while the trial ran (times: {count}; at most by {by_s} s; first {after_s} s after \
                 its beginning)"
            )
        });
        let slept = (asleep_ns > 0).then(|| format!("this host was suspended while the trial ran (for {asleep_s} s)"));
        let all: Vec<String> = set.into_iter().chain(slept).collect();
        (!all.is_empty()).then(|| format!("{}: {untimed} arrivals of about then {consequence}", all.join(", and ")))
    }
}

/// With microseconds.
fn seconds(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let microseconds = nanoseconds.unsigned_abs() / 1000;
    format!("{sign}{}.{:06}", microseconds / 1_000_000, microseconds % 1_000_000)
}

#[cfg(test)]
mod tests;
