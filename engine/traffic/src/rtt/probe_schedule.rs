//! When to send probes, and how long they are. Pure: `now` is an argument.

use std::time::Duration;

use fastrand::Rng;
use wire::RttSettings;

use crate::time::{from_nanoseconds, microseconds_to_ns};

/// The probes that are still to be sent. Times in nanoseconds since this end's origin.
pub struct ProbeSchedule {
    random: Rng,
    every_ns: i64,
    poisson: bool,
    next_ns: i64,
    until_ns: i64,
    sizes: Vec<u32>,
    /// Sizes of this turn that are still to come.
    turn: Vec<u32>,
}

impl ProbeSchedule {
    /// Begins at the origin, or after a random pause where all pauses are.
    pub fn new(settings: &RttSettings) -> Self {
        let mut schedule = Self {
            random: Rng::with_seed(settings.seed),
            every_ns: microseconds_to_ns(settings.every_us).max(1),
            poisson: settings.poisson,
            next_ns: 0,
            until_ns: microseconds_to_ns(settings.duration_us),
            sizes: settings.sizes_bytes.clone(),
            turn: Vec::new(),
        };
        if settings.poisson {
            schedule.next_ns = schedule.pause_ns();
        }
        schedule
    }

    /// How long until the next probe; absent if there is none.
    pub fn due_in(&self, now_ns: i64) -> Option<Duration> {
        (self.next_ns < self.until_ns).then(|| from_nanoseconds(self.next_ns - now_ns))
    }

    /// The size of a probe that is due. Probes that this host has slept through are left out, not sent in a burst.
    pub fn take_if_due(&mut self, now_ns: i64) -> Option<u32> {
        if now_ns < self.next_ns || self.next_ns >= self.until_ns {
            return None;
        }
        self.next_ns = if self.poisson {
            // Without memory: to begin anew changes nothing of how the pauses are distributed.
            let from_ns = if now_ns - self.next_ns > self.every_ns { now_ns } else { self.next_ns };
            from_ns + self.pause_ns()
        } else {
            self.next_ns + ((now_ns - self.next_ns) / self.every_ns + 1) * self.every_ns
        };
        if self.turn.is_empty() {
            self.turn.clone_from(&self.sizes);
            self.random.shuffle(&mut self.turn);
        }
        self.turn.pop()
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a pause is far below 2^53 ns")]
    fn pause_ns(&mut self) -> i64 {
        (-(1.0 - self.random.f64()).ln() * self.every_ns as f64) as i64
    }
}

#[cfg(test)]
mod tests {
    use wire::Echo;

    use super::*;

    const MILLISECOND_NS: i64 = 1_000_000;

    fn settings(poisson: bool) -> RttSettings {
        RttSettings {
            echo: Echo::Udp,
            sizes_bytes: vec![64, 512, 1400],
            every_us: 10_000,
            poisson,
            seed: 7,
            duration_us: 100_000_000,
            timeout_us: 1_000_000,
            connect_timeout_us: 1_000_000,
            dscp: None,
            family: None,
        }
    }

    /// When probes are sent by an end that is never late, and their sizes.
    fn sent(settings: &RttSettings) -> Vec<(i64, u32)> {
        let mut schedule = ProbeSchedule::new(settings);
        let mut now_ns = 0;
        let next = || {
            now_ns += i64::try_from(schedule.due_in(now_ns)?.as_nanos()).unwrap();
            Some((now_ns, schedule.take_if_due(now_ns).unwrap()))
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn periodic_probes_keep_to_their_grid() {
        let times: Vec<i64> = sent(&settings(false)).into_iter().map(|(time, _)| time).collect();
        assert_eq!(times, (0..10_000).map(|turn| turn * 10 * MILLISECOND_NS).collect::<Vec<_>>());
    }

    #[test]
    fn every_size_has_its_turn_in_an_order_of_its_own() {
        let sizes: Vec<u32> = sent(&settings(false)).into_iter().map(|(_, size)| size).collect();
        let mut orders = std::collections::HashSet::new();
        for turn in sizes.chunks_exact(3) {
            orders.insert(turn.to_vec());
            let mut sorted = turn.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, [64, 512, 1400]);
        }
        assert_eq!(orders.len(), 6);
    }

    #[test]
    fn random_pauses_are_exponential_with_the_mean_that_was_asked_for() {
        let times: Vec<i64> = sent(&settings(true)).into_iter().map(|(time, _)| time).collect();
        let pauses: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let count = i64::try_from(pauses.len()).unwrap();
        let mean = pauses.iter().sum::<i64>() / count;
        // 10 000 draws: the mean has a standard error of 1 %.
        assert!((mean - 10 * MILLISECOND_NS).abs() < MILLISECOND_NS / 2, "{mean} ns");
        let longer = pauses.iter().filter(|&&pause| pause > 10 * MILLISECOND_NS).count();
        let share = longer * 1000 / pauses.len();
        assert!((348..389).contains(&share), "{share} of 1000, 1/e are due");
    }

    #[test]
    fn what_was_slept_through_is_left_out() {
        let mut schedule = ProbeSchedule::new(&settings(false));
        assert!(schedule.take_if_due(0).is_some());
        assert!(schedule.take_if_due(95 * MILLISECOND_NS).is_some());
        assert_eq!(schedule.take_if_due(96 * MILLISECOND_NS), None);
        assert_eq!(schedule.due_in(96 * MILLISECOND_NS), Some(Duration::from_millis(4)));
    }

    #[test]
    fn nothing_is_sent_after_the_duration() {
        let mut schedule = ProbeSchedule::new(&RttSettings { duration_us: 10_000, ..settings(false) });
        assert!(schedule.take_if_due(0).is_some());
        assert_eq!((schedule.due_in(0), schedule.take_if_due(50 * MILLISECOND_NS)), (None, None));
    }
}
