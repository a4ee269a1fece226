//! The tables `quic`, one row of one connection, and `streams`, one row of one stream, each of one end and sample interval.

use std::sync::atomic::Ordering;

use crate::{
    defaults::SAMPLES_MAX_BYTES,
    quic::connection::QuicFlow,
    samples::{Column, Record, Sample, Tabular, record},
};

/// A quantity of a connection: name, unit, whether it is a running count, meaning, and its value.
type Quantity = (&'static str, &'static str, bool, &'static str);

const QUANTITIES: [Quantity; 23] = [
    ("rtt_us", "us", false, "Smoothed round-trip time (RFC 9002, section 5)."),
    ("min_rtt_us", "us", false, "Minimum round-trip time so far."),
    ("cwnd_bytes", "bytes", false, "Congestion window."),
    ("in_flight_bytes", "bytes", false, "Sent and not acknowledged, after the last acknowledgement; headers count."),
    ("mtu_bytes", "bytes", false, "Largest UDP payload that the path is known to carry."),
    ("packets_sent", "packets", true, "Packets sent."),
    ("packets_lost", "packets", true, "Packets declared lost, probes of the path's MTU left out."),
    ("bytes_lost", "bytes", true, "What was in them."),
    ("congestion_events", "events", true, "Reductions of the congestion window."),
    ("black_holes", "events", true, "Times the path was found to carry less than before."),
    ("mtu_probes_sent", "packets", true, "Packets that tried a larger MTU (RFC 8899)."),
    ("mtu_probes_lost", "packets", true, "Of those, the lost ones."),
    ("datagrams_sent", "datagrams", true, "UDP datagrams sent."),
    ("datagram_bytes_sent", "bytes", true, "Their payload: all that QUIC sends, encrypted."),
    ("send_calls", "calls", true, "Calls that sent them: several datagrams go in one where the kernel cuts."),
    ("datagrams_received", "datagrams", true, "UDP datagrams received."),
    ("datagram_bytes_received", "bytes", true, "Their payload."),
    (
        "receive_calls",
        "calls",
        true,
        "The same, as the library counts: it has taken apart what the kernel handed over at once.",
    ),
    (
        "data_blocked_sent",
        "frames",
        true,
        "DATA_BLOCKED and STREAM_DATA_BLOCKED frames sent: the peer's window was full.",
    ),
    ("max_data_received", "frames", true, "MAX_DATA and MAX_STREAM_DATA frames received: the peer opened its window."),
    (
        "congestion_limited_us",
        "us",
        true,
        "Time in which congestion control or pacing held back what waited, between acknowledgements.",
    ),
    (
        "flow_control_limited_us",
        "us",
        true,
        "Time in which the application waited to write although the congestion window had room: a window of the peer's, or \
         the source's own, was full.",
    ),
    ("application_limited_us", "us", true, "Time in which there was nothing to send."),
];

/// One connection, one sample interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuicRow {
    flow: u32,
    start_ns: i64,
    end_ns: i64,
    /// In the order of [`QUANTITIES`].
    quantities: [u64; QUANTITIES.len()],
}

impl QuicRow {
    /// What the library says of a flow at the end of its sample.
    pub fn new(sample: &Sample, flow: &QuicFlow) -> Self {
        let stats = flow.connection.connection.stats();
        let (path, sent, received) = (stats.path, stats.udp_tx, stats.udp_rx);
        let held = &flow.connection.held;
        let micros = |duration: std::time::Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let quantities = [
            micros(path.rtt),
            micros(path.min_rtt),
            path.cwnd,
            held.in_flight_bytes.load(Ordering::Relaxed),
            path.current_mtu.into(),
            path.sent_packets,
            path.lost_packets,
            path.lost_bytes,
            path.congestion_events,
            path.black_holes_detected,
            path.sent_plpmtud_probes,
            path.lost_plpmtud_probes,
            sent.datagrams,
            sent.bytes,
            sent.ios,
            received.datagrams,
            received.bytes,
            received.ios,
            stats.frame_tx.data_blocked + stats.frame_tx.stream_data_blocked,
            stats.frame_rx.max_data + stats.frame_rx.max_stream_data,
            held.congestion_us.load(Ordering::Relaxed),
            held.flow_control_us.load(Ordering::Relaxed),
            held.application_us.load(Ordering::Relaxed),
        ];
        Self { flow: sample.flow, start_ns: sample.start_ns, end_ns: sample.end_ns, quantities }
    }
}

record!(QuicRow { flow: u32, start_ns: i64, end_ns: i64, quantities: [u64; QUANTITIES.len()] });

impl Record for QuicRow {
    const LOG_MAX_BYTES: u64 = SAMPLES_MAX_BYTES;
}

impl Tabular for QuicRow {
    const TABLE: &'static str = "quic";
    const TITLE: &'static str = "QUIC: one row is one connection, one end, one sample interval";

    fn columns() -> Vec<Column<Self>> {
        let [start_ns, end_ns] = Column::bounds_of_sample(|row: &Self| row.start_ns, |row| row.end_ns);
        let own = [
            Column::role("Which end saw this: source or sink."),
            Column::flow(|row: &Self| row.flow),
            start_ns,
            end_ns,
        ];
        let quantities = QUANTITIES.into_iter().enumerate().map(|(place, (name, unit, counts, meaning))| {
            let value = move |row: &Self| row.quantities[place].cast_signed();
            Column::int64(name, unit, meaning, value).with("kind", if counts { "counter" } else { "gauge" })
        });
        own.into_iter().chain(quantities).collect()
    }
}

/// One stream, one sample interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamRow {
    /// Index of the flow.
    pub flow: u32,
    /// Number of the stream within it.
    pub stream: u32,
    /// Beginning of the flow's sample.
    pub start_ns: i64,
    /// Its end.
    pub end_ns: i64,
    /// Application bytes since the flow began.
    pub bytes: u64,
}

record!(StreamRow { flow: u32, stream: u32, start_ns: i64, end_ns: i64, bytes: u64 });

impl Record for StreamRow {
    const LOG_MAX_BYTES: u64 = SAMPLES_MAX_BYTES;
}

impl Tabular for StreamRow {
    const TABLE: &'static str = "streams";
    const TITLE: &'static str = "Streams of QUIC: one row is one stream, one end, one sample interval";

    fn columns() -> Vec<Column<Self>> {
        let [start_ns, end_ns] = Column::bounds_of_sample(|row: &Self| row.start_ns, |row| row.end_ns);
        vec![
            Column::role("Which end saw this: source or sink."),
            Column::flow(|row: &Self| row.flow),
            Column::int32(
                "stream",
                "",
                "Number of the stream in its flow, from 0, in the order of its numbers in QUIC.",
                |row: &Self| row.stream.cast_signed(),
            ),
            start_ns,
            end_ns,
            Column::int64(
                "stream_bytes",
                "bytes",
                "Application bytes of the stream so far: written by a source, read by a sink.",
                |row: &Self| row.bytes.cast_signed(),
            )
            .with("kind", "counter"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::assert_kept;

    #[test]
    fn what_goes_in_comes_out() {
        let mut quantities = [0; QUANTITIES.len()];
        (0..).zip(&mut quantities).for_each(|(number, quantity)| *quantity = number);
        let row = QuicRow { flow: 3, start_ns: -5, end_ns: i64::MAX, quantities };
        assert_kept(&[row]);
        let row = StreamRow { flow: 1, stream: 2, start_ns: 3, end_ns: 4, bytes: u64::MAX };
        assert_kept(&[row]);
    }
}
