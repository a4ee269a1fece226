//! How a train was received, and how long the next one must be: no socket, no clock.
//!
//! Packets that are sent one straight after the other leave the narrowest link at its rate (Dovrolis, Ramanathan and
//! Moore 2001). A token bucket lets the first of them pass at once: its rate shows in the later ones only, so that trains
//! grow until their halves are of one rate.

use wire::defaults::TRAIN_PACKETS_MAX;

use super::train_row::TrainRow;
use crate::defaults::{TRAIN_HALVES_SHARE, TRAIN_LEAST, TRAIN_MOST};

/// What a train showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dispersion {
    /// Rates of its two halves, in bit/s of IP packets; 0 where there were too few packets to tell.
    pub halves_bps: [u64; 2],
    /// From its first packet to its last, in nanoseconds.
    pub lasted_ns: u64,
}

impl Dispersion {
    /// Of the packets that arrived of one train, in the order of arrival.
    pub fn of(arrivals: &[TrainRow]) -> Self {
        let (Some(first), Some(last)) = (arrivals.first(), arrivals.last()) else { return Self::default() };
        let middle = arrivals.len() / 2;
        let halves_bps = [rate_bps(&arrivals[..=middle.min(arrivals.len() - 1)]), rate_bps(&arrivals[middle..])];
        Self { halves_bps, lasted_ns: u64::try_from(last.received_ns - first.received_ns).unwrap_or(0) }
    }

    /// How long one of twice as many packets would last, if they were received like those of the second half.
    fn twice_as_long_ns(&self) -> u128 {
        let [first, second] = self.halves_bps.map(u128::from);
        let lasted_ns = u128::from(self.lasted_ns);
        // Both halves are of as many bits.
        lasted_ns + (2 * lasted_ns).saturating_mul(first) / (first + second).max(1)
    }

    fn halves_agree(&self) -> bool {
        let [first, second] = self.halves_bps;
        let (slower, faster) = (first.min(second), first.max(second));
        faster - slower <= slower / TRAIN_HALVES_SHARE
    }
}

/// Bits of all packets but the first, over the time from the first to the last; 0 if there was none.
fn rate_bps(arrivals: &[TrainRow]) -> u64 {
    let (Some(first), Some(last)) = (arrivals.first(), arrivals.last()) else { return 0 };
    let bits: u128 = arrivals[1..].iter().map(|arrival| u128::from(arrival.size_bytes) * 8).sum();
    let Ok(lasted_ns @ 1..) = u128::try_from(last.received_ns - first.received_ns) else { return 0 };
    u64::try_from(bits * 1_000_000_000 / lasted_ns).unwrap_or(u64::MAX)
}

/// How many trains are still to be sent, how long each is, and what they have shown so far.
pub struct Growth {
    packets: u32,
    left: u32,
    grown: bool,
    /// Of the second halves of those that were long enough.
    rates_bps: Vec<u64>,
}

impl Growth {
    /// `trains` trains, of `packets` packets at least.
    pub fn new(trains: u32, packets: u32) -> Self {
        Self { packets, left: trains, grown: false, rates_bps: Vec::new() }
    }

    /// Packets of the next train; absent if there were enough of them.
    pub fn next_packets(&self) -> Option<u32> {
        (self.left > 0).then_some(self.packets)
    }

    /// What the sink has reported of the last train, if anything. A train that was too short is sent in addition.
    pub fn seen(&mut self, train: Option<Dispersion>) {
        let Some(train) = train else {
            self.left -= 1;
            return;
        };
        if !self.grown && self.is_too_short(train) {
            self.packets = (self.packets * 2).min(TRAIN_PACKETS_MAX);
            return;
        }
        self.grown = true;
        self.left -= 1;
        self.rates_bps.extend(Some(train.halves_bps[1]).filter(|rate_bps| *rate_bps > 0));
    }

    /// The median of what the trains have shown; absent if there were none.
    pub fn capacity_bps(&self) -> Option<u64> {
        let mut sorted = self.rates_bps.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied()
    }

    fn is_too_short(&self, train: Dispersion) -> bool {
        let may_grow = self.packets < TRAIN_PACKETS_MAX && train.twice_as_long_ns() <= TRAIN_MOST.as_nanos();
        may_grow && (u128::from(train.lasted_ns) < TRAIN_LEAST.as_nanos() || !train.halves_agree())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::datagram::Packet, *};

    const SIZE: u32 = 1500;

    fn row(received_ns: i64, size_bytes: u32) -> TrainRow {
        let packet = Packet { train: 0, sequence: 0, rate_bps: None, sent_ns: 0 };
        TrainRow { packet, size_bytes, received_ns }
    }

    /// Packets through a token bucket: a burst at once, the others at its rate.
    fn through_bucket(packets: u32, burst: u32, rate_bps: u64) -> Dispersion {
        let each_ns = i64::try_from(u64::from(SIZE) * 8_000_000_000 / rate_bps).unwrap();
        let arrival = |number: u32| {
            let late = i64::from(number.saturating_sub(burst));
            row(1000 * i64::from(number) + late * each_ns, SIZE)
        };
        Dispersion::of(&(0..packets).map(arrival).collect::<Vec<_>>())
    }

    fn grown(growth: &mut Growth, burst: u32, rate_bps: u64) -> u32 {
        let mut sent = 0;
        while let Some(packets) = growth.next_packets() {
            growth.seen(Some(through_bucket(packets, burst, rate_bps)));
            sent += 1;
            assert!(sent < 100);
        }
        sent
    }

    #[test]
    fn a_train_shows_the_rate_of_the_link() {
        for rate_bps in [10_000_000, 100_000_000, 1_000_000_000] {
            let mut growth = Growth::new(5, 100);
            grown(&mut growth, 0, rate_bps);
            let shown = growth.capacity_bps().unwrap();
            let late = rate_bps - shown;
            assert!(late < rate_bps / 10, "{shown} of {rate_bps}");
        }
    }

    #[test]
    fn trains_grow_beyond_a_burst_and_those_that_did_not_do_not_count() {
        let mut growth = Growth::new(5, 50);
        let sent = grown(&mut growth, 40, 100_000_000);
        assert_eq!(sent, 5 + 5, "50, 100, 200, 400 and 800 packets were too few");
        assert!(growth.capacity_bps().unwrap().abs_diff(100_000_000) < 1_000_000);
    }

    #[test]
    fn a_train_never_lasts_much_longer_than_allowed() {
        let mut growth = Growth::new(2, 100);
        grown(&mut growth, 60, 1_000_000);
        assert_eq!(growth.packets, 100, "100 packets last half a second already, nearly all of it after the burst");
    }

    #[test]
    fn trains_that_nobody_saw_come_to_an_end() {
        let mut growth = Growth::new(2, 100);
        growth.seen(None);
        growth.seen(None);
        assert_eq!((growth.next_packets(), growth.capacity_bps()), (None, None));
    }

    proptest! {
        #[test]
        fn any_arrivals_have_a_dispersion(times: Vec<i32>, size_bytes: u32) {
            let arrival = |time: &i32| row(i64::from(*time), size_bytes);
            let train = Dispersion::of(&times.iter().map(arrival).collect::<Vec<_>>());
            train.halves_agree();
            let mut growth = Growth::new(1, 2);
            growth.seen(Some(train));
        }

        #[test]
        fn any_report_of_a_sink_is_borne(first: u64, second: u64, lasted_ns: u64) {
            let extremes = Dispersion { halves_bps: [u64::MAX, second], lasted_ns: u64::MAX };
            for train in [Dispersion { halves_bps: [first, second], lasted_ns }, extremes] {
                let mut growth = Growth::new(1, 2);
                growth.seen(Some(train));
                growth.capacity_bps();
            }
        }
    }
}
