//! What one end of a measurement does and sees meanwhile.

use sys::{ThreadCpu, thread_cpu};

use super::echo_row::EchoRow;
use crate::{
    TrialError,
    defaults::MONITOR_INTERVAL,
    host::{Counters, Monitor},
    origin::Origin,
    samples::Log,
};

/// What one end did.
pub struct Ran {
    /// Payload that it sent (source) or got (sink), as far as its engine had it in hands.
    pub bytes: u64,
    /// What became of each probe.
    pub echoes: Log<EchoRow>,
    /// Remarks for the report.
    pub remarks: Vec<String>,
    /// Why the trial is not whole at this end.
    pub incomplete: Option<TrialError>,
}

/// What is seen of the host and of this thread meanwhile.
pub struct Watch {
    /// Where times count from.
    pub origin: Origin,
    /// Who watches the host.
    pub monitor: Monitor,
    /// What this thread had used when it began.
    pub cpu: Option<ThreadCpu>,
}

impl Watch {
    /// Begins now; `counters` are the host's, read before anything could be sent.
    pub fn begin(counters: Counters) -> Self {
        let monitor = Monitor::begin(counters, MONITOR_INTERVAL, 0, 0);
        Self { monitor, cpu: thread_cpu().ok(), origin: Origin::now() }
    }
}
