//! What `flowsweep-engine emulate` reads, and what it writes. Exported as JSON Schema by `schema emulation`.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};

/// One emulated link between two devices: the one line that `emulate` reads from its standard input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Emulation {
    /// The two ends.
    pub devices: [EmulatedDevice; 2],
    /// MTU of both devices: the largest IP packet.
    pub mtu_bytes: u32,
    /// Of the random generators for loss, jitter and duplicates.
    pub seed: u64,
    /// How often counters are reported.
    pub report_interval_us: u64,
    /// First from `devices[0]` to `devices[1]`, then the way back.
    pub directions: [EmulatedDirection; 2],
    /// Further paths between the devices, each likewise both ways. Every flow takes one of all paths (equal-cost
    /// multipath): a hash with the seed over addresses, protocol and ports says which, for each direction by itself.
    #[serde(default)]
    pub further: Vec<[EmulatedDirection; 2]>,
    /// The DSCP (RFC 2474) of each path, that of `directions` first; none has one if this is empty. Packets with the DSCP
    /// of a path take that path, or by hash one of those that have it. All others take one of the paths without.
    #[serde(default)]
    pub dscps: Vec<Option<u8>>,
}

/// A TUN device that the emulator makes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmulatedDevice {
    /// File of the network namespace it is made in, such as `/run/netns/left`.
    pub namespace: String,
    /// Its name there, at most 15 bytes.
    pub name: String,
}

/// A meter that drops what exceeds it and delays nothing: the token bucket of RFC 2697 without its excess burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmulatedPolicer {
    /// Committed information rate (CIR): bits of IP packets per second at which tokens come.
    pub rate_bps: u64,
    /// Committed burst size (CBS): tokens that the bucket holds, in bytes of IP packets. It is full at the start.
    pub burst_bytes: u64,
}

/// Traffic of others, which nobody sends and nobody gets: packets of one size that wait in the link's queue and are
/// transmitted like those of the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmulatedCrossTraffic {
    /// Bits of IP packets per second, evenly spaced, while it sends.
    pub rate_bps: u64,
    /// Each packet's size.
    pub packet_bytes: u32,
    /// When it sends; always if absent.
    pub pauses: Option<EmulatedPauses>,
}

/// Times in which traffic is sent, and those in between; it begins with the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmulatedPauses {
    /// How long it sends. A pause adds to the time from one packet to the next: the mean rate is exact.
    pub on_us: u64,
    /// How long it does not.
    pub off_us: u64,
    /// Whether both are means of times that are drawn from exponential distributions: beginnings and ends are those of
    /// a Poisson process with two rates.
    pub poisson: bool,
}

/// What one direction of the link does to packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmulatedDirection {
    /// Bits of IP packets per second, without framing; unlimited if absent.
    pub rate_bps: Option<u64>,
    /// From the end of a packet's transmission to its arrival, one way.
    pub delay_us: u64,
    /// Each packet's delay is drawn evenly from `delay_us` ± this; at most `delay_us`.
    pub jitter_us: u64,
    /// Whether jitter may let packets overtake each other. If not, a packet waits for the one before it.
    pub reorder: bool,
    /// Probability that an IP packet is lost after its transmission, 0 to 1.
    pub loss: f64,
    /// Probability that an IP packet that was not lost arrives twice, the second time right behind the first, 0 to 1.
    pub duplicate: f64,
    /// Most bytes of IP packets that wait or are being transmitted; unlimited if absent.
    pub queue_bytes: Option<u64>,
    /// Most IP packets that wait or are being transmitted; unlimited if absent.
    pub queue_packets: Option<u64>,
    /// What packets pass before they come to the queue; none if absent.
    pub policer: Option<EmulatedPolicer>,
    /// What comes to the queue besides; none if absent. It needs a `rate_bps`.
    pub cross: Option<EmulatedCrossTraffic>,
}

/// One line of what `emulate` says on its standard output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum EmulationEvent {
    /// Both devices are there, not yet up and without addresses.
    Ready,
    /// At each report interval, and once more at the end.
    Counters(Box<EmulationCounters>),
    /// The end, for a reason other than a closed standard input.
    Failed {
        /// What went wrong.
        message: String,
    },
}

/// The state of both directions at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmulationCounters {
    /// When, in nanoseconds since 1970 UTC.
    pub at_unix_ns: i64,
    /// In the order of [`Emulation::directions`]. What the kernel dropped and what is no IP packet, of which nobody knows
    /// the flow, is counted here.
    pub directions: [DirectionCounters; 2],
    /// In the order of [`Emulation::further`].
    #[serde(default)]
    pub further: Vec<[DirectionCounters; 2]>,
}

/// Counters of one direction since the start. A packet is an IP packet: each segment of a super-packet counts, with
/// its own headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirectionCounters {
    /// Packets taken from the sending device.
    pub packets_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Packets handed to the receiving device, up or not.
    pub packets_out: u64,
    /// Their bytes.
    pub bytes_out: u64,
    /// Packets for which the policer had too few tokens. They never came to the queue.
    pub dropped_policer_packets: u64,
    /// Packets that found the queue full.
    pub dropped_queue_packets: u64,
    /// Packets lost at random.
    pub dropped_loss_packets: u64,
    /// Packets that are no whole IP packets, or that the receiving kernel refused as such.
    pub dropped_malformed_packets: u64,
    /// Packets for which the emulator had no memory left: it did not do what was asked.
    pub dropped_overload_packets: u64,
    /// What the kernel dropped at the sending device, mostly because the emulator did not read in time
    /// (the device's `tx_dropped`). A super-packet counts once here, since nobody has seen its segments.
    pub device_dropped_packets: u64,
    /// Bytes that wait or are being transmitted now.
    pub queue_bytes: u64,
    /// Packets that wait or are being transmitted now.
    pub queue_packets: u64,
    /// Largest `queue_bytes` since the previous line.
    pub queue_max_bytes: u64,
    /// Packets handed over more than 1 ms later than due.
    pub late_packets: u64,
    /// Latest handing over since the previous line, in µs after it was due.
    pub late_max_us: u64,
    /// Packets handed over after one that had arrived behind them (RFC 4737). A packet's second arrival counts in
    /// `duplicated_packets` only.
    pub reordered_packets: u64,
    /// Packets of the cross traffic that came to the queue. They are in no other counter of packets or bytes, but that
    /// `queue_bytes`, `queue_packets` and `queue_max_bytes` are of all that waits.
    pub cross_packets_in: u64,
    /// Their bytes.
    pub cross_bytes_in: u64,
    /// Those of them that found the queue full.
    pub cross_dropped_packets: u64,
    /// Second arrivals of packets (RFC 5560), which `packets_out` counts, too, once they are handed over.
    pub duplicated_packets: u64,
}

/// What goes in and comes out, as one document.
#[derive(Serialize, JsonSchema)]
struct EmulationMessages {
    /// From whoever builds the link.
    emulation: Emulation,
    /// From the emulator.
    event: EmulationEvent,
}

/// The JSON Schema (draft 2020-12) of both, indented.
#[must_use]
pub fn emulation_schema() -> String {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<EmulationMessages>();
    format!("{:#}", schema.to_value())
}
