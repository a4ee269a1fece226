//! Traffic of others on the link: when its packets come.

use fastrand::Rng;

use crate::{
    request::{CrossSettings, PauseSettings},
    serializer::BYTE,
};

/// Packets at a constant rate, with pauses or without. Exact: what a division leaves over is carried on.
#[derive(Debug)]
pub struct CrossTraffic {
    settings: CrossSettings,
    random: Rng,
    /// When the next packet comes, in ns.
    next_at: u64,
    /// What was rounded away, in ns / `rate_bps`.
    remainder: u64,
    /// Until when it sends.
    on_until: u64,
}

impl CrossTraffic {
    /// The first packet comes at 0.
    pub fn new(settings: CrossSettings, random: Rng) -> Self {
        let mut cross = Self { settings, random, next_at: 0, remainder: 0, on_until: u64::MAX };
        if let Some(pauses) = settings.pauses {
            cross.on_until = cross.lasts(pauses, pauses.on_ns);
        }
        cross
    }

    pub fn packet_bytes(&self) -> u32 {
        self.settings.packet_bytes
    }

    /// When the next packet came, if it has by `now`. One after the other.
    pub fn next(&mut self, now: u64) -> Option<u64> {
        if self.next_at > now {
            return None;
        }
        let at = self.next_at;
        let due = u64::from(self.settings.packet_bytes) * BYTE + self.remainder;
        self.next_at += due / self.settings.rate_bps;
        self.remainder = due % self.settings.rate_bps;
        if let Some(pauses) = self.settings.pauses {
            while self.next_at >= self.on_until {
                // A pause adds to the time from one packet to the next, so that the mean rate is exact.
                let off_ns = self.lasts(pauses, pauses.off_ns);
                self.next_at += off_ns;
                self.on_until += off_ns + self.lasts(pauses, pauses.on_ns);
            }
        }
        Some(at)
    }

    fn lasts(&mut self, pauses: PauseSettings, mean_ns: u64) -> u64 {
        if !pauses.poisson {
            return mean_ns;
        }
        #[expect(clippy::cast_precision_loss, reason = "an hour has fewer ns than 2^52")]
        let drawn = -(1.0 - self.random.f64()).ln() * mean_ns as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 0, at most 37 hours")]
        let drawn_ns = drawn as u64;
        drawn_ns
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;
    use proptest::prelude::*;

    use super::{BYTE, CrossSettings, CrossTraffic, PauseSettings};

    const SECOND: u64 = 1_000_000_000;
    const CONSTANT: CrossSettings = CrossSettings { rate_bps: 8_000_000, packet_bytes: 1000, pauses: None };

    fn paused(on_ns: u64, off_ns: u64, poisson: bool) -> CrossSettings {
        CrossSettings { pauses: Some(PauseSettings { on_ns, off_ns, poisson }), ..CONSTANT }
    }

    fn times(settings: CrossSettings, until: u64) -> Vec<u64> {
        let mut cross = CrossTraffic::new(settings, Rng::with_seed(3));
        std::iter::from_fn(|| cross.next(until)).collect()
    }

    #[test]
    fn fixed_pauses_come_when_they_should() {
        // A packet takes 1 ms.
        let found = times(paused(2_500_000, 10_000_000, false), 27_000_000);
        assert_eq!(found, [0, 1, 2, 13, 14, 25, 26, 27].map(|at_ms| at_ms * 1_000_000));
    }

    #[test]
    fn times_shorter_than_from_packet_to_packet_have_none_in_most() {
        assert_eq!(times(paused(250_000, 4_750_000, false), 40_000_000), [0, 20_000_000, 40_000_000]);
    }

    #[test]
    fn drawn_pauses_have_their_means_and_a_seed_repeats_them() {
        let settings = CrossSettings { packet_bytes: 200, ..paused(20_000_000, 60_000_000, true) };
        let found = times(settings, 2_000 * SECOND);
        // A quarter of 5000 a second.
        let share = float(found.len() as u64) / (2_000.0 * 5_000.0);
        assert!((share - 0.25).abs() < 0.005, "{share}");
        let pauses: Vec<u64> = found.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 200_000).collect();
        let long = pauses.iter().filter(|pause| **pause > 60_200_000).count() as u64;
        // Beyond its mean an exponential variable is with probability 1/e.
        assert!((float(long) / float(pauses.len() as u64) - (-1.0_f64).exp()).abs() < 0.01, "{long}");
        assert_eq!(found, times(settings, 2_000 * SECOND));
    }

    proptest! {
        #[test]
        fn a_constant_rate_is_exact(rate_bps in 1_000..20_000_000_000_u64, packet_bytes in 20..=1500_u32, at in 0..300_u64) {
            let mut cross = CrossTraffic::new(CrossSettings { rate_bps, packet_bytes, pauses: None }, Rng::with_seed(3));
            let found = (0..=at).map_while(|_| cross.next(u64::MAX)).last().unwrap();
            let exact = u128::from(at) * u128::from(packet_bytes) * u128::from(BYTE) / u128::from(rate_bps);
            prop_assert_eq!(u128::from(found), exact);
        }
    }

    fn float(count: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts of tests are far below 2^52")]
        let float = count as f64;
        float
    }
}
