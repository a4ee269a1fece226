//! Flows that two ends have established, and those that they have not.

use wire::{CpuTime, FlowEnd, FlowReport, Granted, RejectedConnections, UdpCounts};

use super::stream::Stream;

/// The flows of a trial once both ends have opened them.
pub struct Established {
    /// Flows that are established, with their index.
    pub flows: Vec<(u32, Stream)>,
    /// Flows that were not established.
    pub missing: Vec<MissingFlow>,
    /// What the kernel granted.
    pub granted: Granted,
    /// Datagrams of others so far.
    pub rejected: RejectedConnections,
}

/// A flow that was not established.
pub struct MissingFlow {
    /// Its index.
    pub flow: u32,
    /// Why not.
    pub reason: String,
    /// Of that, what the kernel said or who answered, if anything.
    pub heard: Option<String>,
}

impl MissingFlow {
    /// What is reported of it.
    pub fn report(self) -> FlowReport {
        FlowReport {
            flow: self.flow,
            bytes: 0,
            first_byte_ns: None,
            end_ns: 0,
            end: FlowEnd::Broken,
            error: Some(format!("it was not established: {}", self.reason)),
            local_port: 0,
            remote_port: 0,
            cpu: CpuTime::default(),
            udp: Some(UdpCounts::default()),
        }
    }
}
