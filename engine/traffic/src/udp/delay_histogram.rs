//! Delays of a flow as they lie above the smallest, which nobody knows before the end. No clock.

use hdrhistogram::Histogram;

use super::histograms;
use crate::defaults::{DELAY_MARGIN_NS, EARLIER_DELAYS_LEAST, EARLIER_DELAYS_SHARE};

/// Delays above a base somewhat below the smallest so far. When a smaller one comes, the base moves, and what was
/// counted above the former one goes to where nothing is moved again: to add a little to all values of a histogram
/// each time would lose it each time, where its buckets are wider than that.
pub struct DelayHistogram {
    /// Since the base moved, above it.
    latest: Histogram<u64>,
    base_ns: i64,
    earlier: Earlier,
    /// The smallest, by the wall clocks of both ends.
    pub min_ns: Option<i64>,
}

impl DelayHistogram {
    /// Without delays.
    pub fn new() -> Self {
        Self { latest: histograms::of_times(), base_ns: 0, earlier: Earlier::new(), min_ns: None }
    }

    /// Counts one.
    pub fn record(&mut self, delay_ns: i64) {
        let Some(min_ns) = self.min_ns else {
            self.base_ns = delay_ns.saturating_sub(DELAY_MARGIN_NS);
            self.min_ns = Some(delay_ns);
            return self.add(delay_ns);
        };
        self.min_ns = Some(min_ns.min(delay_ns));
        if delay_ns < self.base_ns {
            self.move_base(delay_ns.saturating_sub(DELAY_MARGIN_NS));
        }
        self.add(delay_ns);
    }

    fn add(&mut self, delay_ns: i64) {
        histograms::record(&mut self.latest, above(delay_ns, self.base_ns), 1);
    }

    fn move_base(&mut self, base_ns: i64) {
        for one in self.latest.iter_recorded() {
            let middle = self.latest.median_equivalent(one.value_iterated_to());
            let delay_ns = self.base_ns.saturating_add(i64::try_from(middle).unwrap_or(i64::MAX));
            self.earlier.counts.push((delay_ns, one.count_at_value()));
        }
        self.latest.reset();
        self.base_ns = base_ns;
        self.earlier.shorten_if_long(base_ns);
    }

    /// The histogram, and how much its values lie above those over the smallest.
    pub fn above_min(&self) -> (Histogram<u64>, u64) {
        let mut all = self.latest.clone();
        for (delay_ns, times) in &self.earlier.counts {
            histograms::record(&mut all, above(*delay_ns, self.base_ns), *times);
        }
        (all, above(self.min_ns.unwrap_or(self.base_ns), self.base_ns))
    }
}

fn above(delay_ns: i64, base_ns: i64) -> u64 {
    u64::try_from(delay_ns.saturating_sub(base_ns)).unwrap_or(0)
}

/// How often which delays were counted before the base moved for the last time, by the wall clocks of both ends.
struct Earlier {
    counts: Vec<(i64, u64)>,
    /// How many there may be before those close to each other are put together.
    room: usize,
}

impl Earlier {
    fn new() -> Self {
        Self { counts: Vec::new(), room: EARLIER_DELAYS_LEAST }
    }

    /// Puts together what is so far above the base that it makes no difference.
    fn shorten_if_long(&mut self, base_ns: i64) {
        if self.counts.len() <= self.room {
            return;
        }
        for (delay_ns, _) in &mut self.counts {
            *delay_ns = middle_of_cell(*delay_ns, base_ns);
        }
        self.counts.sort_unstable_by_key(|(delay_ns, _)| *delay_ns);
        self.counts.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(later.1);
            }
            same
        });
        self.room = EARLIER_DELAYS_LEAST.max(2 * self.counts.len());
    }
}

/// The middle of the cell that a delay is in. Cells are powers of two wide and begin at multiples of that, so each lies
/// within one of the wider ones: however often a delay is put into a wider one, it stays within the last.
fn middle_of_cell(delay_ns: i64, base_ns: i64) -> i64 {
    let width_max = above(delay_ns, base_ns) / EARLIER_DELAYS_SHARE;
    let Some(digits) = width_max.checked_ilog2() else { return delay_ns };
    (delay_ns >> digits << digits) | ((1_i64 << digits) >> 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: i64 = 1_000_000;

    fn of(delays: impl IntoIterator<Item = i64>) -> DelayHistogram {
        let mut histogram = DelayHistogram::new();
        delays.into_iter().for_each(|delay_ns| histogram.record(delay_ns));
        histogram
    }

    /// What was recorded over the smallest, in ascending order.
    fn recorded(histogram: &DelayHistogram) -> Vec<i64> {
        let (all, below) = histogram.above_min();
        let middle = |value| all.median_equivalent(value).cast_signed() - below.cast_signed();
        let each = |one: hdrhistogram::iterators::IterationValue<u64>| {
            (0..one.count_at_value()).map(move |_| one.value_iterated_to())
        };
        all.iter_recorded().flat_map(each).map(middle).collect()
    }

    /// Each is within 1 % of what it should be, 20 µs longer.
    fn are_right(delays: &[i64]) {
        let found = recorded(&of(delays.iter().copied()));
        let mut due = delays.to_vec();
        due.sort_unstable();
        assert_eq!(found.len(), due.len());
        let least = due[0];
        for (found, delay) in found.into_iter().zip(due) {
            let above = delay - least;
            let off = (found - above).abs();
            assert!(off <= (above + DELAY_MARGIN_NS) / 100 + 2, "{found} ns is recorded of {above} ns");
        }
    }

    #[test]
    fn delays_lie_above_the_smallest_whenever_that_came() {
        // Two clocks that differ by a second.
        are_right(&[-999_000_000, -999_900_000, -999_950_000, -999_000_000]);
    }

    #[test]
    fn a_queue_that_drains_keeps_its_highest_delays() {
        let falling: Vec<i64> = (0..20_000).map(|turn| 200 * MS - turn * 10_000).collect();
        let highest = *recorded(&of(falling.iter().copied())).last().unwrap();
        assert!((highest - 200 * MS).abs() <= 2 * MS, "{highest} ns");
        are_right(&falling);
    }

    #[test]
    fn two_clocks_that_drift_apart_lose_nothing_of_it() {
        // 50 ppm for 600 s, with 250 datagrams a second: 30 ms.
        let falling: Vec<i64> = (0..150_000).map(|turn| turn * -200 + turn % 7 * 1000).collect();
        are_right(&falling);
    }

    #[test]
    fn what_it_keeps_is_bounded_however_often_the_base_moves() {
        let mut histogram = DelayHistogram::new();
        let mut most = 0;
        for turn in 0..20_000 {
            histogram.record(-turn * 21_000);
            most = most.max(histogram.earlier.counts.len());
        }
        assert!(most <= 4 * EARLIER_DELAYS_LEAST, "{most} counts");
        assert_eq!(recorded(&histogram).len(), 20_000);
    }

    proptest! {
        #[test]
        fn any_delays_are_right(steps in proptest::collection::vec(-300_000_i64..200_000, 1..500)) {
            let delays = steps.iter().scan(0, |delay, step| { *delay += step; Some(*delay) });
            are_right(&delays.collect::<Vec<_>>());
        }

        #[test]
        fn a_delay_stays_within_the_widest_of_its_cells(
            delay in any::<i32>().prop_map(i64::from), bases in proptest::collection::vec(0_i64..1 << 40, 1..20),
        ) {
            let mut at_ns = delay;
            for base in &bases {
                at_ns = middle_of_cell(at_ns, delay - base);
            }
            let farthest = bases.iter().max().copied().unwrap_or_default();
            prop_assert!((at_ns - delay).unsigned_abs() <= farthest.unsigned_abs() / EARLIER_DELAYS_SHARE);
        }
    }
}
