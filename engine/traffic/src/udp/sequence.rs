//! What became of a flow's sequence numbers at the sink: received, reordered, duplicate, late or lost. No socket, no clock,
//! and as much memory for a hostile sender as for any other.

use std::collections::VecDeque;

use hdrhistogram::Histogram;

use super::histograms;

/// How far below the highest number one may lie and still be known to be a duplicate or not: 64 numbers a word.
const WINDOW_WORDS: usize = 4096;
const WORD: u64 = 64;
/// How far above the highest number the next one may lie: half an hour of a sender of two million datagrams a second.
const JUMP_MAX: u64 = 1 << 32;
/// Runs of skipped numbers that are remembered, for the reordering extent of those that are received later.
const GAPS_MAX: usize = 4096;

/// What a datagram is to those that were received before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The first with its number.
    New,
    /// Another one with its number.
    Duplicate,
    /// Too far below the highest number to know.
    TooOld,
    /// Too far above it to be one of this flow's.
    Implausible,
}

/// The numbers of one flow.
pub struct Sequence {
    /// One bit a number, in a ring: all words from `low_word` to that of the highest number.
    window: Box<[u64]>,
    low_word: u64,
    next: u64,
    gaps: VecDeque<Gap>,
    lost_run: u64,
    /// One bit a number, from `next` on: received after the end.
    tail: Vec<u64>,
    /// Different ones that were received.
    pub unique: u64,
    /// Of these, those that were received after a higher one (RFC 4737, Type-P-Reordered).
    pub reordered: u64,
    /// Received again (RFC 5560).
    pub duplicates: u64,
    /// Received too late to count; of those too far behind to know some may be duplicates.
    pub late: u64,
    /// Largest of `extents`.
    pub extent_max: u64,
    /// Longest of `loss_bursts`.
    pub loss_burst_max: u64,
    /// How many later ones were received before each of `reordered` (RFC 4737, 4.2.1); fewer where many gaps were open.
    pub extents: Histogram<u64>,
    /// Length of each run of lost numbers, once [`Sequence::finish`] has been called.
    pub loss_bursts: Histogram<u64>,
}

/// Numbers that one datagram skipped.
struct Gap {
    /// The first above them.
    end: u64,
    /// How many were received before that datagram.
    arrival: u64,
}

impl Default for Sequence {
    fn default() -> Self {
        Self::new()
    }
}

impl Sequence {
    /// Nothing received yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            window: vec![0; WINDOW_WORDS].into_boxed_slice(),
            low_word: 0,
            next: 0,
            gaps: VecDeque::new(),
            lost_run: 0,
            tail: Vec::new(),
            unique: 0,
            reordered: 0,
            duplicates: 0,
            late: 0,
            extent_max: 0,
            loss_burst_max: 0,
            extents: histograms::of_counts(),
            loss_bursts: histograms::of_counts(),
        }
    }

    /// Counts a datagram.
    #[inline]
    pub fn take(&mut self, number: u64) -> Arrival {
        if number < self.next {
            return self.take_earlier(number);
        }
        if number - self.next > JUMP_MAX {
            return Arrival::Implausible;
        }
        if number > self.next {
            self.remember_gap(number);
        }
        self.make_room(number / WORD);
        *self.word(number / WORD) |= bit(number);
        self.next = number + 1;
        self.unique += 1;
        Arrival::New
    }

    /// Numbers that were skipped so far and not received.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.next - self.unique
    }

    /// Once nothing counts any more: notes the runs of lost numbers. `sent`: how many were sent, if that is known.
    pub fn finish(&mut self, sent: Option<u64>) {
        for number in self.low_word..self.next.div_ceil(WORD) {
            let bits = *self.word(number);
            self.fold(bits, (self.next - number * WORD).min(WORD));
        }
        self.lost_run += sent.unwrap_or(0).saturating_sub(self.next);
        self.end_lost_run();
    }

    /// Counts a datagram that was received after [`Sequence::finish`], once. Not where it lies so far from the highest
    /// number that another one with its number would not be known.
    pub fn take_late(&mut self, number: u64) {
        if let Some(above) = number.checked_sub(self.next) {
            let word = usize::try_from(above / WORD).unwrap_or(usize::MAX);
            if word < WINDOW_WORDS {
                self.tail.resize(self.tail.len().max(word + 1), 0);
                self.late += u64::from(mark(&mut self.tail[word], above));
            }
        } else if number / WORD >= self.low_word {
            let is_new = mark(self.word(number / WORD), number);
            self.late += u64::from(is_new);
        }
    }

    fn take_earlier(&mut self, number: u64) -> Arrival {
        if number / WORD < self.low_word {
            self.late += 1;
            return Arrival::TooOld;
        }
        let word = self.word(number / WORD);
        if *word & bit(number) != 0 {
            self.duplicates += 1;
            return Arrival::Duplicate;
        }
        *word |= bit(number);
        let extent = self.extent_of(number);
        histograms::record(&mut self.extents, extent, 1);
        self.extent_max = self.extent_max.max(extent);
        self.unique += 1;
        self.reordered += 1;
        Arrival::New
    }

    /// How many were received since this number was skipped: the first higher one did that.
    fn extent_of(&self, number: u64) -> u64 {
        let at = self.gaps.partition_point(|gap| gap.end <= number);
        self.gaps.get(at).map_or(0, |gap| self.unique - gap.arrival)
    }

    fn remember_gap(&mut self, number: u64) {
        if self.gaps.len() == GAPS_MAX {
            self.gaps.pop_front();
        }
        self.gaps.push_back(Gap { end: number, arrival: self.unique });
    }

    /// Moves the window up to a word. A number that leaves it was received or is lost.
    #[inline]
    fn make_room(&mut self, word: u64) {
        let low_word = (word + 1).saturating_sub(WINDOW_WORDS as u64);
        if low_word > self.low_word {
            self.move_up(low_word);
        }
    }

    fn move_up(&mut self, low_word: u64) {
        let whole = low_word.min(self.low_word + WINDOW_WORDS as u64);
        for number in self.low_word..whole {
            let bits = std::mem::take(self.word(number));
            self.fold(bits, WORD);
        }
        self.lost_run += (low_word - whole) * WORD;
        self.low_word = low_word;
        let kept = self.gaps.partition_point(|gap| gap.end <= low_word * WORD);
        self.gaps.drain(..kept);
    }

    /// Adds a word's first `length` numbers to the runs of what is lost.
    fn fold(&mut self, bits: u64, length: u64) {
        if bits == u64::MAX {
            return self.end_lost_run();
        }
        let mut at = 0;
        while at < length {
            let rest = bits >> at;
            let lost = u64::from(rest.trailing_zeros()).min(length - at);
            self.lost_run += lost;
            at += lost;
            if at < length {
                self.end_lost_run();
                at += u64::from((bits >> at).trailing_ones());
            }
        }
    }

    fn end_lost_run(&mut self) {
        if self.lost_run > 0 {
            histograms::record(&mut self.loss_bursts, self.lost_run, 1);
            self.loss_burst_max = self.loss_burst_max.max(self.lost_run);
            self.lost_run = 0;
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the remainder is below WINDOW_WORDS")]
    fn word(&mut self, number: u64) -> &mut u64 {
        &mut self.window[(number % WINDOW_WORDS as u64) as usize]
    }
}

/// Sets a number's bit; whether it was not set.
fn mark(word: &mut u64, number: u64) -> bool {
    let before = *word;
    *word |= bit(number);
    *word != before
}

fn bit(number: u64) -> u64 {
    1 << (number % WORD)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// The definitions of RFC 4737 and 5560, word for word, at any cost.
    #[derive(Debug, Default, PartialEq)]
    struct Oracle {
        unique: u64,
        reordered: u64,
        duplicates: u64,
        extents: Vec<u64>,
        loss_bursts: Vec<u64>,
    }

    impl Oracle {
        fn of(arrivals: &[u64], sent: u64) -> Self {
            let mut seen = HashSet::new();
            let mut oracle = Self::default();
            let mut order: Vec<u64> = Vec::new();
            for &number in arrivals {
                if !seen.insert(number) {
                    oracle.duplicates += 1;
                    continue;
                }
                if let Some(first_higher) = order.iter().position(|&other| other > number) {
                    oracle.reordered += 1;
                    oracle.extents.push((order.len() - first_higher) as u64);
                }
                order.push(number);
            }
            oracle.unique = order.len() as u64;
            let lost = (0..sent).map(|number| !seen.contains(&number));
            let mut run = 0;
            for is_lost in lost.chain([false]) {
                if is_lost {
                    run += 1;
                } else if run > 0 {
                    oracle.loss_bursts.push(run);
                    run = 0;
                }
            }
            oracle.extents.sort_unstable();
            oracle.loss_bursts.sort_unstable();
            oracle
        }

        fn of_sequence(arrivals: &[u64], sent: u64) -> Self {
            let mut sequence = Sequence::new();
            for &number in arrivals {
                sequence.take(number);
            }
            sequence.finish(Some(sent));
            let Sequence { unique, reordered, duplicates, .. } = sequence;
            let all = |histogram: &Histogram<u64>| {
                let recorded = histogram.iter_recorded();
                recorded
                    .flat_map(|one| vec![one.value_iterated_to(); one.count_at_value().try_into().unwrap()])
                    .collect()
            };
            let (extents, loss_bursts) = (all(&sequence.extents), all(&sequence.loss_bursts));
            Self { unique, reordered, duplicates, extents, loss_bursts }
        }
    }

    /// Each number: whether it is lost, how far it is delayed, whether it is duplicated and how much later.
    fn arrivals(fates: &[(bool, u64, Option<u64>)]) -> Vec<u64> {
        let mut all: Vec<(u64, u64)> = Vec::new();
        for (number, &(lost, delay, again)) in (0_u64..).zip(fates) {
            if !lost {
                all.push((number + delay, number));
                all.extend(again.map(|more| (number + delay + more, number)));
            }
        }
        all.sort_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, number)| number).collect()
    }

    proptest! {
        #[test]
        fn it_counts_as_the_definitions_do(
            fates in prop::collection::vec(
                (prop::bool::weighted(0.2), prop_oneof![4 => Just(0), 1 => 0..20_u64], prop::option::weighted(0.1, 0..9_u64)),
                0..600,
            ),
        ) {
            let (arrivals, sent) = (arrivals(&fates), fates.len() as u64);
            prop_assert_eq!(Oracle::of_sequence(&arrivals, sent), Oracle::of(&arrivals, sent));
        }

        #[test]
        fn what_came_and_what_is_lost_is_what_was_sent(numbers in prop::collection::vec(0..2_000_000_u64, 1..200)) {
            let mut sequence = Sequence::new();
            for &number in &numbers {
                sequence.take(number);
            }
            let sent = numbers.iter().max().unwrap() + 1;
            sequence.finish(Some(sent));
            let bursts = sequence.loss_bursts.iter_recorded();
            // Long runs are kept to three digits.
            let lost: u64 = bursts.map(|one| one.value_iterated_to() * one.count_at_value()).sum();
            let whole = sequence.unique + lost;
            prop_assert!(whole.abs_diff(sent) <= sent / 500, "{} of {}", whole, sent);
            prop_assert_eq!(sequence.unique + sequence.duplicates + sequence.late, numbers.len() as u64);
        }

        #[test]
        fn any_numbers_are_borne(numbers: Vec<u64>) {
            let mut sequence = Sequence::new();
            for number in numbers {
                sequence.take(number);
            }
            sequence.finish(None);
        }
    }

    #[test]
    fn a_number_from_far_ahead_is_not_believed() {
        let mut sequence = Sequence::new();
        assert_eq!(sequence.take(u64::MAX), Arrival::Implausible);
        assert_eq!(sequence.take(0), Arrival::New);
        assert_eq!((sequence.unique, sequence.missing()), (1, 0));
    }

    #[test]
    fn what_is_far_behind_counts_as_late() {
        let mut sequence = Sequence::new();
        sequence.take(0);
        sequence.take(WINDOW_WORDS as u64 * WORD + 100);
        assert_eq!(sequence.take(1), Arrival::TooOld);
        assert_eq!((sequence.unique, sequence.duplicates, sequence.late), (2, 0, 1));
    }

    #[test]
    fn after_the_end_only_what_had_not_come_is_late() {
        let mut sequence = Sequence::new();
        for number in [0, 1, 3] {
            sequence.take(number);
        }
        sequence.finish(Some(5));
        for number in [2, 2, 3, 4, 4] {
            sequence.take_late(number);
        }
        assert_eq!((sequence.unique, sequence.late), (3, 2));
        assert_eq!(sequence.loss_bursts.len(), 2);
    }

    #[test]
    fn late_ones_are_no_more_than_lost_ones_however_often_they_come() {
        let mut sequence = Sequence::new();
        sequence.take(WINDOW_WORDS as u64 * WORD - 1);
        let tried: Vec<u64> = (0..2 * WINDOW_WORDS as u64 * WORD).step_by(1000).collect();
        tried.iter().chain(&tried).chain(&[u64::MAX]).for_each(|number| sequence.take_late(*number));
        assert_eq!(sequence.late, tried.len() as u64);
    }
}
