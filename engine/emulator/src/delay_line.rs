//! The wire: what was transmitted comes out at the other end later, in order or not.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

/// What is on its way, ordered by when it arrives; of equal times, by when it was put in.
#[derive(Debug)]
pub struct DelayLine<T> {
    waiting: BinaryHeap<Reverse<Entry<T>>>,
    sequence: u64,
    /// One more than the latest that has come out.
    expected: u64,
}

#[derive(Debug)]
struct Entry<T> {
    due: u64,
    sequence: u64,
    item: T,
}

/// Something that has come out.
#[derive(Debug, PartialEq, Eq)]
pub struct Arrival<T> {
    pub due: u64,
    pub item: T,
    /// It comes after something that was put in later (RFC 4737).
    pub reordered: bool,
}

impl<T> DelayLine<T> {
    pub fn new() -> Self {
        Self { waiting: BinaryHeap::new(), sequence: 0, expected: 0 }
    }

    pub fn push(&mut self, due: u64, item: T) {
        self.waiting.push(Reverse(Entry { due, sequence: self.sequence, item }));
        self.sequence += 1;
    }

    pub fn next_due(&self) -> Option<u64> {
        self.waiting.peek().map(|Reverse(entry)| entry.due)
    }

    /// The next that is due at `now`.
    pub fn pop(&mut self, now: u64) -> Option<Arrival<T>> {
        if self.next_due()? > now {
            return None;
        }
        let Reverse(Entry { due, sequence, item }) = self.waiting.pop()?;
        let reordered = sequence < self.expected;
        self.expected = self.expected.max(sequence + 1);
        Some(Arrival { due, item, reordered })
    }
}

impl<T> Entry<T> {
    fn key(&self) -> (u64, u64) {
        (self.due, self.sequence)
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overtakes_is_seen_on_what_it_overtook() {
        let mut line = DelayLine::new();
        for (due, item) in [(30, 'a'), (10, 'b'), (30, 'c'), (20, 'd')] {
            line.push(due, item);
        }
        assert_eq!(line.next_due(), Some(10));
        assert_eq!(line.pop(9), None);
        let out: Vec<_> =
            std::iter::from_fn(|| line.pop(30)).map(|arrival| (arrival.item, arrival.reordered)).collect();
        assert_eq!(out, [('b', false), ('d', false), ('a', true), ('c', true)]);
    }
}
