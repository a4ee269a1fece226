//! The messages of the control channel. Exported as JSON Schema (`schema/messages.json`), from which the controller's
//! models are generated: this file is the only definition.

use std::{collections::BTreeMap, net::IpAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Token;

/// Version of the messages. An engine and a controller that differ do not talk.
pub const PROTOCOL: u32 = 2;

/// What the controller asks of an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Say what this host is. Answered by `host_facts`.
    Describe {
        /// Addresses of the hosts it will exchange traffic with: the answer has the routes to them.
        peers: Vec<String>,
    },
    /// Say what the host's clock shows. Answered by `clock`, at once.
    Clock {
        /// Told in the answer.
        number: u32,
    },
    /// Get ready for one end of a trial. Answered by `listening` (listening side), then `connected`, or by `failed`.
    Prepare(Box<Prepare>),
    /// Begin to send. The receiving end needs no start.
    Start {
        /// The trial that was prepared.
        trial: String,
        /// When to begin, by this host's clock, in nanoseconds since 1970 UTC; at once if absent or past.
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

/// What an engine sees of its host. Whatever cannot be read stays empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostFacts {
    /// Name the kernel has for the host.
    pub hostname: String,
    /// Kernel release, as `uname -r` prints it.
    pub kernel: String,
    /// Machine architecture, as `uname -m` prints it.
    pub architecture: String,
    /// CPU model name.
    pub cpu_model: Option<String>,
    /// CPUs this engine may run on.
    pub cpus: u32,
    /// Memory of the host, in bytes.
    pub memory_bytes: Option<u64>,
    /// Congestion control a socket has when none is asked for.
    pub congestion_default: Option<String>,
    /// Congestion controls that may be asked for.
    pub congestion_available: Vec<String>,
    /// Bytes of `TCP_INFO` this kernel returns.
    pub tcp_info_bytes: u32,
    /// The kernel's settings that matter for TCP, by their `sysctl` name, as the kernel prints them.
    pub sysctls: BTreeMap<String, String>,
    /// What the kernel keeps time with, such as `tsc`.
    pub clock_source: Option<String>,
    /// CPU frequency governor; several, separated by commas, where CPUs differ.
    pub cpu_governor: Option<String>,
    /// NUMA nodes.
    pub numa_nodes: Option<u32>,
    /// Network devices, loopback included.
    pub nics: Vec<Nic>,
    /// Routes to the peers that were named in the request, by the name that was used there.
    pub routes: BTreeMap<String, Route>,
    /// Version of the engine.
    pub engine_version: String,
}

/// A network device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    /// The kernel's name for it.
    pub name: String,
    /// Its driver.
    pub driver: Option<String>,
    /// Speed of the link, in Mbit/s.
    pub speed_mbps: Option<u64>,
    /// Largest packet, in bytes.
    pub mtu_bytes: Option<u32>,
    /// NUMA node it is attached to.
    pub numa_node: Option<u32>,
    /// Receive queues.
    pub rx_queues: u32,
    /// Transmit queues.
    pub tx_queues: u32,
    /// Queueing disciplines of its transmit side, the root first.
    pub qdiscs: Vec<String>,
    /// Offloads, by the kernel's name for them, and whether they are on.
    pub offloads: BTreeMap<String, bool>,
}

/// How packets to a peer leave a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Address of the peer, once its name is resolved.
    pub address: IpAddr,
    /// Device they leave by.
    pub device: String,
    /// First router; absent for a peer on the same link.
    pub gateway: Option<IpAddr>,
    /// Address they are sent from.
    pub source: Option<IpAddr>,
    /// Largest packet of the route, where one is set, in bytes.
    pub mtu_bytes: Option<u32>,
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

/// Everything one end must know of a TCP trial.
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
    pub meeting: Meeting,
    /// Flows, windows, times.
    pub tcp: TcpSettings,
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
pub enum Meeting {
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
    },
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

/// The settings of one end's flows. Times in whole microseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// CPUs the flows' threads are bound to, in turn; unbound if empty.
    pub cpus: Vec<u32>,
    /// 4 or 6: the IP version to use; either if absent.
    pub family: Option<u8>,
    /// How bytes get into and out of the kernel.
    pub mode: Mode,
}

/// How bytes get into and out of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// `write` and `read`, as an application does.
    #[default]
    Copy,
    /// The source maps one constant buffer into its sockets (`vmsplice`, `splice`); the sink reads as in `copy`. The
    /// source's memory is out of the picture.
    Zerocopy,
    /// The source as in `zerocopy`; the sink has the kernel drop what arrived (`MSG_TRUNC`) in place of copying it.
    Discard,
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
}

/// How far a running trial is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// The trial.
    pub trial: String,
    /// Which end says so.
    pub role: Role,
    /// Time since this end's origin, in microseconds.
    pub elapsed_us: u64,
    /// Application bytes of all flows so far.
    pub bytes: u64,
}

/// What became of one end of a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The trial.
    pub trial: String,
    /// Which end reports.
    pub role: Role,
    /// Wall clock at this end's time origin, in nanoseconds since 1970 UTC. Samples count from there.
    pub origin_unix_ns: i64,
    /// One entry for each flow.
    pub flows: Vec<FlowReport>,
    /// Connections that were not this trial's.
    pub strangers: Strangers,
    /// Samples sent ahead of this report, in rows.
    pub sample_rows: u64,
    /// Samples that could not be kept, in rows.
    pub sample_rows_lost: u64,
    /// Rows of CPU time sent ahead of this report.
    pub cpu_rows: u64,
    /// How much the host's counters rose while flows ran: `Tcp.RetransSegs` and others of `/proc/net/snmp` and
    /// `netstat`, `softnet.dropped`, and each device's, such as `eth0.rx_dropped`. Those that did not rise are left out.
    pub counters: BTreeMap<String, u64>,
    /// How long the engine was kept from running by its CPU quota while flows ran (cgroup `cpu.stat`), in microseconds;
    /// absent where there is no quota to read.
    pub throttled_us: Option<u64>,
    /// Why the trial is not whole at this end; absent if it is.
    pub incomplete: Option<Failed>,
}

/// What became of one flow at one end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowReport {
    /// Index of the flow, from 0.
    pub flow: u32,
    /// Application bytes after the handshake: written by a source, read by a sink.
    pub bytes: u64,
    /// When the first of them passed, in nanoseconds since the origin.
    pub first_byte_ns: Option<i64>,
    /// When the flow was over, in nanoseconds since the origin: at a sink when it had read to the end, at a source when
    /// the sink had closed.
    pub end_ns: i64,
    /// How the flow ended.
    pub end: FlowEnd,
    /// The kernel's word for it, if it ended badly.
    pub error: Option<String>,
    /// Local port.
    pub local_port: u16,
    /// Remote port.
    pub remote_port: u16,
    /// CPU time of the flow's thread while the trial ran.
    pub cpu: CpuTime,
}

/// How a flow ended at one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowEnd {
    /// All bytes were delivered and both ends closed.
    Drained,
    /// The deadline for draining passed.
    DrainTimeout,
    /// The connection broke.
    Broken,
    /// The trial was stopped.
    Stopped,
}

/// CPU time of a thread, and how long it ran by the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuTime {
    /// In user mode, in microseconds.
    pub user_us: u64,
    /// In the kernel, in microseconds.
    pub system_us: u64,
    /// By the clock, in microseconds.
    pub elapsed_us: u64,
    /// How often the thread gave the CPU away.
    pub voluntary_switches: u64,
    /// How often the CPU was taken from the thread.
    pub involuntary_switches: u64,
}

/// Connections that reached a listening engine and were not its trial's. They are closed and counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Strangers {
    /// Spoke something else.
    pub not_an_engine: u32,
    /// Showed another token.
    pub wrong_token: u32,
    /// Showed a flow index that does not exist or was there already.
    pub wrong_flow: u32,
    /// Did not finish the handshake in time, or hung up.
    pub unfinished: u32,
    /// Came while too many handshakes were pending.
    pub crowded_out: u32,
}

/// Where in its life a trial is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Sockets are made, windows set and verified.
    Prepare,
    /// The listening side waits for connections.
    Listen,
    /// The connecting side connects and shakes hands.
    Connect,
    /// Bytes flow.
    Run,
    /// The source has stopped, the sink reads the rest.
    Drain,
    /// Results are on their way.
    Report,
}

/// Why a trial, or one end of it, did not go as asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failed {
    /// The trial.
    pub trial: String,
    /// Where it was.
    pub phase: Phase,
    /// A word that programs can compare: `window_clipped`, `connect_timeout`, ….
    pub kind: String,
    /// What happened, with addresses and numbers, and what to do.
    pub message: String,
}
