//! Which questions are open, and what became of those that are not. Pure: `now` is an argument.

use std::{collections::VecDeque, time::Duration};

use wire::Echo;

use super::EchoRow;
use crate::{
    samples::Log,
    time::{from_nanoseconds, nanoseconds},
};

/// The questions of a trial, in the order they were asked. Times in nanoseconds since this end's origin.
pub struct Ledger {
    echo: Echo,
    timeout_ns: i64,
    log: Log<EchoRow>,
    /// The latest, from the first on of which it is not known what became of it.
    latest: VecDeque<EchoRow>,
    asked: u64,
    answered: u64,
}

impl Ledger {
    /// Without questions. One that has no answer after `timeout` is lost.
    pub fn new(echo: Echo, timeout: Duration) -> Self {
        let (log, latest) = (Log::new(), VecDeque::new());
        Self { echo, timeout_ns: nanoseconds(timeout), log, latest, asked: 0, answered: 0 }
    }

    /// The number of the next question.
    pub fn next_sequence(&self) -> u64 {
        self.asked
    }

    /// Notes the next question.
    pub fn ask(&mut self, size_bytes: u32, sent_ns: i64) {
        let row = EchoRow { sequence: self.asked, echo: self.echo, size_bytes, sent_ns, rtt_ns: None };
        self.latest.push_back(row);
        self.asked += 1;
    }

    /// Notes an answer. The first counts, if it is in time.
    ///
    /// # Arguments
    /// `arrived_ns`: when it came, by the kernel. It counts unless a clock that was set put it before its question.
    /// `seen_ns`: when this end saw it.
    pub fn answer(&mut self, sequence: u64, arrived_ns: i64, seen_ns: i64) {
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

    /// Gives up what has waited too long, and keeps what is settled; says how many questions are open or wait for one
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

    /// How long until the oldest open question is given up.
    pub fn due_in(&self, now_ns: i64) -> Option<Duration> {
        let oldest = self.latest.front()?;
        Some(from_nanoseconds(oldest.sent_ns + self.timeout_ns + 1 - now_ns))
    }

    /// The first question of which it is not known what became of it.
    pub fn first_open(&self) -> u64 {
        self.latest.front().map_or(self.asked, |row| row.sequence)
    }

    /// Questions that were asked, and those that were answered in time.
    pub fn counts(&self) -> (u64, u64) {
        (self.asked, self.answered)
    }

    /// All rows. What was still open, when a trial was cut off, is not known to be lost and is left out.
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

    fn ledger() -> Ledger {
        Ledger::new(Echo::Udp, Duration::from_nanos(100))
    }

    fn rtts(ledger: Ledger) -> Vec<(u64, Option<i64>)> {
        let rows = ledger.into_log().into_rows().unwrap().1;
        rows.map(|row| row.unwrap()).map(|row| (row.sequence, row.rtt_ns)).collect()
    }

    #[test]
    fn answers_may_come_in_any_order_and_rows_do_not() {
        let mut ledger = ledger();
        for sent_ns in [0, 10, 20] {
            ledger.ask(64, sent_ns);
        }
        ledger.answer(2, 30, 31);
        ledger.answer(0, 40, 41);
        assert_eq!(ledger.settle(41), 2);
        assert_eq!(ledger.due_in(41), Some(Duration::from_nanos(70)));
        assert_eq!(ledger.settle(111), 0);
        assert_eq!(ledger.counts(), (3, 2));
        assert_eq!(rtts(ledger), [(0, Some(40)), (1, None), (2, Some(10))]);
    }

    #[test]
    fn the_first_answer_counts_and_a_late_one_does_not() {
        let mut ledger = ledger();
        ledger.ask(64, 0);
        ledger.ask(64, 0);
        ledger.answer(0, 100, 100);
        ledger.answer(0, 50, 50);
        ledger.answer(1, 101, 101);
        ledger.answer(7, 50, 50);
        ledger.settle(101);
        assert_eq!(rtts(ledger), [(0, Some(100)), (1, None)]);
    }

    #[test]
    fn an_arrival_before_its_question_is_replaced_by_when_it_was_seen() {
        let mut ledger = ledger();
        ledger.ask(64, 1000);
        ledger.answer(0, 999, 1010);
        assert_eq!(rtts(ledger), [(0, Some(10))]);
    }

    #[test]
    fn what_was_open_when_a_trial_was_cut_off_is_not_lost() {
        let mut ledger = ledger();
        ledger.ask(64, 0);
        ledger.ask(64, 10);
        ledger.answer(1, 20, 20);
        assert_eq!(rtts(ledger), [(1, Some(10))]);
    }
}
