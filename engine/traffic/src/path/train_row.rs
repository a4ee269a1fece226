//! The table `trains`: one row is one packet of a train or of a stream, as the sink saw it.

use super::datagram::Packet;
use crate::{
    defaults::PATH_ROWS_MAX_BYTES,
    samples::{Column, Record, Tabular, record},
};

/// One packet of a train or of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainRow {
    /// What the source wrote into it.
    pub packet: Packet,
    /// Size of its IP packet.
    pub size_bytes: u32,
    /// When it arrived, in nanoseconds since the sink's origin.
    pub received_ns: i64,
}

record!(TrainRow { packet: Packet, size_bytes: u32, received_ns: i64 });
record!(Packet { train: u32, sequence: u32, rate_bps: Option<u64>, sent_ns: i64 });

impl Record for TrainRow {
    const LOG_MAX_BYTES: u64 = PATH_ROWS_MAX_BYTES;
}

impl Tabular for TrainRow {
    const TABLE: &'static str = "trains";
    const TITLE: &'static str = "Trains: one row is one packet of a train or stream that shows the capacity of a path, or its available bandwidth";

    #[rustfmt::skip]
    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::role("Which end saw this: sink."),
            Column::int64("train", "", "Number of the train or stream in its trial, in the order of sending; those of streams that were sent again are missing.", |row: &Self| row.packet.train.into()),
            Column::text("kind", "train: its packets were sent one straight after the other; stream: at rate_bps. A stream that was held up on its own host is sent again, up to three times, and only the last one is kept. One during which the sink's clock was set is left out.", |row: &Self| if row.packet.rate_bps.is_some() { "stream" } else { "train" }),
            Column::int64_if_any("rate_bps", "bit/s", "Rate that the packets of a stream were sent at, of whole IP packets. Absent for a train.", |row: &Self| row.packet.rate_bps.map(u64::cast_signed)),
            Column::int64("sequence", "", "Number of the packet in its train, from 0; those that are missing were lost, or came only after a packet of a later train. One that came again counts as it came first.", |row: &Self| row.packet.sequence.into()),
            Column::int64("size_bytes", "bytes", "Size of its IP packet, headers included.", |row: &Self| row.size_bytes.into()),
            Column::int64("sent_ns", "ns", "When it was sent, by the source's clock read just before the call, since the source's origin. Where the gaps are as wide as those of received_ns, the source was the narrowest of all.", |row: &Self| row.packet.sent_ns),
            Column::int64("received_ns", "ns", "When the sink's kernel took it from the device, by the sink's clock, since the sink's origin: the two clocks are not synchronised, so only changes of delay follow from it and sent_ns.", |row: &Self| row.received_ns),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::assert_kept;

    #[test]
    fn a_row_survives_its_record() {
        for rate_bps in [None, Some(1)] {
            let packet = Packet { train: 7, sequence: u32::MAX, rate_bps, sent_ns: i64::MIN };
            let row = TrainRow { packet, size_bytes: 1500, received_ns: i64::MAX };
            assert_kept(&[row]);
        }
    }
}
