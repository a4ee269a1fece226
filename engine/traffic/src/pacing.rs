//! When what is sent at a rate is due. `now` is an argument: nothing here looks at a clock.

use std::time::Duration;

/// The mean time from the beginning of one unit to that of the next, exactly: a unit is a byte, a write or a datagram.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    /// Nanoseconds are this, divided by the other.
    numerator: u128,
    denominator: u128,
}

impl Gap {
    /// Of units of `bytes` at `rate_bps`.
    #[must_use]
    pub fn at_rate(bytes: u64, rate_bps: u64) -> Self {
        Self { numerator: u128::from(bytes) * 8_000_000_000, denominator: u128::from(rate_bps.max(1)) }
    }

    /// Of units `spacing_ns` apart.
    #[must_use]
    pub fn of_spacing(spacing_ns: u64) -> Self {
        Self { numerator: spacing_ns.into(), denominator: 1 }
    }

    /// Of units of `bytes` that have a spacing or a rate; nothing without either.
    #[must_use]
    pub fn of(bytes: u32, rate_bps: Option<u64>, spacing_ns: Option<u64>) -> Option<Self> {
        let at_rate = |rate_bps| Self::at_rate(bytes.into(), rate_bps);
        spacing_ns.map(Self::of_spacing).or(rate_bps.map(at_rate))
    }

    /// Nanoseconds that so many units take; rounded once, so that no error adds up.
    #[must_use]
    pub fn span_ns(&self, units: u64) -> u64 {
        let nanoseconds = u128::from(units).saturating_mul(self.numerator) / self.denominator;
        u64::try_from(nanoseconds).unwrap_or(u64::MAX)
    }

    /// How many units take so long.
    #[must_use]
    pub fn units_in(&self, nanoseconds: u64) -> u64 {
        let units = u128::from(nanoseconds) * self.denominator / self.numerator.max(1);
        u64::try_from(units).unwrap_or(u64::MAX)
    }
}

/// When each unit is due. It counts from the first one, so that rounding and late sending do not add up.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// From one unit to the next.
    pub gap: Gap,
    first_ns: u64,
    sent: u64,
}

impl Schedule {
    /// The first unit is due at `first_ns`.
    #[must_use]
    pub fn new(gap: Gap, first_ns: u64) -> Self {
        Self { gap, first_ns, sent: 0 }
    }

    /// When the next unit is due.
    #[must_use]
    pub fn due_ns(&self) -> u64 {
        self.first_ns.saturating_add(self.gap.span_ns(self.sent))
    }

    /// So many units have been sent.
    pub fn sent(&mut self, units: u64) {
        self.sent += units;
    }

    /// Whoever is behind by more than `most_ns` is put off until it is behind by that; says by how much.
    pub fn put_off(&mut self, now_ns: u64, most_ns: u64) -> u64 {
        let by_ns = now_ns.saturating_sub(self.due_ns()).saturating_sub(most_ns);
        self.first_ns += by_ns;
        by_ns
    }

    /// How long to wait for the next unit; zero: it is due. Whoever is behind by more than `most` is put off first.
    pub fn pause(&mut self, now: Duration, most: Duration) -> Duration {
        let [now_ns, most_ns] = [now, most].map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        self.put_off(now_ns, most_ns);
        Duration::from_nanos(self.due_ns().saturating_sub(now_ns))
    }

    /// Has the rest due earlier, by what it was put off before at most.
    pub fn bring_forward(&mut self, by_ns: u64) {
        self.first_ns = self.first_ns.saturating_sub(by_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_due_at_their_rate() {
        assert_eq!(Gap::at_rate(125, 1_000_000).span_ns(1000), 1_000_000_000);
        assert_eq!(Gap::at_rate(1500, 7).span_ns(0), 0);
        assert_eq!(Gap::at_rate(1500, 7_000_000_000).span_ns(3000), 5_142_857);
        assert_eq!(Gap::at_rate(u64::MAX, 1).span_ns(u64::MAX), u64::MAX);
        assert_eq!(Gap::at_rate(1500, 7_000_000_000).units_in(5_142_858), 3000);
    }

    #[test]
    fn a_spacing_wins_over_a_rate() {
        assert_eq!(Gap::of(64, Some(1), Some(120)).unwrap().span_ns(2), 240);
        assert_eq!(Gap::of(125, Some(1000), None).unwrap().span_ns(1), 1_000_000_000);
        assert!(Gap::of(64, None, None).is_none());
    }

    #[test]
    fn the_mean_rate_is_kept() {
        let mut schedule = Schedule::new(Gap::at_rate(1, 8_000_000), 7);
        let mut now_ns = 0;
        for _ in 0..1000 {
            now_ns = schedule.due_ns().max(now_ns);
            schedule.sent(1000);
        }
        assert_eq!(now_ns, 999_000_007);
    }

    #[test]
    fn who_was_put_off_catches_up_after_a_short_stall_only() {
        let mut schedule = Schedule::new(Gap::at_rate(1, 8_000_000), 0);
        let now_ns = 10_000_000_000;
        assert_eq!(schedule.put_off(now_ns, 100_000_000), 9_900_000_000);
        let mut at_once = 0;
        while schedule.due_ns() <= now_ns {
            assert_eq!(schedule.put_off(now_ns, 100_000_000), 0);
            schedule.sent(1000);
            at_once += 1;
        }
        assert_eq!(at_once, 101);
        schedule.bring_forward(1_000_000);
        assert_eq!(schedule.due_ns(), now_ns);
    }
}
