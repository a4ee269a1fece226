//! A path, hop by hop and as a whole: what an engine must know to measure it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of a measurement of a path: the source probes, the sink takes trains. Times in whole microseconds, sizes
/// of IP packets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathSettings {
    /// Hops to look for, at most; 0: none.
    pub ttl_max: u8,
    /// Sizes of the probes of each hop, in bytes.
    pub sizes_bytes: Vec<u32>,
    /// Probes of each size at each hop.
    pub probes: u32,
    /// From one probe to the next; longer where a host limits its answers.
    pub every_us: u64,
    /// How long an answer may take before it counts as lost.
    pub timeout_us: u64,
    /// Trains of packets, back to back, that show the narrowest link.
    pub trains: u32,
    /// Packets of a train.
    pub train_packets: u32,
    /// Size of a packet of trains and streams, in bytes.
    pub train_bytes: u32,
    /// Streams at each of some rates up to what the trains showed, which show what is free of it.
    pub streams: u32,
    /// Packets of a stream.
    pub stream_packets: u32,
    /// How many rates, evenly apart.
    pub stream_rates: u32,
    /// How long all of it may take.
    pub deadline_us: u64,
    /// How long meeting the other end may take.
    pub connect_timeout_us: u64,
    /// Of the random draws.
    pub seed: u64,
    /// 4 or 6: the IP version to use; either if absent.
    pub family: Option<u8>,
}
