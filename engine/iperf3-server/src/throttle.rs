//! The limit of a test's rate, kept by what its streams carry, all together: nothing that a client announces counts.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use traffic::pacing::Gap;

use crate::defaults::{RATE_BURST, RATE_PART, RATE_WINDOW, READ_BYTES};

/// What is carried may exceed the limit by one part in so many.
const MARGIN: u64 = 32;
/// A mean above the limit by one part in so many is no rounding, and no pace: it is a client that would go faster.
const EXCEEDED: u64 = 64;
/// A part is no shorter than a segment.
const PART_BYTES_MIN: u64 = 1460;

/// A bucket that all streams of a test empty. Whoever has carried more than there was waits until it is repaid.
pub struct Throttle {
    most_bps: u64,
    begin: Instant,
    repaid_ns: AtomicU64,
}

impl Throttle {
    /// Of a test that begins now; `most_bps`: what its streams may carry together, in bit/s.
    #[must_use]
    pub fn new(most_bps: u64) -> Self {
        Self { most_bps: most_bps.max(1), begin: Instant::now(), repaid_ns: AtomicU64::new(0) }
    }

    /// So many bytes were carried; when the next ones may be.
    pub fn carried(&self, bytes: usize) -> Instant {
        let now_ns = u64::try_from(self.begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.begin + Duration::from_nanos(self.charge(now_ns, bytes))
    }

    /// How much a stream carries at once, in bytes, of `streams` that share the limit.
    #[must_use]
    pub fn part_bytes(&self, streams: u32) -> usize {
        let part_ms = u64::try_from(RATE_PART.as_millis()).unwrap_or(1);
        let part = (self.most_bps / 8_000).saturating_mul(part_ms) / u64::from(streams.max(1));
        usize::try_from(part.max(PART_BYTES_MIN)).unwrap_or(READ_BYTES).min(READ_BYTES)
    }

    /// Nanoseconds after the beginning at which so many bytes that were carried at `now_ns` are repaid.
    fn charge(&self, now_ns: u64, bytes: usize) -> u64 {
        let burst_ns = u64::try_from(RATE_BURST.as_nanos()).unwrap_or(u64::MAX);
        let rate_bps = self.most_bps.saturating_add(self.most_bps / MARGIN);
        let cost_ns = Gap::at_rate(bytes as u64, rate_bps).span_ns(1);
        let repaid = |repaid_ns: u64| repaid_ns.max(now_ns.saturating_sub(burst_ns)).saturating_add(cost_ns);
        let before = self
            .repaid_ns
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |repaid_ns| Some(repaid(repaid_ns)))
            .unwrap_or_default();
        repaid(before)
    }
}

/// Whether a test was over the limit, by all bytes that it has carried since it began; as iperf3 does, not before
/// [`RATE_WINDOW`] is over.
#[must_use]
pub fn is_exceeded(most_bps: u64, bytes: u64, elapsed: Duration) -> bool {
    elapsed >= RATE_WINDOW && is_above(most_bps, bytes, elapsed)
}

/// Whether so many bytes in such a time are more than the limit, by more than what rounding and a pace explain.
#[must_use]
pub fn is_above(most_bps: u64, bytes: u64, elapsed: Duration) -> bool {
    let most_bps = u128::from(most_bps) + u128::from(most_bps / EXCEEDED);
    u128::from(bytes) * 8_000_000_000 > most_bps.saturating_mul(elapsed.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// What is carried until `until_ns` by streams that always could: each carries a part, and waits as it is asked.
    fn greedy(most_bps: u64, streams: u32, begin_ns: u64, until_ns: u64) -> u64 {
        let throttle = Throttle::new(most_bps);
        let part = throttle.part_bytes(streams);
        let mut wakes: Vec<u64> = vec![begin_ns; streams as usize];
        let mut carried = 0;
        loop {
            let wake = wakes.iter_mut().min().unwrap();
            if *wake >= until_ns {
                return carried;
            }
            carried += part as u64;
            *wake = throttle.charge(*wake, part).max(*wake);
        }
    }

    #[test]
    fn whoever_could_carry_more_carries_the_limit_within_a_twentieth() {
        for most_bps in [1_000_000, 10_000_000, 1_000_000_000, 40_000_000_000] {
            for streams in [1, 8, 128] {
                let bits = 8 * greedy(most_bps, streams, 0, 10 * SECOND_NS);
                let expected = most_bps * 10;
                // A part is no shorter than a segment: at a low rate that is much for many streams, but only once.
                let first = 8 * u64::from(streams) * PART_BYTES_MIN;
                assert!(bits <= expected + expected / 20 + first, "{bits} of {expected} with {streams}");
                assert!(bits > expected, "{bits} of {expected} with {streams}: it is the limit that holds them up");
            }
        }
    }

    #[test]
    fn a_rest_earns_no_more_than_a_burst() {
        let most_bps = 8_000_000;
        let bytes = greedy(most_bps, 1, 100 * SECOND_NS, 101 * SECOND_NS);
        assert!(bytes < 1_000_000 * 11 / 10, "{bytes}");
    }

    #[test]
    fn a_greedy_test_is_exceeded_and_one_at_its_pace_is_not() {
        let most_bps = 10_000_000;
        let window_s = RATE_WINDOW.as_secs();
        let greedy = greedy(most_bps, 4, 0, RATE_WINDOW.as_secs() * SECOND_NS);
        assert!(is_exceeded(most_bps, greedy, RATE_WINDOW));
        assert!(!is_exceeded(most_bps, most_bps / 8 * window_s, RATE_WINDOW));
        assert!(!is_exceeded(most_bps, u64::MAX, RATE_WINDOW / 2), "iperf3 looks at a mean over so long");
        assert!(!is_exceeded(u64::MAX, u64::MAX, Duration::MAX));
    }
}
