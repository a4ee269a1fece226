//! What an engine says of a trial that runs, and of what became of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Decided, FarSide, Role, UdpCounts};

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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    pub rejected_connections: RejectedConnections,
    /// Rows sent ahead of this report, by the name of their table.
    pub table_rows: BTreeMap<String, u64>,
    /// Rows that could not be kept or read back, of all tables but that of CPU time, of which a remark tells.
    pub rows_lost: u64,
    /// How much the host's counters rose from when the flows stood until they had ended: `Tcp.RetransSegs` and others of
    /// `/proc/net/snmp` and `netstat`, `Ip6InReceives` and others of `snmp6`, `softnet.dropped`, each device's, such as
    /// `eth0.rx_dropped`, and its driver's own, such as `eth0.ethtool.rx_no_buffer`. Those that did not rise are left out.
    pub counters: BTreeMap<String, u64>,
    /// How long CPU quotas kept the engine from running while flows ran (cgroup `cpu.stat`), in microseconds, summed over
    /// all CPUs: of its own control group and those around it, the one that was held back most. Absent where none counts
    /// it.
    pub throttled_us: Option<u64>,
    /// What the far side said that has no engine; absent if it has one, or did not get to say anything.
    pub far_side: Option<FarSide>,
    /// What else is to be reported: that this host's clock was set meanwhile, and what that cost.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Of a source that may end early and has sent to its end: when it ended, and why.
    #[serde(default)]
    pub decided: Option<Decided>,
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
    /// Of a stream of datagrams only.
    pub udp: Option<UdpCounts>,
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
pub struct RejectedConnections {
    /// Spoke something else.
    pub not_an_engine: u32,
    /// Showed another token.
    pub wrong_token: u32,
    /// Showed a flow index that does not exist or was there already.
    pub wrong_flow: u32,
    /// Did not finish the handshake in time, or hung up.
    pub unfinished: u32,
    /// Came while too many handshakes were pending, or as datagrams faster than they could be looked at.
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
