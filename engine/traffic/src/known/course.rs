//! How many bytes had arrived by when.

use std::time::Duration;

use crate::{defaults::KNOWN_POINTS_MAX, time::nanoseconds};

/// Bytes so far, at moments that follow each other.
pub struct Course {
    points: Vec<(i64, u64)>,
    apart_ns: i64,
}

impl Course {
    /// Of a trial that lasts so long at most and is sampled every so often: with few enough points.
    pub fn new(at_most: Duration, sample_interval: Duration) -> Self {
        let apart = (at_most / KNOWN_POINTS_MAX).max(sample_interval);
        Self { points: Vec::new(), apart_ns: nanoseconds(apart) }
    }

    /// How far points are apart.
    pub fn apart_ns(&self) -> i64 {
        self.apart_ns
    }

    /// Adds a point, unless the last one is too near.
    pub fn push(&mut self, at_ns: i64, bytes: u64) {
        // Points of a beat are a little less apart than its interval, now and then.
        if self.points.last().is_none_or(|&(last_ns, _)| (at_ns - last_ns) * 2 >= self.apart_ns) {
            self.points.push((at_ns, bytes));
        }
    }

    /// Bytes by a moment, as if they came evenly between two points; nothing before the first or after the last.
    #[expect(clippy::cast_precision_loss, reason = "a part in 2^53 is nothing here")]
    pub fn bytes_by(&self, at_ns: i64) -> Option<f64> {
        let next = self.points.partition_point(|&(point_ns, _)| point_ns < at_ns);
        let &(to_ns, to) = self.points.get(next)?;
        if to_ns == at_ns {
            return Some(to as f64);
        }
        let &(from_ns, from) = self.points.get(next.checked_sub(1)?)?;
        let share = (at_ns - from_ns) as f64 / (to_ns - from_ns) as f64;
        Some(from as f64 + share * to.saturating_sub(from) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_evenly_between_two_points_and_nothing_is_known_beyond_them() {
        let mut course = Course::new(Duration::from_micros(1), Duration::from_nanos(100));
        for (at_ns, bytes) in [(100, 0), (200, 50), (400, 50), (500, 1050)] {
            course.push(at_ns, bytes);
        }
        let known: Vec<_> = [100, 150, 300, 410, 500].map(|at_ns| course.bytes_by(at_ns)).into();
        assert_eq!(known, [0.0, 25.0, 50.0, 150.0, 1050.0].map(Some));
        assert_eq!([course.bytes_by(99), course.bytes_by(501)], [None, None]);
    }

    #[test]
    fn a_day_of_short_samples_has_few_points() {
        let mut course = Course::new(Duration::from_secs(86_400), Duration::from_millis(1));
        (0..864_000).for_each(|number: i64| course.push(number * 100_000_000, 0));
        assert!(course.points.len() <= 2 * KNOWN_POINTS_MAX as usize);
    }
}
