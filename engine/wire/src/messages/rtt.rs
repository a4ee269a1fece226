//! Round-trip times: what an engine must know to measure them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of a measurement of round-trip times: the source asks, the sink answers. Times in whole microseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RttSettings {
    /// What to ask with.
    pub echo: Echo,
    /// Payload of a question and of its answer, in bytes, headers of this protocol included; asked in turn, at random.
    pub sizes_bytes: Vec<u32>,
    /// From one question to the next; the mean of it if `poisson`.
    pub every_us: u64,
    /// Draw the times between questions from an exponential distribution (RFC 2330).
    pub poisson: bool,
    /// Of the random draws.
    pub seed: u64,
    /// How long to ask.
    pub duration_us: u64,
    /// How long an answer may take before it counts as lost.
    pub timeout_us: u64,
    /// How long meeting the other end may take.
    pub connect_timeout_us: u64,
    /// Differentiated services code point, 0 to 63.
    pub dscp: Option<u8>,
    /// 4 or 6: the IP version to use; either if absent.
    pub family: Option<u8>,
}

/// What a round trip consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Echo {
    /// ICMP echo where this user may send it, `udp` otherwise.
    #[default]
    Auto,
    /// ICMP echo; the sink's kernel answers.
    Icmp,
    /// A datagram that the sink's engine sends back.
    Udp,
    /// The handshake of a TCP connection.
    TcpConnect,
}
