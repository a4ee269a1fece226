//! What an engine must know of a trial of QUIC (RFC 9000).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of one end's connections. Times in whole microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuicSettings {
    /// The other end is a server of QUIC's perf protocol (draft-banks-quic-performance), to which this one connects; another
    /// engine if not.
    pub perf: bool,
    /// Parallel connections.
    pub flows: u32,
    /// Streams of each connection, all of them sent at once.
    pub streams: u32,
    /// Bytes handed to one write.
    pub length_bytes: u32,
    /// Of a connection: what a sink lets the source send ahead of what it has read (`MAX_DATA`), or what a source keeps
    /// that is not acknowledged; the implementation's own if absent.
    pub window_bytes: Option<u64>,
    /// Of each stream, what a sink lets the source send ahead (`MAX_STREAM_DATA`); the implementation's own if absent.
    pub stream_window_bytes: Option<u64>,
    /// Congestion control: `cubic`, `newreno` or `bbr`; the implementation's own if absent.
    pub congestion: Option<String>,
    /// Payload of UDP datagrams; found on the path (RFC 8899), up to 1452 B, if absent.
    pub datagram_bytes: Option<u16>,
    /// Have the kernel cut what is sent at once into datagrams (`UDP_SEGMENT`).
    pub gso: bool,
    /// Have the kernel hand over several datagrams at once (`UDP_GRO`) where it can.
    pub gro: bool,
    /// How long the source sends once every flow runs.
    pub duration_us: u64,
    /// How much longer it sends, so that the sink's last bin is whole.
    pub pad_us: u64,
    /// How often both ends record.
    pub sample_interval_us: u64,
    /// How long the handshakes of all flows may take.
    pub connect_timeout_us: u64,
    /// How long the sink may need to read what is still under way once the source has stopped.
    pub drain_timeout_us: u64,
    /// How long a path may be silent before its flows count as broken.
    pub silence_timeout_us: u64,
    /// Rate the application writes at, per flow, in bit/s; as fast as it can if absent.
    pub rate_bps: Option<u64>,
    /// CPUs the flows' threads are bound to, in turn; unbound if empty.
    pub cpus: Vec<u32>,
    /// 4 or 6: the IP version to use; either if absent.
    pub family: Option<u8>,
}
