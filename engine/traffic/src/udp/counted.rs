//! What a sink's thread counts of one flow, and reports: to the coordinator meanwhile, and at the end.

use sys::{RECEIVE_BATCH_MAX, ReceiveBatch, Received};
use wire::{RejectedConnections, UdpCounts};

use super::{
    arrivals::{Arrivals, Moment},
    delay_histogram::DelayHistogram,
    histograms,
    rows::{HistogramRow, Quantity},
    sequence::{Arrival, Sequence},
    stream::{NotOurs, Outcome, Tally, UdpFlow, UdpFlows},
};
use crate::{
    defaults::{GRO_BUFFER_BYTES, GRO_BUFFERS},
    kernel_time::KernelTime,
    origin::Origin,
};

/// The counts of one flow.
pub struct Counted<'a> {
    flow: &'a UdpFlow,
    length: usize,
    fresh: u64,
    /// Its numbers.
    pub sequence: Sequence,
    /// Its times.
    pub arrivals: Arrivals,
    /// What its socket received and is not of the flow.
    pub rejected: RejectedConnections,
    /// The times that the kernel reports.
    pub kernel: KernelTime,
    origin: Origin,
}

/// Room for what a flow's thread receives at once, and how many buffers that is; `together`: the kernel puts datagrams of
/// `length` bytes together.
pub fn room(length: u32, together: bool) -> (ReceiveBatch, usize) {
    let (room, length) = if together {
        (GRO_BUFFERS, GRO_BUFFER_BYTES)
    } else {
        // One byte more shows which datagrams are too long.
        (RECEIVE_BATCH_MAX, length as usize + 1)
    };
    (ReceiveBatch::new(room, length), room)
}

impl<'a> Counted<'a> {
    /// Of datagrams of `length` bytes, none of which is received yet.
    pub fn new(flow: &'a UdpFlow, length: usize, origin: Origin) -> Self {
        Self {
            flow,
            length,
            fresh: 0,
            sequence: Sequence::new(),
            arrivals: Arrivals::new(),
            rejected: RejectedConnections::default(),
            kernel: KernelTime::new(origin),
            origin,
        }
    }

    /// Passes each datagram of all buffers to `taken`, with the kernel's time; returns how many buffers there were.
    pub fn take_each<'b>(
        &mut self,
        buffers: impl Iterator<Item = Received<'b>>,
        mut taken: impl FnMut(&mut Self, &[u8], &mut Option<Moment>),
    ) -> usize {
        self.kernel.look();
        let mut count = 0;
        for buffer in buffers {
            let size = buffer.segment_bytes.unwrap_or(buffer.bytes.len()).max(1);
            // All of a buffer was received at one time: its first datagram stands for it.
            let mut moment = Some(self.moment(buffer.arrived_unix_ns));
            for datagram in buffer.bytes.chunks(size) {
                taken(self, datagram, &mut moment);
            }
            count += 1;
        }
        count
    }

    /// When a buffer with this stamp of the kernel's was received.
    fn moment(&mut self, stamp_unix_ns: Option<i64>) -> Moment {
        let arrived_ns = stamp_unix_ns.and_then(|stamp_unix_ns| self.kernel.arrived_ns(stamp_unix_ns));
        arrived_ns.map_or(Moment::Unknown, |arrived_ns| Moment::Known(arrived_ns.saturating_add(self.origin.unix_ns)))
    }

    /// Counts a datagram. Of several that were received at one time the first new one takes the `moment`, and stands for
    /// them: a duplicate says nothing of when the path delivers.
    #[inline]
    pub fn take(&mut self, number: u64, sent_unix_ns: i64, moment: &mut Option<Moment>) {
        match self.sequence.take(number) {
            Arrival::New => self.fresh += 1,
            Arrival::Duplicate | Arrival::TooOld => return,
            Arrival::Implausible => return NotOurs::NotAnEngine.count(&mut self.rejected),
        }
        if let Some(moment) = moment.take() {
            self.arrivals.take(moment, sent_unix_ns);
        }
    }

    /// Whether new datagrams were received since the last report.
    pub fn has_fresh(&self) -> bool {
        self.fresh > 0
    }

    /// Reports to the coordinator what was received. `more`: adds what else is reported of the times.
    pub fn publish(&mut self, flows: &UdpFlows, more: impl FnOnce(&mut Tally, &mut Arrivals)) {
        let mut tally = self.flow.connection.tally();
        tally.reordered = self.sequence.reordered;
        tally.duplicates = self.sequence.duplicates;
        tally.missing = self.sequence.missing();
        tally.jitter_ns = self.arrivals.jitter.ns();
        more(&mut tally, &mut self.arrivals);
        drop(tally);
        let bytes = usize::try_from(self.fresh).unwrap_or(usize::MAX).saturating_mul(self.length);
        self.fresh = 0;
        if bytes > 0 {
            self.flow.passed(bytes, flows.origin());
        }
    }

    /// Leaves the counts behind, once [`Sequence::finish`] has been called. `delays`: the source's clock counts from a
    /// time that is known, so that delays say something.
    pub fn leave(self, delays: bool) {
        let flow = self.flow.index;
        let (sequence, arrivals) = (&self.sequence, &self.arrivals);
        let delay = delays.then_some(&arrivals.delay);
        let above_min = delay.map(DelayHistogram::above_min);
        let rows_of_delay =
            above_min.iter().flat_map(|(above_min, below)| histograms::rows(flow, Quantity::Delay, above_min, *below));
        let rows: Vec<HistogramRow> = histograms::rows(flow, Quantity::Spacing, &arrivals.spacing, 0)
            .chain(rows_of_delay)
            .chain(histograms::rows(flow, Quantity::LossBurst, &sequence.loss_bursts, 0))
            .chain(histograms::rows(flow, Quantity::ReorderingExtent, &sequence.extents, 0))
            .collect();
        let counts = UdpCounts {
            datagrams: sequence.unique,
            reordered: sequence.reordered,
            reordering_extent_max: sequence.extent_max,
            duplicates: sequence.duplicates,
            late: sequence.late,
            loss_bursts: sequence.loss_bursts.len(),
            loss_burst_max: sequence.loss_burst_max,
            socket_dropped: self.flow.connection.dropped(),
            jitter_ns: arrivals.jitter.ns(),
            delay_min_ns: delay.and_then(|delay| delay.min_ns),
            ..UdpCounts::default()
        };
        self.flow.connection.leave(Outcome {
            counts,
            histograms: rows,
            rejected: self.rejected,
            steps: self.kernel.steps,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use proptest::prelude::*;
    use wire::Token;

    use super::*;
    use crate::udp::{
        arrivals::Delays,
        stream::{Opened, Stream},
    };

    const MS: i64 = 1_000_000;

    fn flows(origin: Origin) -> UdpFlows {
        let opened = Opened { token: Token([1; 16]), answer: Token([2; 16]), listening: true };
        let stream = Stream::new(UdpSocket::bind("127.0.0.1:0").unwrap(), 0, opened);
        UdpFlows::new([(0, stream)], origin)
    }

    /// Numbers, when they were sent, and when they were received.
    fn counted<'a>(flows: &'a UdpFlows, received: &[(u64, i64, Moment)]) -> Counted<'a> {
        let mut counted = Counted::new(&flows.all[0], 100, flows.origin_of_both());
        for (number, sent_ns, moment) in received {
            counted.take(*number, *sent_ns, &mut Some(*moment));
        }
        counted
    }

    fn times(counted: &Counted<'_>) -> (Option<u64>, u64, Option<Delays>) {
        let arrivals = &counted.arrivals;
        (arrivals.jitter.ns(), arrivals.spacing.len(), arrivals.interval)
    }

    #[test]
    fn a_duplicate_is_in_no_time() {
        let flows = flows(Origin::now());
        let even: Vec<_> =
            (0..50).map(|number: i64| (number.cast_unsigned(), number * MS, Moment::Known(number * MS + 5))).collect();
        let mut doubled = Vec::new();
        for (number, sent_ns, moment) in even.clone() {
            doubled.push((number, sent_ns, moment));
            // A copy 40 ms later, and one at once.
            doubled.push((number, sent_ns, moment));
            if let Some(earlier) = number.checked_sub(40) {
                doubled.push((earlier, sent_ns - 40 * MS, Moment::Known(sent_ns + MS / 2)));
            }
        }
        let (once, twice) = (counted(&flows, &even), counted(&flows, &doubled));
        assert_eq!((times(&once).0, times(&once).1), (Some(0), 49));
        assert_eq!(times(&once), times(&twice));
        assert_eq!(twice.sequence.duplicates, 60);
    }

    #[test]
    fn of_several_that_are_received_at_once_the_first_new_one_stands_for_them() {
        let flows = flows(Origin::now());
        let mut counted = counted(&flows, &[(0, 0, Moment::Known(5))]);
        let mut moment = Some(Moment::Known(MS + 5));
        for (number, sent_ns) in [(0, 0), (1, MS), (2, MS + 100)] {
            counted.take(number, sent_ns, &mut moment);
        }
        assert_eq!((counted.arrivals.jitter.ns(), counted.arrivals.spacing.len()), (Some(0), 1));
    }

    #[test]
    fn a_reordered_one_counts_when_it_is_received() {
        let flows = flows(Origin::now());
        let known = |at_ns| Moment::Known(at_ns);
        let counted = counted(&flows, &[(0, 0, known(5)), (2, 2 * MS, known(2 * MS + 5)), (1, MS, known(3 * MS + 5))]);
        // Two milliseconds more on the way than the one before: RFC 3550 takes a sixteenth of it.
        assert_eq!((counted.arrivals.jitter.ns(), counted.arrivals.spacing.len()), (Some(125_000), 2));
        assert_eq!(counted.sequence.reordered, 1);
    }

    #[test]
    fn what_is_received_at_an_unknown_time_is_in_no_gap_and_no_delay() {
        let flows = flows(Origin::now());
        let known = |at_ns| Moment::Known(at_ns);
        let received =
            [(0, 0, known(5)), (1, MS, known(MS + 5)), (2, 2 * MS, Moment::Unknown), (3, 3 * MS, known(3 * MS + 5))];
        let counted = counted(&flows, &received);
        assert_eq!((times(&counted).0, times(&counted).1), (Some(0), 1));
        assert_eq!((counted.sequence.unique, counted.arrivals.interval.unwrap().mean_ns()), (4, 5));
    }

    #[test]
    fn times_count_from_the_origin_however_the_wall_clock_is_set() {
        let origin = Origin::now();
        let flows = flows(origin);
        let mut counted = Counted::new(&flows.all[0], 100, origin);
        assert_eq!(counted.moment(None), Moment::Unknown);
        let Moment::Known(at_ns) = counted.moment(Some(origin.unix_ns)) else { panic!("the origin is known") };
        assert!((at_ns - origin.unix_ns).abs() < MS);
    }

    proptest! {
        #[test]
        fn duplicates_change_no_time(copies in proptest::collection::vec((0_u64..100, 0_i64..200), 0..300)) {
            let flows = flows(Origin::now());
            let mut received: Vec<_> =
                (0..100).map(|number: i64| (number * MS + number % 7 * 1000, number.cast_unsigned(), number * MS)).collect();
            let once: Vec<_> = received.iter().map(|(at, number, sent)| (*number, *sent, Moment::Known(*at))).collect();
            // After the first of its number in any case.
            received.extend(copies.iter().map(|(number, later)| {
                let sent_ns = number.cast_signed() * MS;
                (sent_ns + 7000 + later * MS, *number, sent_ns)
            }));
            received.sort_unstable_by_key(|(at, ..)| *at);
            let all: Vec<_> = received.iter().map(|(at, number, sent)| (*number, *sent, Moment::Known(*at))).collect();
            prop_assert_eq!(times(&counted(&flows, &once)), times(&counted(&flows, &all)));
        }
    }
}
