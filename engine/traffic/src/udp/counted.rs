//! What a sink's thread counts of one flow, and how it tells it: to the coordinator meanwhile, and at the end.

use wire::{Strangers, UdpCounts};

use super::{
    arrivals::Arrivals,
    histograms,
    rows::{HistogramRow, Quantity},
    sequence::{Arrival, Sequence},
    stream::{NotOurs, Outcome, Tally, UdpFlow, UdpFlows},
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
    /// What came to its socket and is not of it.
    pub strangers: Strangers,
}

impl<'a> Counted<'a> {
    /// Of datagrams of `length` bytes, none of which has come.
    pub fn new(flow: &'a UdpFlow, length: usize) -> Self {
        Self {
            flow,
            length,
            fresh: 0,
            sequence: Sequence::new(),
            arrivals: Arrivals::new(),
            strangers: Strangers::default(),
        }
    }

    /// Counts a datagram. Of several that came at one time the first takes `arrived_ns`, and stands for them.
    #[inline]
    pub fn take(&mut self, number: u64, sent_unix_ns: i64, arrived_ns: &mut Option<i64>) {
        match self.sequence.take(number) {
            Arrival::New => self.fresh += 1,
            Arrival::Duplicate | Arrival::TooOld => {}
            Arrival::Implausible => return NotOurs::NotAnEngine.count(&mut self.strangers),
        }
        if let Some(arrived_ns) = arrived_ns.take() {
            self.arrivals.observe(arrived_ns, sent_unix_ns);
        }
    }

    /// Whether new datagrams have come since they were last told.
    pub fn has_fresh(&self) -> bool {
        self.fresh > 0
    }

    /// Tells the coordinator what has come. `more`: what else it is told of the times.
    pub fn publish(&mut self, flows: &UdpFlows, more: impl FnOnce(&mut Tally, &mut Arrivals)) {
        let mut tally = self.flow.connection.tally();
        tally.reordered = self.sequence.reordered;
        tally.duplicates = self.sequence.duplicates;
        tally.missing = self.sequence.missing();
        tally.jitter_ns = self.arrivals.jitter_ns();
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
        let rows_of_delay = delay.into_iter().flat_map(|delay| {
            let (above_min, below) = delay.above_min();
            histograms::rows(flow, Quantity::Delay, above_min, below)
        });
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
            socket_dropped: sys::socket_drops(&self.flow.connection.socket).ok().map(u64::from),
            jitter_ns: arrivals.jitter_ns(),
            delay_min_ns: delay.and_then(|delay| delay.min_ns),
            ..UdpCounts::default()
        };
        self.flow.connection.leave(Outcome { counts, histograms: rows, strangers: self.strangers });
    }
}
