//! At which rates streams are sent: no socket, no clock.
//!
//! While a stream is faster than what is free of the path, its packets take longer and longer (Jain and Dovrolis 2002).

use crate::defaults::STREAM_FASTEST_PERCENT;

/// The rates of all streams in the order they are sent, in bit/s: each of `rates` as often as there are rounds, evenly up
/// to somewhat more than the capacity, in an order of its own in each round.
pub fn stream_rates(capacity_bps: u64, rates: u32, rounds: u32, seed: u64) -> Vec<u64> {
    let fastest = u128::from(capacity_bps) * u128::from(STREAM_FASTEST_PERCENT) / 100;
    let rate = |number: u32| u64::try_from(fastest * u128::from(number) / u128::from(rates)).unwrap_or(u64::MAX);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut all = Vec::new();
    for _ in 0..rounds {
        let mut round: Vec<u64> = (1..=rates).map(rate).filter(|rate_bps| *rate_bps > 0).collect();
        random.shuffle(&mut round);
        all.extend(round);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_even_and_each_comes_once_a_round() {
        let mut all = stream_rates(100_000_000, 11, 2, 5);
        assert_eq!(all.len(), 22);
        assert_ne!(all[..11], all[11..]);
        all[..11].sort_unstable();
        assert_eq!(all[..3], [10_000_000, 20_000_000, 30_000_000]);
        assert_eq!(all[10], 110_000_000);
        assert_eq!(stream_rates(3, 100, 1, 5).iter().min(), Some(&1), "no stream is of no rate");
    }
}
