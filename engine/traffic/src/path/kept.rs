//! What a sink keeps of trains and streams: no socket, no clock.

use wire::defaults::TRAIN_PACKETS_MAX;

use super::{datagram::Packet, train_row::TrainRow};
use crate::samples::Log;

/// The train or stream that is being received, and the log of those before it.
pub struct Kept<'a> {
    log: &'a mut Log<TrainRow>,
    train: u32,
    /// First copies of its packets, in the order of arrival: a stream may be withdrawn.
    rows: Vec<TrainRow>,
    /// Which of its packets have come.
    seen: Vec<bool>,
    /// None of it is kept, whatever may still come: it was withdrawn, or a packet of it was received at an unknown time.
    dropped: bool,
}

impl<'a> Kept<'a> {
    /// Of a sink that has received nothing yet.
    pub fn new(log: &'a mut Log<TrainRow>) -> Self {
        Self { log, train: 0, rows: Vec::new(), seen: nothing_seen(), dropped: false }
    }

    /// Keeps a packet of this or of a later train. One of an earlier train is as good as lost: what came of that train was
    /// reported, or withdrawn. A packet that comes again is no more of the train than it was.
    pub fn take(&mut self, packet: Packet, size_bytes: u32, received_ns: Option<i64>) {
        self.go_on_to(packet.train);
        if packet.train != self.train || self.dropped || !self.is_new(packet.sequence) {
            return;
        }
        match received_ns {
            Some(received_ns) => self.rows.push(TrainRow { packet, size_bytes, received_ns }),
            None => self.drop_rows(),
        }
    }

    /// Of this train, what has come.
    pub fn rows_of(&self, train: u32) -> &[TrainRow] {
        if train == self.train { &self.rows } else { &[] }
    }

    /// Keeps nothing of this train.
    pub fn withdraw(&mut self, train: u32) {
        self.go_on_to(train);
        if train == self.train {
            self.drop_rows();
        }
    }

    /// Writes the last train into the log.
    pub fn finish(&mut self) {
        self.rows.drain(..).for_each(|row| self.log.push(&row));
    }

    fn go_on_to(&mut self, train: u32) {
        if train > self.train {
            self.finish();
            (self.train, self.seen, self.dropped) = (train, nothing_seen(), false);
        }
    }

    /// Whether it is the first copy of a number that a train may have.
    fn is_new(&mut self, sequence: u32) -> bool {
        let seen = usize::try_from(sequence).ok().and_then(|number| self.seen.get_mut(number));
        seen.is_some_and(|seen| !std::mem::replace(seen, true))
    }

    fn drop_rows(&mut self) {
        self.rows.clear();
        self.dropped = true;
    }
}

fn nothing_seen() -> Vec<bool> {
    vec![false; TRAIN_PACKETS_MAX as usize]
}

#[cfg(test)]
mod tests {
    use super::{super::dispersion::Dispersion, *};

    const SIZE_BYTES: u32 = 1500;

    /// Packets by their train and number, one each microsecond.
    fn taken(kept: &mut Kept<'_>, packets: &[(u32, u32)]) {
        for ((train, sequence), number) in packets.iter().zip(0..) {
            kept.take(packet(*train, *sequence), SIZE_BYTES, Some(1000 * number));
        }
    }

    fn packet(train: u32, sequence: u32) -> Packet {
        Packet { train, sequence, rate_bps: None, sent_ns: 0 }
    }

    fn numbers(rows: &[TrainRow]) -> Vec<u32> {
        rows.iter().map(|row| row.packet.sequence).collect()
    }

    /// What is in the log at the end, by train and number.
    fn logged(take: impl FnOnce(&mut Kept<'_>)) -> Vec<(u32, u32)> {
        let mut log = Log::new();
        let mut kept = Kept::new(&mut log);
        take(&mut kept);
        kept.finish();
        let (_, rows) = log.into_rows().unwrap();
        rows.map(|row| row.unwrap().packet).map(|packet| (packet.train, packet.sequence)).collect()
    }

    #[test]
    fn a_straggler_of_an_earlier_train_leaves_the_later_one_as_it_is() {
        let all = logged(|kept| {
            taken(kept, &[(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (1, 2), (1, 3)]);
            assert_eq!(numbers(kept.rows_of(1)), [0, 1, 2, 3]);
            assert!(kept.rows_of(0).is_empty());
        });
        assert_eq!(all, [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (1, 3)]);
    }

    #[test]
    fn copies_make_no_train_faster() {
        let mut logs = [Log::new(), Log::new()];
        let [once, twice] = logs.each_mut().map(|log| {
            let mut kept = Kept::new(log);
            kept.take(packet(0, 0), SIZE_BYTES, Some(0));
            kept
        });
        let shown = [(once, 1), (twice, 2)].map(|(mut kept, copies)| {
            for number in 1..100 {
                for copy in 0..copies {
                    let received_ns = 120_000 * i64::from(number) + copy;
                    kept.take(packet(0, number), SIZE_BYTES, Some(received_ns));
                }
            }
            Dispersion::of(kept.rows_of(0))
        });
        assert_eq!(shown[0].halves_bps, [100_000_000, 100_000_000]);
        assert_eq!(shown[0], shown[1]);
    }

    #[test]
    fn what_comes_of_a_stream_after_it_was_withdrawn_is_not_kept() {
        let all = logged(|kept| {
            taken(kept, &[(1, 0), (1, 1)]);
            kept.withdraw(1);
            taken(kept, &[(1, 2), (1, 0)]);
            assert!(kept.rows_of(1).is_empty());
            // Nothing of it had come.
            kept.withdraw(2);
            taken(kept, &[(2, 0)]);
            // A request that comes again, late.
            taken(kept, &[(3, 0)]);
            kept.withdraw(1);
            taken(kept, &[(3, 1)]);
        });
        assert_eq!(all, [(3, 0), (3, 1)]);
    }

    #[test]
    fn a_train_of_which_a_packet_came_at_an_unknown_time_is_not_kept_and_the_next_one_is() {
        let all = logged(|kept| {
            taken(kept, &[(0, 0)]);
            kept.take(packet(0, 1), SIZE_BYTES, None);
            taken(kept, &[(0, 2), (1, 0)]);
        });
        assert_eq!(all, [(1, 0)]);
    }

    #[test]
    fn numbers_that_no_train_has_are_not_kept() {
        let all = logged(|kept| taken(kept, &[(0, TRAIN_PACKETS_MAX - 1), (0, TRAIN_PACKETS_MAX), (0, u32::MAX)]));
        assert_eq!(all, [(0, TRAIN_PACKETS_MAX - 1)]);
    }
}
