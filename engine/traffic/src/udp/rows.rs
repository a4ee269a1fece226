//! The tables `datagrams` and `histograms`.

use crate::{
    defaults::{DATAGRAM_ROWS_MAX_BYTES, HISTOGRAM_ROWS_MAX_BYTES},
    samples::{Column, Record, Tabular, code, record},
};

/// One flow, one sample interval: what became of its datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramRow {
    /// Index of the flow.
    pub flow: u32,
    /// Beginning of the interval, in nanoseconds since this end's origin.
    pub start_ns: i64,
    /// End of the interval, exclusive.
    pub end_ns: i64,
    /// Sent, or different ones received.
    pub datagrams: u64,
    /// Of those received, after a higher number.
    pub reordered: u64,
    /// Received again.
    pub duplicates: u64,
    /// Skipped, less those that were received after all.
    pub missing: i64,
    /// Interarrival jitter at the end of the interval.
    pub jitter_ns: Option<i64>,
    /// Smallest, mean and largest delay.
    pub delays_ns: Option<[i64; 3]>,
}

/// One bucket of a histogram of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistogramRow {
    /// Index of the flow.
    pub flow: u32,
    /// What was counted.
    pub quantity: Quantity,
    /// Smallest value of the bucket.
    pub low: i64,
    /// The first above it.
    pub high: i64,
    /// How many lay in it.
    pub count: u64,
}

/// What a histogram is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// From one datagram to the next, in nanoseconds.
    Spacing,
    /// One-way delay above the flow's smallest, in nanoseconds.
    Delay,
    /// Numbers in a row that were lost.
    LossBurst,
    /// How many later ones were received before one that was reordered.
    ReorderingExtent,
}

const QUANTITIES: [(Quantity, &str); 4] = [
    (Quantity::Spacing, "spacing"),
    (Quantity::Delay, "delay"),
    (Quantity::LossBurst, "loss_burst"),
    (Quantity::ReorderingExtent, "reordering_extent"),
];

/// Name, unit, whether it may be absent, and meaning of each number of a row of datagrams.
#[rustfmt::skip]
const DATAGRAM_COLUMNS: [(&str, &str, bool, &str); 10] = [
    ("start_ns", "ns", false, "Beginning of the interval, since this end's origin. A sink's first row begins with the flow's first datagram."),
    ("end_ns", "ns", false, "End of the interval, exclusive, since this end's origin."),
    ("datagrams", "datagrams", false, "A source's: handed to the kernel. A sink's: different ones that its application received."),
    ("reordered", "datagrams", false, "Of those received, after one with a higher number (RFC 4737). 0 at a source."),
    ("duplicates", "datagrams", false, "Received again (RFC 5560); not among datagrams. 0 at a source."),
    ("missing", "datagrams", false, "Sequence numbers skipped, minus skipped ones that were received later: negative if there are more of the latter. 0 at a source. What is still missing after the drain is lost."),
    ("jitter_ns", "ns", true, "Interarrival jitter at the end of the interval (RFC 3550), from the kernel's times, of first copies in the order of arrival. With UDP_GRO from the first datagram of each buffer. Absent at a source."),
    ("delay_min_ns", "ns", true, "Smallest difference of receiving and sending time, each by its own host's wall clock as it went on from the host's origin, whatever it was set to since: it may be negative. Of first copies only. With UDP_GRO of the first datagram of each buffer, as the others. Absent at a source, and if nothing was received."),
    ("delay_mean_ns", "ns", true, "Mean of the same."),
    ("delay_max_ns", "ns", true, "Largest of the same."),
];

record!(DatagramRow {
    flow: u32,
    start_ns: i64,
    end_ns: i64,
    datagrams: u64,
    reordered: u64,
    duplicates: u64,
    missing: i64,
    jitter_ns: Option<i64>,
    delays_ns: Option<[i64; 3]>,
});

impl Record for DatagramRow {
    const LOG_MAX_BYTES: u64 = DATAGRAM_ROWS_MAX_BYTES;
}

impl DatagramRow {
    /// In the order of [`DATAGRAM_COLUMNS`].
    fn values(&self) -> [Option<i64>; DATAGRAM_COLUMNS.len()] {
        let [datagrams, reordered, duplicates] =
            [self.datagrams, self.reordered, self.duplicates].map(|count| Some(count.cast_signed()));
        let [min_ns, mean_ns, max_ns] = self.delays_ns.map_or([None; 3], |delays_ns| delays_ns.map(Some));
        [
            Some(self.start_ns),
            Some(self.end_ns),
            datagrams,
            reordered,
            duplicates,
            Some(self.missing),
            self.jitter_ns,
            min_ns,
            mean_ns,
            max_ns,
        ]
    }
}

impl Tabular for DatagramRow {
    const TABLE: &'static str = "datagrams";
    const TITLE: &'static str = "Datagrams: one row is one flow, one end, one sample interval";

    fn columns() -> Vec<Column<Self>> {
        let values = DATAGRAM_COLUMNS.into_iter().enumerate().map(|(index, (name, unit, nullable, meaning))| {
            Column::int64_if_any(name, unit, meaning, move |row: &Self| row.values()[index]).nullable(nullable)
        });
        keys(|row: &Self| row.flow).into_iter().chain(values).collect()
    }
}

record!(HistogramRow { flow: u32, quantity: Quantity, low: i64, high: i64, count: u64 });
code!(Quantity { Spacing, Delay, LossBurst, ReorderingExtent });

impl Record for HistogramRow {
    const LOG_MAX_BYTES: u64 = HISTOGRAM_ROWS_MAX_BYTES;
}

impl Tabular for HistogramRow {
    const TABLE: &'static str = "histograms";
    const TITLE: &'static str = "Histograms: one row is one bucket of one quantity of one flow at one end";

    fn columns() -> Vec<Column<Self>> {
        let name = |of: Quantity| QUANTITIES.iter().find(|(quantity, _)| *quantity == of).map_or("", |(_, name)| *name);
        let values = [
            Column::text(
                "quantity",
                "spacing: from one datagram of the flow to its next; a source's from the times it handed them over, 0 between those \
                 handed over together, a sink's from the kernel's times, with UDP_GRO from buffer to buffer. delay: receiving less \
                 sending time, above the flow's smallest. loss_burst: numbers in a row that never came. reordering_extent: how many \
                 later ones had come before one that was reordered (RFC 4737, 4.2.1). A sink's only, but spacing.",
                move |row: &Self| name(row.quantity),
            ),
            Column::int64(
                "low",
                "",
                "Smallest value of the bucket: in nanoseconds for spacing and delay, otherwise in datagrams.",
                |row: &Self| row.low,
            ),
            Column::int64(
                "high",
                "",
                "The first value above the bucket. Buckets of spacing are 1 % wide at most, of delay 1 % of what is 20 us longer, \
                 others 0.1 %.",
                |row: &Self| row.high,
            ),
            Column::int64(
                "count",
                "",
                "How many values lay in the bucket. Empty buckets have no row.",
                |row: &Self| row.count.cast_signed(),
            ),
        ];
        keys(|row: &Self| row.flow).into_iter().chain(values).collect()
    }
}

fn keys<R>(flow: impl Fn(&R) -> u32 + 'static) -> [Column<R>; 2] {
    [Column::role("Which end saw this: source or sink."), Column::flow(flow)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::assert_kept;

    #[test]
    fn rows_survive_their_records() {
        let row = DatagramRow {
            flow: 3,
            start_ns: -1,
            end_ns: i64::MAX,
            datagrams: 5,
            reordered: 1,
            duplicates: 2,
            missing: -4,
            jitter_ns: None,
            delays_ns: Some([-7, 0, 7]),
        };
        assert_kept(&[row, DatagramRow { jitter_ns: Some(9), delays_ns: None, ..row }]);
        for (quantity, _) in QUANTITIES {
            let row = HistogramRow { flow: 1, quantity, low: 0, high: 1, count: u64::MAX };
            assert_kept(&[row]);
        }
    }
}
