//! A far side that is an iperf3 server: what an engine must know of it, and what it says at the end.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an engine must know of an iperf3 server beyond where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Iperf3 {
    /// Who asks, where the server wants to know.
    pub login: Option<Iperf3Login>,
    /// Socket buffers of the far side, per flow, in bytes; its own choice if absent.
    pub window_bytes: Option<u64>,
    /// Beginning of the duration that the far side leaves out of its totals, in whole seconds.
    pub omit_s: u32,
    /// Name of the trial in the other direction, prepared in the same session, that runs in the same test of the server's;
    /// absent: this one has a test of its own.
    pub together_with: Option<String>,
    /// How long a server that is busy is asked again, in microseconds.
    pub busy_timeout_us: u64,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Iperf3Login {
    /// Name of the user.
    pub user: String,
    /// The user's password.
    pub password: Secret,
    /// The server's RSA public key, as PEM.
    pub public_key: String,
    /// The padding that servers before 3.17 expect (PKCS#1 v1.5); OAEP if not.
    pub pkcs1: bool,
}

/// A text that is not shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// What a far side without an engine said at the end of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FarSide {
    /// Congestion control of its sockets that sent.
    pub congestion: Option<String>,
    /// CPU time of its process per elapsed time, in percent of one processor.
    pub cpu_percent: f64,
    /// Flow by flow, in the order of their index; those that it did not tell of are left out.
    pub flows: Vec<FarFlow>,
}

/// What a far side without an engine counted of one flow, without the beginning that it left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FarFlow {
    /// Index of the flow.
    pub flow: u32,
    /// Application bytes that it received, or sent.
    pub bytes: u64,
    /// How long it counted, in microseconds.
    pub elapsed_us: u64,
    /// Segments that it sent again; absent where it does not know.
    pub retransmits: Option<u64>,
    /// Of a stream of datagrams: sent, or the highest number that came.
    pub datagrams: Option<u64>,
    /// Of those that should have come, those that did not; of a receiver.
    pub lost: Option<u64>,
    /// Interarrival jitter at the end, in nanoseconds; of a receiver.
    pub jitter_ns: Option<u64>,
}
