//! Streams of numbered datagrams: what an engine must know of them, and what it counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of one end's streams. Times in whole microseconds unless the name says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UdpSettings {
    /// Parallel streams, each with a source port of its own.
    pub flows: u32,
    /// Payload of a datagram, in bytes, its header included.
    pub length_bytes: u32,
    /// Socket buffer of this end, per flow: `SO_SNDBUF` of a source, `SO_RCVBUF` of a sink; the host's default if absent.
    pub window_bytes: Option<u64>,
    /// Run even if the kernel grants less than was asked for.
    pub clip_allowed: bool,
    /// How long the source sends once the flows stand.
    pub duration_us: u64,
    /// How much longer it sends, so that the sink's last bin is whole.
    pub pad_us: u64,
    /// How often both ends record.
    pub sample_interval_us: u64,
    /// How long setting the flows up may take; it is retried until then.
    pub connect_timeout_us: u64,
    /// How long the sink listens on once the source has stopped. What comes later is late.
    pub drain_us: u64,
    /// How long a flow that should send may be silent before it counts as broken off.
    pub silence_timeout_us: u64,
    /// Rate of payload, per flow, in bit/s. Without rate and spacing a source sends as fast as it can.
    pub rate_bps: Option<u64>,
    /// From the beginning of a datagram to the beginning of the flow's next one, in nanoseconds, in place of a rate.
    pub spacing_ns: Option<u64>,
    /// Have the kernel cut large buffers into datagrams (`UDP_SEGMENT`) where it can and the pace allows it.
    pub gso: bool,
    /// Have the kernel hand over several datagrams at once (`UDP_GRO`) where it can.
    pub gro: bool,
    /// Differentiated services code point, 0 to 63.
    pub dscp: Option<u8>,
    /// CPUs the threads are bound to, in turn; unbound if empty.
    pub cpus: Vec<u32>,
    /// 4 or 6: the IP version to use; either if absent.
    pub family: Option<u8>,
}

/// What one end counted of one flow's datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UdpCounts {
    /// A source's: handed to the kernel. A sink's: different ones that came before the drain was over.
    pub datagrams: u64,
    /// Of a sink's, those that came after one with a higher number (RFC 4737, Type-P-Reordered).
    pub reordered: u64,
    /// How many later ones had come before the latest of them, at most (RFC 4737, 4.2.1).
    pub reordering_extent_max: u64,
    /// Came again (RFC 5560); not among `datagrams`.
    pub duplicates: u64,
    /// Came after the drain was over, or so many numbers later that nobody remembers whether they had come (262 144); not
    /// among `datagrams`, so that they are part of what is lost.
    pub late: u64,
    /// Runs of numbers that never came.
    pub loss_bursts: u64,
    /// The longest of them.
    pub loss_burst_max: u64,
    /// Dropped by the kernel since this flow's socket was full (`SO_MEMINFO`); absent if it does not tell. With `UDP_GRO`
    /// datagrams that were dropped together may count once.
    pub socket_dropped: Option<u64>,
    /// Datagrams that the sending kernel refused (no buffers); they were sent again under the same number.
    pub refused: u64,
    /// Interarrival jitter at the end (RFC 3550), in nanoseconds, from the kernel's times; with `UDP_GRO` of the first
    /// datagram of each buffer. Of first copies only, in the order of arrival.
    pub jitter_ns: Option<u64>,
    /// Smallest difference of the sink's receiving time and the source's sending time, each by its own wall clock as
    /// it went on from this end's origin, in nanoseconds.
    pub delay_min_ns: Option<i64>,
    /// How far a source fell behind its pace, at most, in nanoseconds.
    pub behind_max_ns: Option<u64>,
    /// Most datagrams that a source sent at once to catch up, or because it has no pace to keep.
    pub burst_max: Option<u64>,
    /// Whether a source's kernel cut what it sent at once to the end (`UDP_SEGMENT`), where it did at the beginning; absent
    /// where it did not.
    pub gso: Option<bool>,
}
