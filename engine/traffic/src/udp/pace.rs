//! When a flow's datagrams are due. `now` is an argument: nothing here looks at a clock.

use crate::{
    defaults::{BATCH_GAP_MAX_NS, BATCH_SPAN_NS, BURST_MAX, REPAID_OF_GAP},
    pacing::{Gap, Schedule},
};

/// One flow's schedule.
///
/// What is late by up to [`BURST_MAX`] datagrams is sent at once; what it owes beyond that it makes up for little by
/// little, with a rate that is higher by one part in [`REPAID_OF_GAP`] until nothing is owed.
pub struct Pace {
    /// Later by what is owed.
    schedule: Schedule,
    /// How far the schedule was put off, less what has been made up for since.
    owed_ns: u64,
    /// How many are sent at once when nothing is late.
    batch: u64,
    /// How far it fell behind, at most.
    pub behind_max_ns: u64,
    /// Most that were sent at once.
    pub burst_max: u64,
}

impl Pace {
    /// Datagrams of `length_bytes` at a rate of `rate_bps`, or each `spacing_ns` after the one before; nothing without
    /// either. `together`: how many can be sent with one call.
    #[must_use]
    pub fn new(length_bytes: u32, rate_bps: Option<u64>, spacing_ns: Option<u64>, together: usize) -> Option<Self> {
        let gap = Gap::of(length_bytes, rate_bps, spacing_ns)?;
        let schedule = Schedule::new(gap, 0);
        let mut pace = Self { schedule, owed_ns: 0, batch: 1, behind_max_ns: 0, burst_max: 0 };
        let gap_ns = gap.span_ns(1).max(1);
        if gap_ns < BATCH_GAP_MAX_NS {
            pace.batch = (BATCH_SPAN_NS / gap_ns).min(together as u64).clamp(1, BURST_MAX);
        }
        Some(pace)
    }

    /// Begins at a time, a share of the first batch later: flows do not all send at the same moment.
    pub fn begin(&mut self, now_ns: u64, share: f64) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share"
        )]
        let later_ns = (self.schedule.gap.span_ns(self.batch) as f64 * share) as u64;
        self.schedule = Schedule::new(self.schedule.gap, now_ns + later_ns);
    }

    /// When the next one is due.
    #[must_use]
    pub fn due_ns(&self) -> u64 {
        self.schedule.due_ns()
    }

    /// How many to send now, at most `most`. Behind by more than [`BURST_MAX`] the rest is owed.
    pub fn due(&mut self, now_ns: u64, most: usize) -> usize {
        let Some(behind_ns) = now_ns.checked_sub(self.due_ns()) else { return 0 };
        self.behind_max_ns = self.behind_max_ns.max(behind_ns);
        // The first of a full burst is due now less the time that the others span.
        let gap = self.schedule.gap;
        let debt_max_ns = gap.span_ns(BURST_MAX - 1);
        self.owed_ns += self.schedule.put_off(now_ns, debt_max_ns);
        let late = gap.units_in(behind_ns.min(debt_max_ns)).saturating_add(1);
        let count = late.max(self.batch).min(BURST_MAX);
        usize::try_from(count).unwrap_or(most).min(most)
    }

    /// So many have been sent.
    pub fn sent(&mut self, count: usize) {
        let count = count as u64;
        self.schedule.sent(count);
        self.burst_max = self.burst_max.max(count);
        // Of what is sent to catch up nothing more is made up for, or a burst would be followed by a short gap.
        let repaid_ns = self.owed_ns.min(self.schedule.gap.span_ns(count.min(self.batch)) / REPAID_OF_GAP);
        self.owed_ns -= repaid_ns;
        self.schedule.bring_forward(repaid_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn paced(rate_bps: u64) -> Pace {
        Pace::new(1470, Some(rate_bps), None, 44).unwrap()
    }

    /// Sends whatever is due, at the moment it is due plus what `late` says, until `until_ns`.
    fn run(pace: &mut Pace, until_ns: u64, mut late: impl FnMut(u64) -> u64) -> Vec<(u64, usize)> {
        let mut sends = Vec::new();
        let mut now = 0;
        while now < until_ns {
            now = now.max(pace.due_ns());
            now += late(now);
            let count = pace.due(now, 44);
            assert!(count > 0);
            pace.sent(count);
            sends.push((now, count));
        }
        sends
    }

    #[test]
    fn single_datagrams_keep_their_distance() {
        let sends = run(&mut paced(50_000_000), SECOND_NS, |_| 0);
        assert!(sends.windows(2).all(|pair| (235_199..=235_201).contains(&(pair[1].0 - pair[0].0))));
        assert!(sends.iter().all(|send| send.1 == 1));
    }

    #[test]
    fn the_mean_rate_does_not_drift_where_gaps_are_no_whole_nanoseconds() {
        for rate_bps in [1_000_003, 200_000_000, 999_999_937, 10_000_000_000] {
            let sends = run(&mut paced(rate_bps), 10 * SECOND_NS, |now| now % 7 * 1000);
            let count: usize = sends.iter().map(|send| send.1).sum();
            let due = u128::from(rate_bps) * 10 / (1470 * 8);
            assert!((count as u128).abs_diff(due) <= 88, "{count} of {due} at {rate_bps}");
        }
    }

    #[test]
    fn a_short_stall_is_made_up_for_at_once_and_a_long_one_little_by_little() {
        let mut pace = paced(200_000_000);
        assert_eq!(pace.due(0, 64), 1);
        pace.sent(1);
        assert_eq!(pace.due(588_000, 64), 10);
        pace.sent(10);
        assert_eq!(pace.due(SECOND_NS, 64), 64);
        pace.sent(64);
        assert_eq!(pace.due(SECOND_NS, 64), 0, "the rest is owed");
        assert_eq!(pace.burst_max, 64);
        assert!(pace.behind_max_ns > 900_000_000);
        assert_eq!(pace.due_ns(), SECOND_NS + 58_212, "from there on gaps are shorter by one part in a hundred");
    }

    #[test]
    fn what_is_owed_is_repaid_without_bursts_and_with_even_gaps() {
        for rate_bps in [50_000_000, 200_000_000, 1_000_000_000, 5_000_000_000] {
            let mut pace = paced(rate_bps);
            // 30 ms in the first second, in stalls of 3 ms: longer than 64 datagrams at all of these but the first.
            let mut stalls = 0;
            let sends = run(&mut pace, 10 * SECOND_NS, |now| {
                let stalled = stalls < 10 && now >= stalls * SECOND_NS / 10;
                stalls += u64::from(stalled);
                if stalled { 3_000_000 } else { 0 }
            });
            let count: usize = sends.iter().map(|send| send.1).sum();
            let due = u128::from(rate_bps) * 10 / (1470 * 8);
            assert!((count as u128).abs_diff(due) <= 88, "{count} of {due} at {rate_bps}");
            assert!(pace.burst_max <= BURST_MAX);
            let gap_ns = pace.schedule.gap.span_ns(pace.batch);
            let late = |gap: &u64| *gap > 3_000_000;
            let gaps: Vec<u64> = sends.windows(2).map(|pair| pair[1].0 - pair[0].0).filter(|gap| !late(gap)).collect();
            let even = gaps.iter().filter(|gap| gap.abs_diff(gap_ns) <= gap_ns / 50).count();
            assert!(even * 100 >= gaps.len() * 99, "{even} of {} at {rate_bps}", gaps.len());
        }
    }

    #[test]
    fn a_source_that_cannot_keep_up_is_never_ahead_of_its_rate_by_more_than_a_hundredth() {
        let mut pace = paced(1_000_000_000);
        let stalled = run(&mut pace, SECOND_NS, |_| 2_000_000);
        let began = stalled.last().unwrap().0;
        let sends = run(&mut pace, 3 * SECOND_NS, |_| 0);
        let later: usize = sends.iter().filter(|send| send.0 > began + SECOND_NS).map(|send| send.1).sum();
        let span_ns = sends.last().unwrap().0 - began - SECOND_NS;
        let due = u128::from(span_ns) * 1_000_000_000 / (1470 * 8 * u128::from(SECOND_NS));
        assert!((later as u128) * 1000 <= due * 1011, "{later} where {due} are due");
        assert!(pace.owed_ns > 0);
    }

    #[test]
    fn fast_flows_send_several_at_once() {
        let sends = run(&mut paced(10_000_000_000), SECOND_NS, |_| 0);
        assert!(sends.iter().all(|send| send.1 == 44));
        let sends = run(&mut paced(1_000_000_000), SECOND_NS / 10, |_| 0);
        assert!(sends.iter().all(|send| send.1 == 1));
    }

    #[test]
    fn a_spacing_is_from_beginning_to_beginning() {
        let mut pace = Pace::new(64, None, Some(120_000), 64).unwrap();
        let sends = run(&mut pace, SECOND_NS, |_| 0);
        assert!(sends.windows(2).all(|pair| pair[1].0 - pair[0].0 == 120_000));
        assert!(Pace::new(64, None, None, 64).is_none());
    }
}
