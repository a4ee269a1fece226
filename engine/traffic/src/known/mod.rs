//! Whether the mean goodput of a trial is known: what a source that may end early decides by. Pure: time is an argument.
//!
//! The mean counts from when slow start of all flows is over; where windows then only grow until something else holds
//! them, from when they came to rest: until then they make up for what slow start lost. Once an interval it is asked how well it is known, by batch
//! means (Schmeiser 1982) at several numbers of batches, the widest of which counts; batches that are correlated make it
//! wider. What is known twice in a row is known: each look is one more chance to be wrong. A window that still grows and
//! has met nothing yet, a trend, and halves that differ forbid it, whatever the spread says.

mod batches;
mod course;
mod settling;

use std::time::Duration;

use wire::{Decided, HeldBy, Until};

pub use self::settling::FlowLook;
use self::{batches::Batches, course::Course, settling::Settling};
use crate::{
    defaults::{KNOWN_INTERVALS_MIN, KNOWN_LOOK_EVERY, KNOWN_LOOKS, KNOWN_REST_ROUND_TRIPS, KNOWN_ROUND_TRIPS},
    time::{microseconds, microseconds_to_ns, nanoseconds},
};

/// Decides when a trial may end. Times are in nanoseconds since all flows run.
pub struct Rule {
    share: f64,
    at_least_ns: i64,
    at_most_ns: i64,
    omit_ns: i64,
    interval_ns: i64,
    flows: Vec<Settling>,
    course: Course,
    /// From when on the mean counts, and how many intervals of it were looked at.
    counted: Option<(i64, i64)>,
    /// Until when what slow start lost may make a window fall.
    excused_until_ns: i64,
    /// Whether all windows rested once since then.
    rested: bool,
    in_a_row: u32,
    held_by: HeldBy,
    half_width: Option<f64>,
    decided: Option<Decided>,
}

impl Rule {
    /// Of so many flows that are sampled every so often, and end after `at_most` at the latest.
    #[must_use]
    pub fn new(until: &Until, at_most: Duration, sample_interval: Duration, flows: usize) -> Self {
        Self {
            share: f64::from(until.half_width_ppm) / MILLION,
            at_least_ns: microseconds_to_ns(until.at_least_us),
            at_most_ns: nanoseconds(at_most),
            omit_ns: microseconds_to_ns(until.omit_us),
            interval_ns: microseconds_to_ns(until.interval_us).max(1),
            flows: (0..flows).map(|_| Settling::default()).collect(),
            course: Course::new(at_most, sample_interval),
            counted: None,
            excused_until_ns: 0,
            rested: false,
            in_a_row: 0,
            held_by: HeldBy::SlowStart,
            half_width: None,
            decided: None,
        }
    }

    /// Takes what all flows say at one moment, in their order; what was decided, once it is.
    pub fn look(&mut self, at_ns: i64, flows: &[FlowLook]) -> Option<Decided> {
        if self.decided.is_some() || flows.len() != self.flows.len() || at_ns < 0 {
            return self.decided;
        }
        let rtt_ns = flows.iter().map(|flow| i64::from(flow.rtt_us) * 1000).max().unwrap_or(0);
        for (settling, flow) in self.flows.iter_mut().zip(flows) {
            settling.look(at_ns, flow);
        }
        self.course.push(at_ns, flows.iter().map(|flow| flow.arrived_bytes).sum());
        let Some((from_ns, looked)) = self.counted_from_rest(at_ns, rtt_ns) else {
            if self.flows.iter().all(Settling::has_left_slow_start) {
                let from_ns = at_ns + KNOWN_ROUND_TRIPS * rtt_ns;
                self.excused_until_ns = from_ns + KNOWN_REST_ROUND_TRIPS * rtt_ns;
                self.counted = Some((from_ns.max(self.omit_ns), 0));
            }
            return None;
        };
        if at_ns >= from_ns {
            self.flows.iter_mut().for_each(Settling::counts);
        }
        let intervals = (at_ns - from_ns).div_euclid(self.interval_ns);
        let until_ns = from_ns + intervals * self.interval_ns;
        let is_due = intervals >= (looked + self.look_every()).max(KNOWN_INTERVALS_MIN);
        if !is_due || !(self.at_least_ns..=self.at_most_ns).contains(&until_ns) {
            return None;
        }
        self.counted = Some((from_ns, intervals));
        let held_by = self.held_by(from_ns, until_ns, rtt_ns);
        self.in_a_row = if held_by.is_none() { self.in_a_row + 1 } else { 0 };
        self.held_by = held_by.unwrap_or(HeldBy::TooShort);
        if self.in_a_row >= KNOWN_LOOKS {
            self.decided = Some(self.decision(from_ns, until_ns, None));
        }
        self.decided
    }

    /// From when on the mean counts and how often it was looked at. Where windows that only grew since slow start rest, and
    /// goodput did not rest before, it counts anew from then on, if there is time for that.
    fn counted_from_rest(&mut self, at_ns: i64, rtt_ns: i64) -> Option<(i64, i64)> {
        let (from_ns, _) = self.counted?;
        let resting = self.flows.iter().map(|flow| flow.rests_since(self.excused_until_ns));
        if let (false, Some(since)) = (self.rested, resting.collect::<Option<Vec<_>>>()) {
            self.rested = true;
            let rests_ns = since.into_iter().max().unwrap_or(from_ns);
            let fits = rests_ns + self.shortest_ns(rtt_ns) <= self.at_most_ns;
            if rests_ns > from_ns && fits && !self.is_steady(from_ns, at_ns, rtt_ns) {
                self.counted = Some((rests_ns, 0));
                (self.in_a_row, self.half_width, self.held_by) = (0, None, HeldBy::TooShort);
                self.flows.iter_mut().for_each(Settling::counts_anew);
            }
        }
        self.counted
    }

    /// How many intervals looks are apart.
    fn look_every(&self) -> i64 {
        (nanoseconds(KNOWN_LOOK_EVERY) + self.interval_ns - 1) / self.interval_ns
    }

    /// What has to count until a mean can be known.
    fn shortest_ns(&self, rtt_ns: i64) -> i64 {
        let every = self.look_every();
        let intervals = KNOWN_INTERVALS_MIN.max(every) + every * (i64::from(KNOWN_LOOKS) - 1);
        (intervals * self.interval_ns).max(Batches::shortest_ns(&self.course, rtt_ns))
    }

    fn is_steady(&self, from_ns: i64, until_ns: i64, rtt_ns: i64) -> bool {
        Batches::of(&self.course, from_ns, until_ns, rtt_ns)
            .is_some_and(|batches| batches.half_width <= self.share && !batches.is_trend(self.share))
    }

    /// What is decided once the flows have lasted as long as they may.
    #[must_use]
    pub fn over(&self) -> Decided {
        let least_ns = KNOWN_INTERVALS_MIN * self.interval_ns;
        let counted = self.counted.map(|(from_ns, _)| from_ns).filter(|from_ns| from_ns + least_ns <= self.at_most_ns);
        let at_most = || self.decision(counted.unwrap_or(self.omit_ns), self.at_most_ns, Some(self.held_by));
        self.decided.unwrap_or_else(at_most)
    }

    /// Why the mean from one time until another is not known; nothing if it is.
    fn held_by(&mut self, from_ns: i64, until_ns: i64, rtt_ns: i64) -> Option<HeldBy> {
        let Some(batches) = Batches::of(&self.course, from_ns, until_ns, rtt_ns) else { return Some(HeldBy::TooShort) };
        self.half_width = Some(batches.half_width);
        if !self.flows.iter().all(|flow| flow.has_settled(self.share)) {
            return Some(HeldBy::WindowGrows);
        }
        if batches.half_width > self.share {
            return Some(HeldBy::Spread);
        }
        batches.is_trend(self.share).then_some(HeldBy::Trend)
    }

    fn decision(&self, from_ns: i64, until_ns: i64, held_by: Option<HeldBy>) -> Decided {
        let us = |time_ns: i64| microseconds(crate::time::from_nanoseconds(time_ns));
        let half_width_ppm = self.half_width.map(|share| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is cut to what fits")]
            let ppm = (share * MILLION).ceil() as u64;
            ppm
        });
        Decided { held_by, counted_from_us: us(from_ns), ended_us: us(until_ns), half_width_ppm }
    }
}

const MILLION: f64 = 1e6;

#[cfg(test)]
mod tests;
