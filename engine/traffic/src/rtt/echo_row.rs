//! The table `echoes`: one row is one probe of the round-trip time.

use wire::Echo;

use crate::{
    defaults::ECHOES_MAX_BYTES,
    samples::{Column, Record, Tabular, code, record},
};

/// A probe and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoRow {
    /// Its number.
    pub sequence: u64,
    /// The kind of probe.
    pub echo: Echo,
    /// Payload of request and response, in bytes.
    pub size_bytes: u32,
    /// When it was sent, in nanoseconds since this end's origin.
    pub sent_ns: i64,
    /// How long the response took; absent if none was received in time.
    pub rtt_ns: Option<i64>,
}

record!(EchoRow { sequence: u64, echo: Echo, size_bytes: u32, sent_ns: i64, rtt_ns: Option<i64> });
code!(Echo { Auto, Icmp, Udp, TcpConnect });

impl Record for EchoRow {
    const LOG_MAX_BYTES: u64 = ECHOES_MAX_BYTES;
}

impl Tabular for EchoRow {
    const TABLE: &'static str = "echoes";
    const TITLE: &'static str = "Echoes: one row is one probe of the round-trip time";

    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::role("Which end saw this: always source."),
            Column::int32("flow", "", "Index of the measurement in its trial, from 0.", |_: &Self| 0),
            Column::int64("sequence", "", "Number of the probe, from 0.", |row: &Self| row.sequence.cast_signed()),
            Column::text(
                "echo",
                "Kind of probe: icmp (the sink's kernel answers), udp (its engine does), tcp_connect (the handshake \
                 of a connection).",
                |row: &Self| name(row.echo),
            ),
            Column::int64(
                "size_bytes",
                "bytes",
                "Payload of the probe, and of its response, after the headers of UDP or ICMP; 0 for tcp_connect.",
                |row: &Self| row.size_bytes.into(),
            ),
            Column::int64(
                "sent_ns",
                "ns",
                "When the engine handed the probe to the kernel, since the source's origin.",
                |row: &Self| row.sent_ns,
            ),
            Column::int64_if_any(
                "rtt_ns",
                "ns",
                "From sent_ns until the response arrived: by the kernel's receiving time for icmp and udp, by the engine's \
                 clock for tcp_connect. Null if no response arrived in time.",
                |row: &Self| row.rtt_ns,
            ),
        ]
    }
}

fn name(echo: Echo) -> &'static str {
    match echo {
        Echo::Auto | Echo::Icmp => "icmp",
        Echo::Udp => "udp",
        Echo::TcpConnect => "tcp_connect",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::assert_kept;

    #[test]
    fn a_row_survives_its_record() {
        for (echo, rtt_ns) in [(Echo::Icmp, Some(0)), (Echo::Udp, Some(i64::MAX)), (Echo::TcpConnect, None)] {
            let row = EchoRow { sequence: u64::MAX, echo, size_bytes: 7, sent_ns: -3, rtt_ns };
            assert_kept(&[row]);
        }
    }
}
