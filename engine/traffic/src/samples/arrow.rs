use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, StringArray};
use arrow_schema::{DataType, Field, Schema};
use sys::{BbrInfo, FIELDS, Kind};

use super::{
    Sample,
    stream::{Tabular, meaning},
};

const OWN_COLUMNS: [(&str, DataType, &str, &str); 5] = [
    ("role", DataType::Utf8, "", "Which end saw this: source or sink."),
    ("flow", DataType::Int32, "", "Index of the flow in its trial, from 0."),
    (
        "start_ns",
        DataType::Int64,
        "ns",
        "Beginning of the interval, since this end's origin. A sink's first row begins with the flow's first byte.",
    ),
    ("end_ns", DataType::Int64, "ns", "End of the interval, exclusive, since this end's origin."),
    ("bytes", DataType::Int64, "bytes", "Application bytes in the interval: written by a source, read by a sink."),
];

type BbrColumn = (&'static str, &'static str, &'static str, fn(&BbrInfo) -> u64);

/// Of `struct tcp_bbr_info`; absent at a sink and where another congestion control sends.
const BBR_COLUMNS: [BbrColumn; 4] = [
    (
        "bbr_bw_bytes_per_s",
        "bytes/s",
        "Bottleneck bandwidth as bbr believes it: the highest delivery rate of the last ten round trips. Absent at a \
         sink and with another congestion control.",
        |bbr| bbr.bandwidth_bytes_per_s,
    ),
    (
        "bbr_min_rtt_us",
        "us",
        "Smallest round-trip time of the last ten seconds, as bbr believes it; 4294967295 means none yet.",
        |bbr| u64::from(bbr.min_rtt_us),
    ),
    ("bbr_pacing_gain", "1/256", "Factor that bbr paces with, times 256, as the kernel keeps it.", |bbr| {
        u64::from(bbr.pacing_gain)
    }),
    ("bbr_cwnd_gain", "1/256", "Factor of bbr's congestion window, times 256, as the kernel keeps it.", |bbr| {
        u64::from(bbr.cwnd_gain)
    }),
];

impl Tabular for Sample {
    const TABLE: &'static str = "samples";
    const TITLE: &'static str = "Samples: one row is one flow, one end, one sample interval";

    fn schema() -> Schema {
        let own = OWN_COLUMNS.into_iter().map(|(name, kind, unit, description)| {
            Field::new(name, kind, false).with_metadata(meaning(unit, "", description))
        });
        let kernel = FIELDS.iter().map(|field| {
            let kind = if field.kind == Kind::Counter { "counter" } else { "gauge" };
            let mut metadata = meaning(field.unit, kind, field.description);
            if let Some(bits) = field.counter_bits() {
                metadata.insert("counter_bits".to_owned(), bits.to_string());
            }
            Field::new(field.name, DataType::Int64, true).with_metadata(metadata)
        });
        let bbr = BBR_COLUMNS.into_iter().map(|(name, unit, description, _)| {
            Field::new(name, DataType::Int64, true).with_metadata(meaning(unit, "gauge", description))
        });
        Schema::new(own.chain(kernel).chain(bbr).collect::<Vec<_>>())
    }

    fn columns(role: &str, rows: &[Self]) -> Vec<ArrayRef> {
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from_iter_values(rows.iter().map(|_| role))),
            Arc::new(Int32Array::from_iter_values(rows.iter().map(|sample| sample.flow.cast_signed()))),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|sample| sample.start_ns))),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|sample| sample.end_ns))),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|sample| sample.bytes.cast_signed()))),
        ];
        for field in FIELDS {
            let values = rows.iter().map(|sample| field.value(&sample.tcp_info).map(u64::cast_signed));
            columns.push(Arc::new(values.collect::<Int64Array>()));
        }
        for (_, _, _, value) in BBR_COLUMNS {
            let values = rows.iter().map(|sample| sample.bbr.as_ref().map(|bbr| value(bbr).cast_signed()));
            columns.push(Arc::new(values.collect::<Int64Array>()));
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_ipc::reader::StreamReader;
    use sys::TcpInfo;
    use wire::Role;

    use super::*;
    use crate::samples::{SampleLog, for_each_batch};

    #[test]
    fn a_log_becomes_streams_that_say_whose_they_are() {
        let mut log = SampleLog::new();
        let bbr = Some(BbrInfo { bandwidth_bytes_per_s: 5, ..BbrInfo::default() });
        for flow in 0..20_000 {
            let tcp_info = TcpInfo::from_bytes(&[1; 104]);
            log.push(&Sample { flow, start_ns: 1, end_ns: 2, bytes: 3, tcp_info, bbr });
        }
        let mut seen = 0;
        let (rows, whole) = for_each_batch(log, "t1", Role::Sink, |batch| {
            for records in StreamReader::try_new(&batch.0[..], None).unwrap() {
                let records = records.unwrap();
                assert_eq!(records.schema().metadata()["trial"], "t1");
                assert_eq!(records.schema().metadata()["table"], "samples");
                let late = records.column_by_name("received_ce_bytes").unwrap();
                assert_eq!(late.null_count(), records.num_rows());
                let bandwidth = records.column_by_name("bbr_bw_bytes_per_s").unwrap();
                assert_eq!(bandwidth.as_any().downcast_ref::<Int64Array>().unwrap().value(0), 5);
                seen += records.num_rows();
            }
        });
        assert!(whole.is_ok());
        assert_eq!(rows, 20_000);
        assert_eq!(seen, 20_000);
    }

    #[test]
    fn every_column_says_what_it_means() {
        for field in Sample::schema().fields() {
            assert!(field.metadata().contains_key("description"), "{} is not described", field.name());
        }
    }
}
