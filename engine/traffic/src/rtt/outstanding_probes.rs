//! Which probes are outstanding, and what became of the others. Pure: `now` is an argument.

use std::{collections::VecDeque, time::Duration};

use wire::Echo;

use super::EchoRow;
use crate::{
    samples::Log,
    time::{from_nanoseconds, nanoseconds},
};

/// The probes of a trial, in the order in which they were sent. Times in nanoseconds since this end's origin.
pub struct OutstandingProbes {
    echo: Echo,
    timeout_ns: i64,
    log: Log<EchoRow>,
    /// The latest, from the first outstanding one on.
    latest: VecDeque<EchoRow>,
    sent: u64,
    answered: u64,
}

impl OutstandingProbes {
    /// Without probes. One without a response after `timeout` is lost.
    pub fn new(echo: Echo, timeout: Duration) -> Self {
        let (log, latest) = (Log::new(), VecDeque::new());
        Self { echo, timeout_ns: nanoseconds(timeout), log, latest, sent: 0, answered: 0 }
    }

    /// The number of the next probe.
    pub fn next_sequence(&self) -> u64 {
        self.sent
    }

    /// Notes that the next probe was sent.
    pub fn sent(&mut self, size_bytes: u32, sent_ns: i64) {
        let row = EchoRow { sequence: self.sent, echo: self.echo, size_bytes, sent_ns, rtt_ns: None };
        self.latest.push_back(row);
        self.sent += 1;
    }

    /// Notes a response. The first one counts, if it is in time.
    ///
    /// # Arguments
    /// `arrived_ns`: when the kernel received it. It counts unless a clock that was set put it before its probe.
    /// `seen_ns`: when this end saw it.
    pub fn answered(&mut self, sequence: u64, arrived_ns: i64, seen_ns: i64) {
        let Some(first) = self.latest.front().map(|row| row.sequence) else { return };
        let index = sequence.checked_sub(first).and_then(|index| usize::try_from(index).ok());
        let Some(row) = index.and_then(|index| self.latest.get_mut(index)) else { return };
        let arrived_ns = if arrived_ns > row.sent_ns { arrived_ns } else { seen_ns };
        let rtt_ns = arrived_ns - row.sent_ns;
        if row.rtt_ns.is_none() && rtt_ns <= self.timeout_ns {
            row.rtt_ns = Some(rtt_ns);
            self.answered += 1;
        }
    }

    /// Gives up probes that are out of time, and logs what is settled; returns how many are outstanding or wait for one
    /// that is.
    pub fn settle(&mut self, now_ns: i64) -> usize {
        while let Some(row) = self.latest.front()
            && (row.rtt_ns.is_some() || now_ns - row.sent_ns > self.timeout_ns)
        {
            self.log.push(row);
            self.latest.pop_front();
        }
        self.latest.len()
    }

    /// How long until the oldest outstanding probe is given up.
    pub fn due_in(&self, now_ns: i64) -> Option<Duration> {
        let oldest = self.latest.front()?;
        Some(from_nanoseconds(oldest.sent_ns + self.timeout_ns + 1 - now_ns))
    }

    /// The number of the first outstanding probe.
    pub fn first_outstanding(&self) -> u64 {
        self.latest.front().map_or(self.sent, |row| row.sequence)
    }

    /// Probes that were sent, and those that were answered in time.
    pub fn counts(&self) -> (u64, u64) {
        (self.sent, self.answered)
    }

    /// All rows. Probes that were outstanding when a trial was cut off are not known to be lost: they are left out.
    pub fn into_log(mut self) -> Log<EchoRow> {
        for row in self.latest.iter().filter(|row| row.rtt_ns.is_some()) {
            self.log.push(row);
        }
        self.log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> OutstandingProbes {
        OutstandingProbes::new(Echo::Udp, Duration::from_nanos(100))
    }

    fn rtts(outstanding: OutstandingProbes) -> Vec<(u64, Option<i64>)> {
        let rows = outstanding.into_log().into_rows().unwrap().1;
        rows.map(|row| row.unwrap()).map(|row| (row.sequence, row.rtt_ns)).collect()
    }

    #[test]
    fn responses_may_be_reordered_and_rows_are_not() {
        let mut outstanding = none();
        for sent_ns in [0, 10, 20] {
            outstanding.sent(64, sent_ns);
        }
        outstanding.answered(2, 30, 31);
        outstanding.answered(0, 40, 41);
        assert_eq!(outstanding.settle(41), 2);
        assert_eq!(outstanding.due_in(41), Some(Duration::from_nanos(70)));
        assert_eq!(outstanding.settle(111), 0);
        assert_eq!(outstanding.counts(), (3, 2));
        assert_eq!(rtts(outstanding), [(0, Some(40)), (1, None), (2, Some(10))]);
    }

    #[test]
    fn the_first_response_counts_and_a_late_one_does_not() {
        let mut outstanding = none();
        outstanding.sent(64, 0);
        outstanding.sent(64, 0);
        outstanding.answered(0, 100, 100);
        outstanding.answered(0, 50, 50);
        outstanding.answered(1, 101, 101);
        outstanding.answered(7, 50, 50);
        outstanding.settle(101);
        assert_eq!(rtts(outstanding), [(0, Some(100)), (1, None)]);
    }

    #[test]
    fn an_arrival_before_its_probe_is_replaced_by_when_it_was_seen() {
        let mut outstanding = none();
        outstanding.sent(64, 1000);
        outstanding.answered(0, 999, 1010);
        assert_eq!(rtts(outstanding), [(0, Some(10))]);
    }

    #[test]
    fn a_probe_that_was_outstanding_when_a_trial_was_cut_off_is_not_lost() {
        let mut outstanding = none();
        outstanding.sent(64, 0);
        outstanding.sent(64, 10);
        outstanding.answered(1, 20, 20);
        assert_eq!(rtts(outstanding), [(1, Some(10))]);
    }
}
