//! The messages of the control channel. Exported as JSON Schema (`schema/messages.json`), from which the controller's
//! models are generated: this folder is the only definition.

mod file;
mod host;
mod iperf3;
mod mptcp;
mod outcome;
mod path;
mod quic;
mod rtt;
mod setup;
mod tcp;
mod udp;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use file::{Cache, Content, FileSettings, Part, Sync, Verify};
pub use host::{HostFacts, Nic, Route};
pub use iperf3::{FarFlow, FarSide, Iperf3, Iperf3Login, Secret};
pub use mptcp::MptcpSettings;
pub use outcome::{CpuTime, Failed, FlowEnd, FlowReport, Phase, Progress, RejectedConnections, Report};
pub use path::PathSettings;
pub use quic::QuicSettings;
pub use rtt::{Echo, RttSettings};
pub use setup::{AddressPair, Connected, Granted, Listening, PortRange, Prepare, RendezvousRole, Role, Test};
pub use tcp::{Decided, Encryption, HeldBy, Mode, TcpSettings, Until};
pub use udp::{UdpCounts, UdpSettings};

/// Version of the messages. An engine and a controller that differ do not talk.
pub const PROTOCOL: u32 = 9;

/// What the controller asks of an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Say what this host is. Answered by `host_facts`.
    Describe {
        /// Addresses of the hosts it will exchange traffic with: the answer has the routes to them.
        peers: Vec<String>,
    },
    /// Nothing is asked, nothing is answered: the controller is still there. From the first of these on, an engine that
    /// hears no request at all for 30 s ends its traffic and exits.
    Alive,
    /// Say what the host's clock shows. Answered by `clock`, at once.
    Clock {
        /// Repeated in the answer.
        number: u32,
    },
    /// Get ready for one end of a trial. Answered by `listening` (listening side), then `connected`, or by `failed`.
    Prepare(Box<Prepare>),
    /// Begin to send. The receiving end needs no start.
    Start {
        /// The trial that was prepared.
        trial: String,
        /// When to begin, by this host's clock, in nanoseconds since 1970 UTC; at once if absent or past. At most 5 s
        /// ahead: a later moment counts as that.
        at_unix_ns: Option<i64>,
    },
    /// End the trial now. Answered by `report` or `failed`, whichever is due.
    Stop {
        /// The trial to end.
        trial: String,
    },
}

/// What an engine tells its controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// First message of every session.
    Hello(Hello),
    /// Answer to `describe`.
    HostFacts(Box<HostFacts>),
    /// Answer to `clock`.
    Clock(ClockReading),
    /// The listening side takes connections now.
    Listening(Listening),
    /// All flows of the trial stand, with these settings granted.
    Connected(Connected),
    /// Once a second while the trial runs.
    Progress(Progress),
    /// The end of a trial that got as far as running. Its samples came just before, in Arrow frames.
    Report(Box<Report>),
    /// The end of a trial that never ran.
    Failed(Failed),
    /// A request that could not be understood.
    Refused {
        /// What was wrong with it.
        message: String,
    },
}

/// Who the engine is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// Version of the messages, see [`PROTOCOL`].
    pub protocol: u32,
    /// Version of the engine.
    pub engine_version: String,
    /// Process id on its host.
    pub pid: u32,
}

/// What a host's clock shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClockReading {
    /// As in the request.
    pub number: u32,
    /// Wall clock, in nanoseconds since 1970 UTC.
    pub unix_ns: i64,
}
