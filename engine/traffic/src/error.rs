use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use thiserror::Error;
use wire::{Failed, FlowEnd, FlowReport, Phase};

use crate::iperf3_client::Trouble;

/// Why one end of a trial did not go as requested. The text names addresses, flows and values, and what to do.
#[derive(Debug, Error)]
pub enum TrialError {
    /// The settings make no sense.
    #[error("{0}")]
    Settings(String),
    /// A name has no address of the family that was requested.
    #[error("cannot resolve {address}: {reason}")]
    Resolve {
        /// The name.
        address: String,
        /// What the resolver said.
        reason: String,
    },
    /// The socket could not be made or set up.
    #[error("{what}: {source}")]
    Socket {
        /// What was tried, with its value.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// No port of the range is free.
    #[error("no free port in {first}-{last}: {source}; give the host a wider `ports` range")]
    NoFreePort {
        /// Lowest port.
        first: u16,
        /// Highest port.
        last: u16,
        /// What the kernel said of the last one.
        source: io::Error,
    },
    /// The kernel granted less than requested.
    #[error(
        "this host grants a window of {} B at most, {requested_bytes} B were asked for: raise it there with \
         `sysctl -w {sysctl}={requested_bytes}`, or say `clip = \"allow\"`",
        granted_bytes / 2
    )]
    WindowClipped {
        /// What the plan asks for.
        requested_bytes: u64,
        /// What `getsockopt` says: twice the usable request on Linux.
        granted_bytes: u64,
        /// The setting that limits it.
        sysctl: &'static str,
    },
    /// The congestion control is not there.
    #[error("congestion control {name} is not available on this host (it has: {available}); try `modprobe tcp_{name}`")]
    Congestion {
        /// What was requested.
        name: String,
        /// What the kernel offers.
        available: String,
    },
    /// The congestion control is there, but not for everyone.
    #[error(
        "congestion control {name} is only for the administrator of this host (others may use: {allowed}); allow it \
         with `sysctl -w net.ipv4.tcp_allowed_congestion_control=\"{allowed} {name}\"`"
    )]
    CongestionForbidden {
        /// What was requested.
        name: String,
        /// What everyone may use.
        allowed: String,
    },
    /// A connection could not be made.
    #[error("flow {flow} could not connect to {address}: {source}")]
    Connect {
        /// Index of the flow.
        flow: u32,
        /// Where to.
        address: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// Connections or handshakes took too long.
    #[error("{missing} of {flows} flows to {address} did not connect and shake hands within {} s", timeout.as_secs_f64())]
    ConnectTimeout {
        /// Flows not there.
        missing: usize,
        /// Flows requested.
        flows: u32,
        /// Where to.
        address: String,
        /// The deadline.
        timeout: Duration,
    },
    /// The other end is not the engine of this trial.
    #[error("flow {flow} to {address}: {reason}; is another program listening there?")]
    Handshake {
        /// Index of the flow.
        flow: u32,
        /// Where to.
        address: String,
        /// What was wrong.
        reason: String,
    },
    /// The other end did not come.
    #[error("{missing} of {flows} flows did not arrive on port {port} within {} s; is a firewall in the way?", timeout.as_secs_f64())]
    AcceptTimeout {
        /// Flows not there.
        missing: usize,
        /// Flows requested.
        flows: u32,
        /// Where they were expected.
        port: u16,
        /// The deadline.
        timeout: Duration,
    },
    /// A connection of several paths is plain TCP.
    #[error(
        "flow {flow} fell back to TCP: the other host or something on the path does not speak MPTCP, so this is no result of it"
    )]
    FellBack {
        /// Index of the flow.
        flow: u32,
    },
    /// A connection of several paths became plain TCP while it ran.
    #[error("flow {flow} fell back to TCP while it ran: something on the path changes MPTCP's options or data")]
    FellBackLater {
        /// Index of the flow.
        flow: u32,
    },
    /// A subflow could not be made.
    #[error("flow {flow}: no subflow from {local} to {remote}: {source}{}", needed_for(source))]
    Subflow {
        /// Index of the flow.
        flow: u32,
        /// From which address of this host.
        local: IpAddr,
        /// Where to.
        remote: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// Other subflows than requested.
    #[error(
        "flow {flow} has {found} subflows after {} s, {wanted} are due: are all paths open, and does the other host take so \
         many (`ip mptcp limits`)?",
        timeout.as_secs_f64()
    )]
    Subflows {
        /// Index of the flow.
        flow: u32,
        /// How many stand.
        found: usize,
        /// How many are due.
        wanted: usize,
        /// The deadline.
        timeout: Duration,
    },
    /// The start did not come.
    #[error("no start was received within {} s of the connections", .0.as_secs_f64())]
    StartTimeout(Duration),
    /// Some flows carry nothing.
    #[error("flow {flow} carried no byte within {} s", timeout.as_secs_f64())]
    NotRunning {
        /// The first such flow.
        flow: u32,
        /// The deadline.
        timeout: Duration,
    },
    /// A connection broke.
    #[error("flow {flow} broke after {bytes} B: {reason}")]
    Broken {
        /// The first such flow.
        flow: u32,
        /// Application bytes that passed until then.
        bytes: u64,
        /// What the kernel said.
        reason: String,
    },
    /// Some flows broke, and the others went on.
    #[error("{broken} of {flows} flows broke; flow {flow}: {reason}")]
    SomeBroken {
        /// How many.
        broken: usize,
        /// Of how many.
        flows: usize,
        /// The first of them.
        flow: u32,
        /// What became of it.
        reason: String,
    },
    /// A sink saw the end of a flow before its time.
    #[error("flow {flow} ended {} s after all flows ran, {} s were due: its source stopped early", after.as_secs_f64(), due.as_secs_f64())]
    EndedEarly {
        /// The first such flow.
        flow: u32,
        /// How long it ran together with all others.
        after: Duration,
        /// How long it should have.
        due: Duration,
    },
    /// What was under way did not arrive in time.
    #[error("{flows} flows were not drained {} s after the source stopped; raise `drain`, or lower the window", timeout.as_secs_f64())]
    DrainTimeout {
        /// Flows that were not drained.
        flows: usize,
        /// The deadline.
        timeout: Duration,
    },
    /// Nothing is known of the round-trip time.
    #[error("none of {probes} probes was answered in time{}", reason.as_ref().map_or(String::new(), |reason| format!("; this host says: {reason}")))]
    NoAnswer {
        /// How many were sent.
        probes: u64,
        /// What this host's kernel said of the first that it refused to send.
        reason: Option<String>,
    },
    /// The source of a measurement never reported that it had finished.
    #[error("the source did not report within {} s that it had finished: it, or the path to it, is gone", .0.as_secs_f64())]
    NoTeardown(Duration),
    /// There is no way to an iperf3 server.
    #[error("cannot connect to the iperf3 server at {address}: {source}; is `iperf3 -s` running there?")]
    Iperf3Connect {
        /// Where it should be.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// An iperf3 server did not do as requested.
    #[error("iperf3 server at {address}: {trouble}")]
    Iperf3 {
        /// Where it is.
        address: SocketAddr,
        /// Where in the trial's life it was.
        phase: Phase,
        /// What it did.
        trouble: Box<Trouble>,
    },
    /// Of two trials in one test of an iperf3 server only one was requested.
    #[error("trial {partner}, which is to run in the same test of the iperf3 server, was not prepared within {} s", timeout.as_secs_f64())]
    NoPartner {
        /// The other one.
        partner: String,
        /// The deadline.
        timeout: Duration,
    },
    /// Files cannot be made, opened or read.
    #[error("{what}: {source}")]
    Files {
        /// What was tried, with its path.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A trial must not fill a disk.
    #[error(
        "files of {needed_bytes} B need twice as much free space below {folder}, where {free_bytes} B are free; name another \
         folder, or fewer or smaller files"
    )]
    NoSpace {
        /// Where they would lie.
        folder: String,
        /// What they take.
        needed_bytes: u64,
        /// What this user may still take there.
        free_bytes: u64,
    },
    /// What was written is not what was sent.
    #[error("{0}")]
    Corrupt(String),
    /// What the sink wrote could not be read back in time.
    #[error("{0}")]
    NotReadBack(String),
    /// This host does not exchange traffic with that peer.
    #[error("{0}")]
    Refused(String),
    /// The controller stopped the trial.
    #[error("stopped by the controller")]
    Stopped,
    /// Samples could not be kept.
    #[error("samples could not be kept: {0}")]
    Samples(String),
    /// The host is out of threads or memory.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
    /// The host is out of memory or of open files.
    #[error("cannot make the buffers of the flows: {0}; a smaller length or fewer flows need less")]
    Buffers(io::Error),
}

fn needed_for(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::PermissionDenied { "; the engine needs CAP_NET_ADMIN for it" } else { "" }
}

impl TrialError {
    /// Of an end where flows may break and the others go on: that some did, if they did.
    #[must_use]
    pub fn of_broken(reports: &[FlowReport]) -> Option<Self> {
        let mut broken = reports.iter().filter(|flow| flow.end == FlowEnd::Broken);
        let first = broken.next()?;
        let reason = first.error.clone().unwrap_or_else(|| "unknown".into());
        Some(Self::SomeBroken { broken: 1 + broken.count(), flows: reports.len(), flow: first.flow, reason })
    }

    /// Where in the trial's life it happened, and a word that programs can compare. [`TrialError::Stopped`] may happen
    /// anywhere: it counts as `run`.
    #[must_use]
    pub fn phase_and_kind(&self) -> (Phase, &'static str) {
        match self {
            Self::Settings(_) => (Phase::Prepare, "settings"),
            Self::Socket { .. } => (Phase::Prepare, "socket"),
            Self::NoFreePort { .. } => (Phase::Prepare, "no_free_port"),
            Self::WindowClipped { .. } => (Phase::Prepare, "window_clipped"),
            Self::Congestion { .. } => (Phase::Prepare, "congestion_unavailable"),
            Self::CongestionForbidden { .. } => (Phase::Prepare, "congestion_forbidden"),
            Self::NoPartner { .. } => (Phase::Prepare, "iperf3_no_partner"),
            Self::Buffers(_) => (Phase::Prepare, "buffers"),
            Self::Files { .. } => (Phase::Prepare, "files"),
            Self::NoSpace { .. } => (Phase::Prepare, "no_space"),
            Self::Corrupt(_) => (Phase::Report, "corrupt"),
            Self::NotReadBack(_) => (Phase::Report, "not_read_back"),
            Self::AcceptTimeout { .. } => (Phase::Listen, "accept_timeout"),
            Self::Resolve { .. } => (Phase::Connect, "resolve"),
            Self::Refused(_) => (Phase::Connect, "point_refused"),
            Self::Connect { .. } | Self::Iperf3Connect { .. } => (Phase::Connect, "connect"),
            Self::ConnectTimeout { .. } => (Phase::Connect, "connect_timeout"),
            Self::Handshake { .. } => (Phase::Connect, "handshake"),
            Self::Iperf3 { phase, trouble, .. } => (*phase, trouble.kind()),
            Self::FellBack { .. } => (Phase::Connect, "fell_back_to_tcp"),
            Self::FellBackLater { .. } => (Phase::Run, "fell_back_to_tcp"),
            Self::Subflow { .. } | Self::Subflows { .. } => (Phase::Connect, "subflows_missing"),
            Self::StartTimeout(_) => (Phase::Run, "start_timeout"),
            Self::NotRunning { .. } => (Phase::Run, "not_running"),
            Self::Broken { .. } => (Phase::Run, "broken"),
            // Unlike a connection that broke, it ends no other: a controller tells them apart.
            Self::SomeBroken { .. } => (Phase::Run, "flows_broken"),
            Self::EndedEarly { .. } => (Phase::Run, "ended_early"),
            Self::NoAnswer { .. } => (Phase::Run, "no_answer"),
            Self::NoTeardown(_) => (Phase::Run, "no_farewell"),
            Self::Stopped => (Phase::Run, "stopped"),
            Self::Thread(_) => (Phase::Run, "thread"),
            Self::DrainTimeout { .. } => (Phase::Drain, "drain_timeout"),
            Self::Samples(_) => (Phase::Report, "samples"),
        }
    }

    /// As the controller gets it.
    #[must_use]
    pub fn to_failed(&self, trial: &str) -> Failed {
        let (phase, kind) = self.phase_and_kind();
        Failed { trial: trial.into(), phase, kind: kind.into(), message: self.to_string() }
    }
}
