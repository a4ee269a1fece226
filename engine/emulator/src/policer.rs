//! A meter in front of the queue: what exceeds it is dropped, what conforms goes on at once.

use crate::{request::PolicerSettings, serializer::BYTE};

/// The token bucket of RFC 2697, section 3, without excess burst. Exact: no token is rounded away.
#[derive(Debug)]
pub struct Policer {
    rate_bps: u128,
    /// Most tokens, in ns × bit/s, of which a byte takes [`BYTE`].
    full: u128,
    tokens: u128,
    /// When the tokens were counted.
    counted_at: u64,
}

impl Policer {
    /// A full bucket.
    pub fn new(settings: PolicerSettings) -> Self {
        let full = u128::from(settings.burst_bytes) * u128::from(BYTE);
        Self { rate_bps: settings.rate_bps.into(), full, tokens: full, counted_at: 0 }
    }

    /// Whether a packet that arrives at `now`, in ns, conforms. If so, its tokens are gone.
    pub fn passes(&mut self, now: u64, bytes: u32) -> bool {
        let elapsed = u128::from(now.saturating_sub(self.counted_at));
        self.tokens = self.full.min(self.tokens + elapsed * self.rate_bps);
        self.counted_at = self.counted_at.max(now);
        let needed = u128::from(bytes) * u128::from(BYTE);
        if needed > self.tokens {
            return false;
        }
        self.tokens -= needed;
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SETTINGS: PolicerSettings = PolicerSettings { rate_bps: 8_000_000, burst_bytes: 3_000 };

    #[test]
    fn a_full_bucket_passes_its_burst_and_not_a_byte_more() {
        let mut policer = Policer::new(SETTINGS);
        assert_eq!([1500, 1500, 1].map(|bytes| policer.passes(5, bytes)), [true, true, false]);
    }

    #[test]
    fn tokens_come_at_the_rate_and_stop_at_the_burst() {
        let mut policer = Policer::new(SETTINGS);
        assert!(policer.passes(0, 3_000));
        // A byte takes 1 µs.
        assert!(!policer.passes(999_999, 1_000));
        assert!(policer.passes(1_000_000, 1_000));
        assert!(!policer.passes(3_600_000_000_000, 3_001));
        assert!(policer.passes(3_600_000_000_000, 3_000));
    }

    #[test]
    fn what_is_dropped_takes_no_tokens() {
        let mut policer = Policer::new(SETTINGS);
        assert!((0..10).all(|_| !policer.passes(0, 3_001)));
        assert!(policer.passes(0, 3_000));
    }

    #[test]
    fn a_rate_that_divides_nothing_evenly_does_not_drift() {
        // Room for two packets, so that no token is lost at a full bucket: one packet takes 1.713 ms, and one is there
        // each ms.
        let settings = PolicerSettings { rate_bps: 7_000_003, burst_bytes: 2 * 1499 };
        let mut policer = Policer::new(settings);
        let passed: u64 = (0..2_000_000_u64).map(|at| u64::from(policer.passes(at * 1_000_000, 1499))).sum();
        let each = 1499 * u128::from(BYTE);
        assert_eq!(u128::from(passed), (2 * each + 1_999_999 * 1_000_000 * 7_000_003) / each);
    }

    proptest! {
        /// Cruz's arrival curve: a packet conforms if what has passed since any moment, with it, is no more than the
        /// burst and what the rate gives in that time.
        #[test]
        fn a_packet_passes_where_every_stretch_before_it_has_room(
            rate_bps in 1_000..10_000_000_000_u64,
            burst_bytes in 1_500..20_000_u64,
            arriving in prop::collection::vec((prop_oneof![3 => Just(0), 1 => 0..3_000_000_u64], 20..=1500_u32), 1..200),
        ) {
            let mut policer = Policer::new(PolicerSettings { rate_bps, burst_bytes });
            let mut passed: Vec<(u64, u128)> = Vec::new();
            let mut now = 0;
            for (gap, bytes) in arriving {
                now += gap;
                let (mut since, mut conforms) = (u128::from(bytes), u128::from(bytes) <= u128::from(burst_bytes));
                for (at, before) in passed.iter().rev() {
                    since += before;
                    let given = u128::from(now - at) * u128::from(rate_bps);
                    conforms &= since * u128::from(BYTE) <= u128::from(burst_bytes) * u128::from(BYTE) + given;
                }
                prop_assert_eq!(policer.passes(now, bytes), conforms);
                if conforms {
                    passed.push((now, bytes.into()));
                }
            }
        }
    }
}
