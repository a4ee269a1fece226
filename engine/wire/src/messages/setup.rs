//! What an engine must know of a trial, and what it says until the trial starts.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Echo, FileSettings, Iperf3, MptcpSettings, PathSettings, QuicSettings, RttSettings, TcpSettings, UdpSettings,
};
use crate::Token;

/// Everything one end must know of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prepare {
    /// Name of the trial, unique in this session.
    pub trial: String,
    /// Which end this engine is.
    pub role: Role,
    /// The connecting side shows this.
    pub token: Token,
    /// The listening side answers with this.
    pub answer: Token,
    /// How the two ends meet.
    pub rendezvous: RendezvousRole,
    /// What is measured, and how.
    pub test: Test,
    /// The other end is an iperf3 server, to which this one connects; another engine if absent. Takes `tcp` and `udp`.
    pub iperf3: Option<Iperf3>,
}

/// What is measured, with its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Test {
    /// Bulk TCP connections.
    Tcp(TcpSettings),
    /// Bulk connections of Multipath TCP.
    Mptcp(MptcpSettings),
    /// Bulk streams of QUIC connections.
    Quic(QuicSettings),
    /// Files, from disk to disk.
    File(Box<FileSettings>),
    /// Streams of numbered datagrams.
    Udp(UdpSettings),
    /// Round-trip times.
    Rtt(RttSettings),
    /// Hops, their capacity, and the capacity and load of the whole path.
    Path(PathSettings),
    /// A test that the engine has from another crate.
    Added(AddedSettings),
}

/// The settings of a test of another crate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddedSettings {
    /// What it is called.
    pub name: String,
    /// As that crate has them.
    pub settings: serde_json::Value,
}

/// Which end of the traffic an engine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sends.
    Source,
    /// Receives.
    Sink,
}

/// How an engine meets the other end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum RendezvousRole {
    /// Wait for the other end.
    Listen {
        /// Local address to listen on; all addresses if absent.
        bind: Option<IpAddr>,
        /// Ports to choose from; any free one if absent.
        ports: Option<PortRange>,
    },
    /// Go to the other end.
    Connect {
        /// Name or address of the other end.
        address: String,
        /// Port the other end listens on.
        port: u16,
        /// Local address to send from; the kernel's choice if absent.
        bind: Option<IpAddr>,
        /// Further paths to the other end, for tests that use several; those of another IP version are left out.
        #[serde(default)]
        further: Vec<AddressPair>,
    },
}

/// A path by the addresses of its ends; absent: that of the first path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddressPair {
    /// Address of this end.
    pub local: Option<IpAddr>,
    /// Address of the other end.
    pub remote: Option<IpAddr>,
}

/// An inclusive range of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortRange {
    /// Lowest port.
    pub first: u16,
    /// Highest port.
    pub last: u16,
}

/// The listening side is ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listening {
    /// The trial.
    pub trial: String,
    /// Port that takes the trial's connections.
    pub port: u16,
}

/// All flows stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connected {
    /// The trial.
    pub trial: String,
    /// Which end says so.
    pub role: Role,
    /// What the kernel granted.
    pub granted: Granted,
}

/// What the kernel made of the settings, at this end. The same for all flows of a trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Granted {
    /// What `getsockopt` says of the socket buffer that was asked for, in bytes: on Linux twice the request. Absent if
    /// none was asked for.
    pub window_bytes: Option<u64>,
    /// The kernel granted less than asked for: its maximum is lower.
    pub window_clipped: bool,
    /// The kernel granted more than asked for: the request is below its floor.
    pub window_raised: bool,
    /// Congestion control in use.
    pub congestion: Option<String>,
    /// Segment size of what this end sends when the flow was set up, in bytes of payload without TCP options. It may
    /// grow later: the samples have `snd_mss_bytes`.
    pub mss_bytes: Option<u32>,
    /// Whether the kernel cuts what this end sends into datagrams (`UDP_SEGMENT`). Absent where that is no question.
    pub gso: Option<bool>,
    /// Whether the kernel hands this end several datagrams at once (`UDP_GRO`). Absent where that is no question.
    pub gro: Option<bool>,
    /// How round-trip times are measured: `icmp`, `udp` or `tcp_connect`. Absent where none are.
    pub echo: Option<Echo>,
    /// What was asked for and is not to be had here, a sentence each: what, why, and what is done instead.
    pub remarks: Vec<String>,
}
