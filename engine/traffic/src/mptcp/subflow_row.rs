//! The table `subflows`: one row is one subflow of one flow, one end, one sample interval.

use std::net::SocketAddr;

use sys::{MptcpInfo, Subflow, TcpInfo};

use crate::{
    defaults::SAMPLES_MAX_BYTES,
    samples::{Column, Record, Sample, Tabular, kernel_columns, record},
};

/// One subflow, one sample interval.
#[derive(Clone, Copy, Debug)]
pub struct SubflowRow {
    flow: u32,
    subflow: u32,
    start_ns: i64,
    end_ns: i64,
    local: SocketAddr,
    remote: SocketAddr,
    connection_sent_bytes: u64,
    connection_received_bytes: u64,
    connection_reinjected_bytes: u64,
    connection_acked_bytes: u64,
    tcp_info: TcpInfo,
}

impl SubflowRow {
    /// What the kernel says of a subflow at the end of a flow's sample.
    #[must_use]
    pub fn new(sample: &Sample, connection: &MptcpInfo, subflow: &Subflow) -> Self {
        Self {
            flow: sample.flow,
            subflow: subflow.id,
            start_ns: sample.start_ns,
            end_ns: sample.end_ns,
            local: subflow.local,
            remote: subflow.remote,
            connection_sent_bytes: connection.bytes_sent,
            connection_received_bytes: connection.bytes_received,
            connection_reinjected_bytes: connection.bytes_reinjected,
            connection_acked_bytes: connection.bytes_acked,
            tcp_info: subflow.tcp_info,
        }
    }
}

record!(SubflowRow {
    flow: u32,
    subflow: u32,
    start_ns: i64,
    end_ns: i64,
    local: SocketAddr,
    remote: SocketAddr,
    connection_sent_bytes: u64,
    connection_received_bytes: u64,
    connection_reinjected_bytes: u64,
    connection_acked_bytes: u64,
    tcp_info: TcpInfo,
});

impl Record for SubflowRow {
    const LOG_MAX_BYTES: u64 = SAMPLES_MAX_BYTES;
}

impl Tabular for SubflowRow {
    const TABLE: &'static str = "subflows";
    const TITLE: &'static str =
        "Subflows of Multipath TCP: one row is one subflow of one flow, one end, one sample interval";

    fn columns() -> Vec<Column<Self>> {
        let counter = |name, meaning: &str, value: fn(&Self) -> u64| {
            Column::int64(name, "bytes", meaning, move |row: &Self| value(row).cast_signed()).with("kind", "counter")
        };
        let [start_ns, end_ns] = Column::bounds_of_sample(|row: &Self| row.start_ns, |row| row.end_ns);
        let own = [
            Column::role("Which end saw this: source or sink."),
            Column::flow(|row: &Self| row.flow),
            Column::int32(
                "subflow",
                "",
                "Number of the subflow within its flow, as this end's kernel counts; 1 is the first one.",
                |row: &Self| row.subflow.cast_signed(),
            ),
            start_ns,
            end_ns,
            Column::text_if_any("local_address", "Address of this end.", |row: &Self| {
                Some(row.local.ip().to_string().into())
            }),
            Column::int32("local_port", "", "Port of this end.", |row: &Self| row.local.port().into()),
            Column::text_if_any("remote_address", "Address of the other end.", |row: &Self| {
                Some(row.remote.ip().to_string().into())
            }),
            Column::int32("remote_port", "", "Port of the other end.", |row: &Self| row.remote.port().into()),
            counter(
                "connection_sent_bytes",
                "Payload bytes that the whole flow has sent so far, each counted once.",
                |row| row.connection_sent_bytes,
            ),
            counter(
                "connection_received_bytes",
                "Payload bytes that the whole flow has received so far, each counted once.",
                |row| row.connection_received_bytes,
            ),
            counter(
                "connection_reinjected_bytes",
                "Payload bytes that MPTCP itself has sent once more so far (reinjected), on this subflow or on another one.",
                |row| row.connection_reinjected_bytes,
            ),
            counter(
                "connection_acked_bytes",
                "Payload bytes of the whole flow that the other end has acknowledged so far.",
                |row| row.connection_acked_bytes,
            ),
        ];
        own.into_iter().chain(kernel_columns(|row: &Self| &row.tcp_info)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::assert_kept;

    #[test]
    fn what_goes_in_comes_out() {
        let row = SubflowRow {
            flow: 3,
            subflow: 2,
            start_ns: -5,
            end_ns: i64::MAX,
            local: "192.0.2.1:5000".parse().unwrap(),
            remote: "[2001:db8::1]:65535".parse().unwrap(),
            connection_sent_bytes: u64::MAX,
            connection_received_bytes: 1,
            connection_reinjected_bytes: 2,
            connection_acked_bytes: 3,
            tcp_info: TcpInfo::from_bytes(&[9; 104]),
        };
        assert_kept(&[row]);
    }

    #[test]
    fn every_column_says_what_it_means_and_none_comes_twice() {
        let columns = SubflowRow::columns();
        let mut names: Vec<_> = columns.iter().map(|column| column.field().name().clone()).collect();
        assert!(columns.iter().all(|column| column.field().metadata().contains_key("description")));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), columns.len());
    }
}
