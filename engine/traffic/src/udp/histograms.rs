//! Histograms of constant relative width, and their rows.

use hdrhistogram::Histogram;

use super::rows::{HistogramRow, Quantity};

/// One of times in nanoseconds, within 1 %.
pub fn of_times() -> Histogram<u64> {
    growing(2)
}

/// One of counts, within 0.1 %, and exact up to 2047.
pub fn of_counts() -> Histogram<u64> {
    growing(3)
}

/// Counts a value so many times. (The crate's `saturating_record` does not let a histogram grow.)
#[inline]
pub fn record(histogram: &mut Histogram<u64>, value: u64, times: u64) {
    // Fails only for values that no histogram of 64 bits can hold.
    let _ = histogram.record_n(value, times);
}

#[expect(clippy::expect_used, reason = "fails only where the number of digits is above 5")]
fn growing(digits: u8) -> Histogram<u64> {
    Histogram::new(digits).expect("up to 5 digits are possible")
}

/// The rows of what was recorded. `below`: what to take off of every value.
pub fn rows(
    flow: u32,
    quantity: Quantity,
    histogram: &Histogram<u64>,
    below: u64,
) -> impl Iterator<Item = HistogramRow> {
    histogram.iter_recorded().map(move |one| {
        let value = one.value_iterated_to();
        let shifted = |bound: u64| i64::try_from(bound.saturating_sub(below)).unwrap_or(i64::MAX);
        let low = shifted(histogram.lowest_equivalent(value));
        let high = shifted(histogram.highest_equivalent(value).saturating_add(1)).max(low.saturating_add(1));
        HistogramRow { flow, quantity, low, high, count: one.count_at_value() }
    })
}
