//! How well a mean is known, by the means of batches that follow each other.

use super::course::Course;
use crate::defaults::{KNOWN_BATCH_ROUND_TRIPS, KNOWN_BATCH_SAMPLES, KNOWN_CORRELATION_MAX, KNOWN_DRIFT};

/// Numbers of batches, each with the 97.5 % quantile of Student's t with one degree of freedom less. Few batches are long,
/// and show what is correlated for long; many tell the spread.
const LEVELS: [(u32, f64); 3] = [(5, 2.776_445), (8, 2.364_624), (16, 2.131_450)];
/// The level at which a trend is looked for, and the last one that must be there.
const NEEDED: usize = 1;

/// What batches tell of a mean. All are shares of it.
pub struct Batches {
    /// Half of its 95 % interval, at the number of batches with which it is widest.
    pub half_width: f64,
    /// How much the second half is above the first.
    halves: f64,
    /// How much a straight line rises from beginning to end.
    rise: f64,
}

impl Batches {
    /// Of what came from one moment until another; nothing if batches would be too short for anything to be told from
    /// them, or nothing came.
    pub fn of(course: &Course, from_ns: i64, until_ns: i64, rtt_ns: i64) -> Option<Self> {
        let least_ns = least_ns(course, rtt_ns);
        let long_enough =
            |&(_, (count, _)): &(usize, &(u32, f64))| (until_ns - from_ns) / i64::from(*count) >= least_ns;
        let mut found = Self { half_width: 0.0, halves: 0.0, rise: 0.0 };
        let mut levels = 0;
        for (level, &(count, quantile)) in LEVELS.iter().enumerate().filter(long_enough) {
            let means = means(course, from_ns, until_ns, count)?;
            found.half_width = found.half_width.max(quantile * standard_error(&means));
            if level == NEEDED {
                (found.halves, found.rise) = (halves(&means), rise(&means));
            }
            levels += 1;
        }
        (levels > NEEDED).then_some(found)
    }

    /// How long it has to be for anything to be told.
    pub fn shortest_ns(course: &Course, rtt_ns: i64) -> i64 {
        i64::from(LEVELS[NEEDED].0) * least_ns(course, rtt_ns)
    }

    /// Whether it rises or falls by too much to be one mean that is known to `share`.
    pub fn is_trend(&self, share: f64) -> bool {
        self.halves.abs() > share || self.rise.abs() > KNOWN_DRIFT * share
    }
}

/// Of a batch.
fn least_ns(course: &Course, rtt_ns: i64) -> i64 {
    (KNOWN_BATCH_ROUND_TRIPS * rtt_ns).max(KNOWN_BATCH_SAMPLES * course.apart_ns())
}

/// Means of batches, over that of all; nothing if that is none.
fn means(course: &Course, from_ns: i64, until_ns: i64, count: u32) -> Option<Vec<f64>> {
    let edge = |number: u32| from_ns + (until_ns - from_ns) * i64::from(number) / i64::from(count);
    let by: Vec<f64> = (0..=count).map(|number| course.bytes_by(edge(number))).collect::<Option<_>>()?;
    let all = (by.last()? - by.first()?) / f64::from(count);
    (all > 0.0).then(|| by.windows(2).map(|pair| (pair[1] - pair[0]) / all).collect())
}

/// Of the mean of all batches, whose own mean is 1. Correlation of neighbours makes it larger, as that of an AR(1).
fn standard_error(means: &[f64]) -> f64 {
    let count = number(means);
    let squares: f64 = means.iter().map(|mean| (mean - 1.0).powi(2)).sum();
    if squares <= 0.0 {
        return 0.0;
    }
    let products: f64 = means.windows(2).map(|pair| (pair[0] - 1.0) * (pair[1] - 1.0)).sum();
    // Of so few the estimate is too low by about 1 / count.
    let correlation = (products / squares + 1.0 / count).clamp(0.0, KNOWN_CORRELATION_MAX);
    (squares / (count - 1.0) / count * (1.0 + correlation) / (1.0 - correlation)).sqrt()
}

fn halves(means: &[f64]) -> f64 {
    let (first, second) = means.split_at(means.len() / 2);
    second.iter().sum::<f64>() / number(second) - first.iter().sum::<f64>() / number(first)
}

/// By least squares.
fn rise(means: &[f64]) -> f64 {
    let middle = (number(means) - 1.0) / 2.0;
    let place = |index: usize| f64::from(u32::try_from(index).unwrap_or(u32::MAX)) - middle;
    let products: f64 = means.iter().enumerate().map(|(index, mean)| place(index) * mean).sum();
    let squares: f64 = (0..means.len()).map(|index| place(index).powi(2)).sum();
    products / squares * number(means)
}

fn number(means: &[f64]) -> f64 {
    f64::from(u32::try_from(means.len()).unwrap_or(u32::MAX))
}
