//! What came of the meeting of two ends.

use wire::{CpuTime, FlowEnd, FlowReport, Granted, Strangers, UdpCounts};

use super::stream::Stream;

/// What came of the meeting of two ends.
pub struct Met {
    /// Flows that stand, with their index.
    pub standing: Vec<(u32, Stream)>,
    /// Flows that never came up.
    pub missing: Vec<NotStanding>,
    /// What the kernel granted.
    pub granted: Granted,
    /// Who came already.
    pub strangers: Strangers,
}

/// A flow that never came up.
pub struct NotStanding {
    /// Its index.
    pub flow: u32,
    /// Why not.
    pub reason: String,
}

impl NotStanding {
    /// What is told of it.
    pub fn report(self) -> FlowReport {
        FlowReport {
            flow: self.flow,
            bytes: 0,
            first_byte_ns: None,
            end_ns: 0,
            end: FlowEnd::Broken,
            error: Some(format!("it never came up: {}", self.reason)),
            local_port: 0,
            remote_port: 0,
            cpu: CpuTime::default(),
            udp: Some(UdpCounts::default()),
        }
    }
}
