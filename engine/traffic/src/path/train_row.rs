//! The table `trains`: one row is one packet of a train or of a stream, as the sink saw it.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringArray};
use arrow_schema::{DataType, Field, Schema};

use super::datagram::Packet;
use crate::{
    defaults::PATH_ROWS_MAX_BYTES,
    samples::{Record, Tabular, meaning, take},
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

/// Name, type, unit, whether it may be absent, and meaning of each column.
#[rustfmt::skip]
const COLUMNS: [(&str, DataType, &str, bool, &str); 8] = [
    ("role", DataType::Utf8, "", false, "Which end saw this: sink."),
    ("train", DataType::Int64, "", false, "Number of the train or stream in its trial, in the order of sending; those of streams that were sent again are missing."),
    ("kind", DataType::Utf8, "", false, "train: its packets were sent one straight after the other; stream: at rate_bps. A stream that was held up on its own host is sent again, up to three times, and only the last one is kept. One during which the sink's clock was set is left out."),
    ("rate_bps", DataType::Int64, "bit/s", true, "Rate that the packets of a stream were sent at, of whole IP packets. Absent for a train."),
    ("sequence", DataType::Int64, "", false, "Number of the packet in its train, from 0; those that are missing were lost."),
    ("size_bytes", DataType::Int64, "bytes", false, "Size of its IP packet, headers included."),
    ("sent_ns", DataType::Int64, "ns", false, "When it was sent, by the source's clock read just before the call, since the source's origin. Where the gaps are as wide as those of received_ns, the source was the narrowest of all."),
    ("received_ns", DataType::Int64, "ns", false, "When the sink's kernel took it from the device, by the sink's clock, since the sink's origin: no delay can be told from it and sent_ns, only how delay changes."),
];

impl Record for TrainRow {
    const BYTES: usize = 4 + 4 + 8 + 8 + 4 + 8;
    const LOG_MAX_BYTES: u64 = PATH_ROWS_MAX_BYTES;

    fn encode(&self, record: &mut Vec<u8>) {
        record.extend(self.packet.train.to_le_bytes());
        record.extend(self.packet.sequence.to_le_bytes());
        record.extend(self.packet.rate_bps.unwrap_or(0).to_le_bytes());
        record.extend(self.packet.sent_ns.to_le_bytes());
        record.extend(self.size_bytes.to_le_bytes());
        record.extend(self.received_ns.to_le_bytes());
    }

    fn decode(mut record: &[u8]) -> Self {
        let rest = &mut record;
        let (train, sequence) = (u32::from_le_bytes(take(rest)), u32::from_le_bytes(take(rest)));
        let rate_bps = Some(u64::from_le_bytes(take(rest))).filter(|rate_bps| *rate_bps > 0);
        let packet = Packet { train, sequence, rate_bps, sent_ns: i64::from_le_bytes(take(rest)) };
        let size_bytes = u32::from_le_bytes(take(rest));
        Self { packet, size_bytes, received_ns: i64::from_le_bytes(take(rest)) }
    }
}

impl Tabular for TrainRow {
    const TABLE: &'static str = "trains";
    const TITLE: &'static str =
        "Trains: one row is one packet of a train or stream that shows the capacity of a path, or what is free of it";

    fn schema() -> Schema {
        let fields = COLUMNS.into_iter().map(|(name, kind, unit, nullable, description)| {
            Field::new(name, kind, nullable).with_metadata(meaning(unit, "", description))
        });
        Schema::new(fields.collect::<Vec<_>>())
    }

    fn columns(role: &str, rows: &[Self]) -> Vec<ArrayRef> {
        let kind = |row: &Self| if row.packet.rate_bps.is_some() { "stream" } else { "train" };
        let rates = rows.iter().map(|row| row.packet.rate_bps.map(u64::cast_signed));
        vec![
            Arc::new(StringArray::from_iter_values(rows.iter().map(|_| role))),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.packet.train.into()))),
            Arc::new(StringArray::from_iter_values(rows.iter().map(kind))),
            Arc::new(rates.collect::<Int64Array>()),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.packet.sequence.into()))),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.size_bytes.into()))),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.packet.sent_ns))),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.received_ns))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_survives_its_record() {
        for rate_bps in [None, Some(1)] {
            let packet = Packet { train: 7, sequence: u32::MAX, rate_bps, sent_ns: i64::MIN };
            let row = TrainRow { packet, size_bytes: 1500, received_ns: i64::MAX };
            let mut record = Vec::new();
            row.encode(&mut record);
            assert_eq!(record.len(), TrainRow::BYTES);
            assert_eq!(TrainRow::decode(&record), row);
        }
    }

    #[test]
    fn every_column_is_there_and_says_what_it_means() {
        let schema = TrainRow::schema();
        assert!(schema.fields().iter().all(|field| field.metadata().contains_key("description")));
        assert_eq!(TrainRow::columns("sink", &[]).len(), schema.fields().len());
    }
}
