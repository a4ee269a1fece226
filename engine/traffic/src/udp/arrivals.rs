//! When a flow's datagrams were received: spacing, jitter and delay, from the kernel's times. No socket, no clock.

use hdrhistogram::Histogram;

use super::{delay_histogram::DelayHistogram, histograms};
use crate::jitter::Jitter;

/// The times of one flow at its sink.
pub struct Arrivals {
    last_ns: Option<i64>,
    /// Interarrival jitter.
    pub jitter: Jitter,
    /// From one arrival to the next, in nanoseconds.
    pub spacing: Histogram<u64>,
    /// Receiving time less sending time.
    pub delay: DelayHistogram,
    /// Of an interval, until somebody takes it.
    pub interval: Option<Delays>,
}

/// When a datagram was received, or several at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// In nanoseconds since 1970 UTC, by a clock that nobody sets.
    Known(i64),
    /// The kernel did not report it, or by a clock that was set about then.
    Unknown,
}

/// Delays of an interval, in nanoseconds, by the wall clocks of both ends as they went on from their origins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// The smallest.
    pub min_ns: i64,
    /// The largest.
    pub max_ns: i64,
    sum_ns: i128,
    count: u64,
}

impl Arrivals {
    /// Nothing received yet.
    pub fn new() -> Self {
        Self {
            last_ns: None,
            jitter: Jitter::default(),
            spacing: histograms::of_times(),
            delay: DelayHistogram::new(),
            interval: None,
        }
    }

    /// Takes a datagram that is no duplicate, or the first such of several that were received at once. In the order of
    /// arrival, as RFC 3550 has it: a reordered one counts like the others. A gap or a change of delay is that to
    /// the one before, if its time is known.
    pub fn take(&mut self, moment: Moment, sent_ns: i64) {
        match moment {
            Moment::Known(arrived_ns) => self.observe(arrived_ns, sent_ns),
            Moment::Unknown => {
                self.last_ns = None;
                self.jitter.skip();
            }
        }
    }

    fn observe(&mut self, arrived_ns: i64, sent_ns: i64) {
        let delay_ns = arrived_ns.saturating_sub(sent_ns);
        self.delay.record(delay_ns);
        match &mut self.interval {
            Some(interval) => interval.add(delay_ns),
            None => self.interval = Some(Delays::of(delay_ns)),
        }
        self.jitter.take(arrived_ns, sent_ns);
        if let Some(last_ns) = self.last_ns.replace(arrived_ns) {
            let since_last_ns = arrived_ns.saturating_sub(last_ns);
            histograms::record(&mut self.spacing, u64::try_from(since_last_ns).unwrap_or(0), 1);
        }
    }
}

impl Delays {
    fn of(delay_ns: i64) -> Self {
        Self { min_ns: delay_ns, max_ns: delay_ns, sum_ns: delay_ns.into(), count: 1 }
    }

    fn add(&mut self, delay_ns: i64) {
        self.min_ns = self.min_ns.min(delay_ns);
        self.max_ns = self.max_ns.max(delay_ns);
        self.sum_ns += i128::from(delay_ns);
        self.count += 1;
    }

    /// Both together.
    pub fn merged(mut self, other: Self) -> Self {
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns += other.sum_ns;
        self.count += other.count;
        self
    }

    /// Their mean.
    pub fn mean_ns(&self) -> i64 {
        i64::try_from(self.sum_ns / i128::from(self.count)).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_between_two_arrivals_of_which_the_times_are_known() {
        let mut arrivals = Arrivals::new();
        for moment in [Moment::Known(1_000), Moment::Known(2_600), Moment::Unknown, Moment::Known(9_600)] {
            arrivals.take(moment, 0);
        }
        arrivals.observe(9_700, 0);
        assert_eq!(arrivals.spacing.len(), 2);
        assert!(arrivals.spacing.equivalent(arrivals.spacing.max(), 1_600));
    }

    #[test]
    fn delays_lie_above_the_smallest_whenever_that_came() {
        let mut arrivals = Arrivals::new();
        // Two clocks that differ by a second.
        let delays = [-999_000_000, -999_900_000, -999_950_000, -999_000_000];
        for (sent_ns, delay_ns) in (0_i64..).zip(delays) {
            arrivals.observe(sent_ns + delay_ns, sent_ns);
        }
        assert_eq!(arrivals.delay.min_ns, Some(-999_950_000));
        let (histogram, below) = arrivals.delay.above_min();
        let near = |due: u64| {
            let recorded = histogram.iter_recorded();
            let close = recorded.filter(|one| (one.value_iterated_to() - below).abs_diff(due) <= due / 50 + 400);
            close.map(|one| one.count_at_value()).sum::<u64>()
        };
        assert_eq!([0, 50_000, 950_000].map(near), [1, 1, 2]);
        let interval = arrivals.interval.unwrap();
        assert_eq!((interval.min_ns, interval.max_ns), (-999_950_000, -999_000_000));
        assert_eq!(interval.mean_ns(), -999_462_500);
    }

    #[test]
    fn delays_of_any_number_of_datagrams_are_counted() {
        let mut all = Delays { count: u32::MAX.into(), sum_ns: i128::from(u32::MAX) * 7, ..Delays::of(7) };
        all.add(7);
        assert_eq!(all.merged(all).mean_ns(), 7);
    }

    #[test]
    fn times_that_make_no_sense_are_borne() {
        let mut arrivals = Arrivals::new();
        for times in [(i64::MAX, i64::MIN), (i64::MIN, i64::MAX), (0, 0)] {
            arrivals.observe(times.0, times.1);
        }
    }
}
