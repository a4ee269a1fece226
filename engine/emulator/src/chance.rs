use fastrand::Rng;

/// What happens to each packet by itself, at random: instead of a draw a packet, one draw says how many packets pass
/// until it happens to the next (the geometric distribution, which is the same thing).
#[derive(Debug)]
pub struct Chance {
    probability: f64,
    random: Rng,
    passing: u64,
}

impl Chance {
    /// `probability` is 0 to 1.
    pub fn new(probability: f64, random: Rng) -> Self {
        let mut chance = Self { probability, random, passing: 0 };
        chance.passing = chance.draw();
        chance
    }

    /// Whether it happens to the next packet.
    pub fn strikes(&mut self) -> bool {
        if self.passing > 0 {
            self.passing -= 1;
            return false;
        }
        self.passing = self.draw();
        true
    }

    fn draw(&mut self) -> u64 {
        // ln 0 is never asked for: the draw is below 1. A probability of 0 makes the quotient infinite, or not a
        // number where it is 0 / 0; one of 1 gives 0. The conversion saturates.
        let quotient = (1.0 - self.random.f64()).ln() / (-self.probability).ln_1p();
        if self.probability == 0.0 {
            return u64::MAX;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, and is never negative")]
        let passing = quotient.floor() as u64;
        passing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half the width of the 99 % interval of a binomial count, by its normal approximation.
    fn tolerance(packets: f64, probability: f64) -> f64 {
        2.576 * (packets * probability * (1.0 - probability)).sqrt()
    }

    #[test]
    fn it_happens_as_often_as_asked_for() {
        for probability in [0.0001, 0.001, 0.01, 0.5] {
            let mut random = Chance::new(probability, Rng::with_seed(7));
            let struck: u32 = (0..4_000_000).map(|_| u32::from(random.strikes())).sum();
            let expected = 4e6 * probability;
            assert!((f64::from(struck) - expected).abs() < tolerance(4e6, probability), "{struck} of {expected}");
        }
    }

    #[test]
    fn events_do_not_know_of_each_other() {
        let mut random = Chance::new(0.1, Rng::with_seed(7));
        let struck: Vec<bool> = (0..1_000_000).map(|_| random.strikes()).collect();
        let pairs = f64::from(u32::try_from(struck.windows(2).filter(|pair| pair[0] && pair[1]).count()).unwrap());
        assert!((pairs - 10_000.0).abs() < tolerance(1e6, 0.01) * 1.1, "{pairs}");
    }

    #[test]
    fn nothing_and_everything() {
        let mut none = Chance::new(0.0, Rng::with_seed(1));
        let mut all = Chance::new(1.0, Rng::with_seed(1));
        assert!((0..100_000).all(|_| !none.strikes() && all.strikes()));
    }

    #[test]
    fn a_seed_gives_the_same_pattern() {
        let pattern = |seed| {
            let mut random = Chance::new(0.2, Rng::with_seed(seed));
            (0..1000).map(|_| random.strikes()).collect::<Vec<_>>()
        };
        assert_eq!(pattern(3), pattern(3));
        assert_ne!(pattern(3), pattern(4));
    }
}
