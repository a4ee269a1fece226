use sys::{BbrInfo, FIELDS, Kind, TcpInfo};

use super::{Sample, column::Column, stream::Tabular};

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

/// The columns of what the kernel says of a TCP connection, for rows that have that.
pub fn kernel_columns<R: 'static>(info: fn(&R) -> &TcpInfo) -> impl Iterator<Item = Column<R>> {
    FIELDS.iter().map(move |field| {
        let kind = if field.kind == Kind::Counter { "counter" } else { "gauge" };
        let value = move |row: &R| field.value(info(row)).map(u64::cast_signed);
        let bits = field.counter_bits().map_or_else(String::new, |bits| bits.to_string());
        let column = Column::int64_if_any(field.name, field.unit, field.description, value);
        column.with("kind", kind).with("counter_bits", bits)
    })
}

impl Tabular for Sample {
    const TABLE: &'static str = "samples";
    const TITLE: &'static str = "Samples: one row is one flow, one end, one sample interval";

    fn columns() -> Vec<Column<Self>> {
        let own = [
            Column::role("Which end saw this: source or sink."),
            Column::flow(|sample: &Self| sample.flow),
            Column::int64(
                "start_ns",
                "ns",
                "Beginning of the interval, since this end's origin. A sink's first row begins with the flow's first byte.",
                |sample: &Self| sample.start_ns,
            ),
            Column::int64(
                "end_ns",
                "ns",
                "End of the interval, exclusive, since this end's origin.",
                |sample: &Self| sample.end_ns,
            ),
            Column::int64(
                "bytes",
                "bytes",
                "Application bytes in the interval: written by a source, read by a sink.",
                |sample: &Self| sample.bytes.cast_signed(),
            ),
        ];
        let kernel = kernel_columns(|sample: &Self| &sample.tcp_info);
        let bbr = BBR_COLUMNS.into_iter().map(|(name, unit, description, value)| {
            let value = move |sample: &Self| sample.bbr.as_ref().map(|bbr| value(bbr).cast_signed());
            Column::int64_if_any(name, unit, description, value).with("kind", "gauge")
        });
        own.into_iter().chain(kernel).chain(bbr).collect()
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{Array, Int64Array};
    use arrow_ipc::reader::StreamReader;
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
        for field in Sample::columns().iter().map(Column::field) {
            assert!(field.metadata().contains_key("description"), "{} is not described", field.name());
        }
    }
}
