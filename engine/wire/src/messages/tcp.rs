//! What an engine must know of a trial of bulk TCP connections.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of one end's flows. Times in whole microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpSettings {
    /// Parallel connections.
    pub flows: u32,
    /// Bytes handed to one write or read.
    pub length_bytes: u32,
    /// Socket buffer of this end, per flow: `SO_SNDBUF` of a source, `SO_RCVBUF` of a sink; the kernel's autotuning if
    /// absent.
    pub window_bytes: Option<u64>,
    /// Run even if the kernel grants less than was asked for.
    pub clip_allowed: bool,
    /// Congestion control; the host's default if absent.
    pub congestion: Option<String>,
    /// How long the source sends once every flow runs.
    pub duration_us: u64,
    /// How much longer it sends, so that the sink's last bin is whole.
    pub pad_us: u64,
    /// How often both ends record.
    pub sample_interval_us: u64,
    /// How long connecting and the handshakes of all flows may take.
    pub connect_timeout_us: u64,
    /// How long the sink may need to read what is still under way once the source has stopped.
    pub drain_timeout_us: u64,
    /// How long a path may be silent before its flows count as broken (`TCP_USER_TIMEOUT`).
    pub silence_timeout_us: u64,
    /// Rate the application writes at, per flow, in bit/s; as fast as it can if absent.
    pub rate_bps: Option<u64>,
    /// Rate the kernel paces at, per flow, in bit/s (`SO_MAX_PACING_RATE`).
    pub pacing_rate_bps: Option<u64>,
    /// `TCP_MAXSEG`, in bytes.
    pub mss_bytes: Option<u32>,
    /// Differentiated services code point, 0 to 63.
    pub dscp: Option<u8>,
    /// `TCP_NODELAY`.
    pub no_delay: bool,
    /// Mark of this end's packets (`SO_MARK`), for which it needs `CAP_NET_ADMIN`; none if absent.
    pub fwmark: Option<u32>,
    /// CPUs the flows' threads are bound to, in turn; unbound if empty.
    pub cpus: Vec<u32>,
    /// 4 or 6: the IP version to use; either if absent.
    pub family: Option<u8>,
    /// How bytes get into and out of the kernel.
    pub mode: Mode,
    /// What protects the flows on the path.
    pub encryption: Encryption,
    /// When a source ends before `duration_us`; never if absent.
    pub until: Option<Until>,
}

/// A source ends as soon as its mean goodput is known. Times in whole microseconds since all flows run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// Half of the 95 % interval of the mean, over the mean, in millionths.
    pub half_width_ppm: u32,
    /// How long flows send at least.
    pub at_least_us: u64,
    /// What of the beginning does not count, though slow start be over.
    pub omit_us: u64,
    /// What counts is a whole number of these.
    pub interval_us: u64,
}

/// What a source decided that may end early. Times in whole microseconds since all flows run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// Why the mean is not known although the duration is over; absent if it is known.
    pub held_by: Option<HeldBy>,
    /// From when on the mean counts: slow start is over, and what is omitted.
    pub counted_from_us: u64,
    /// Until when it counts; what was sent after that is a pad.
    pub ended_us: u64,
    /// Half of the 95 % interval of the mean when that was last asked, over the mean, in millionths; absent if there was
    /// too little to tell.
    pub half_width_ppm: Option<u64>,
}

/// Why a mean is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeldBy {
    /// Slow start of a flow is not over.
    SlowStart,
    /// What counts is too short for its round-trip time, interval and samples, or to be known twice in a row; or nothing came.
    TooShort,
    /// The window of a flow still grows and has not met what limits it.
    WindowGrows,
    /// Its 95 % interval is wider than asked for.
    Spread,
    /// It rises or falls, or its halves differ.
    Trend,
}

/// What protects flows on the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Encryption {
    /// Nothing.
    #[default]
    None,
    /// TLS 1.3, by a library in the thread of each flow; with `copy` only. What is counted is the application's bytes.
    Tls,
}

/// How bytes get into and out of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// `write` and `read`, as an application does.
    #[default]
    Copy,
    /// The source maps one constant buffer into its sockets (`vmsplice`, `splice`), at most 1 MiB at once, whatever
    /// `length_bytes` says; the sink reads as in `copy`. The source's memory is out of the picture.
    Zerocopy,
    /// The source as in `zerocopy`; the sink has the kernel drop what arrived (`MSG_TRUNC`) in place of copying it.
    Discard,
}
