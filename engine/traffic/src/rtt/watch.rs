//! What one end of a measurement does and sees meanwhile.

use sys::{ThreadCpu, thread_cpu};

use super::echo_row::EchoRow;
use crate::{
    TrialError,
    defaults::{MONITOR_DELAY_MOST, MONITOR_INTERVAL},
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

    /// Looks at the host if it is time, and if nothing is awaited that is stamped by this thread; where something always
    /// is, as late as [`MONITOR_DELAY_MOST`] all the same.
    pub fn look_if_due(&mut self, now_ns: i64, quiet: bool) {
        if quiet || self.monitor.overdue(now_ns) > MONITOR_DELAY_MOST {
            self.monitor.look_if_due(now_ns, std::iter::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_for_a_quiet_moment_but_not_forever() {
        const SECOND_NS: i64 = 1_000_000_000;
        let mut seen = Watch::begin(Counters::default());
        let mut looked_at = |now_ns: i64, quiet: bool| {
            let due_before = seen.monitor.due_in(now_ns);
            seen.look_if_due(now_ns, quiet);
            due_before != seen.monitor.due_in(now_ns)
        };
        assert!(!looked_at(SECOND_NS - 1, true), "not due");
        assert!(!looked_at(SECOND_NS + 1, false));
        assert!(looked_at(SECOND_NS + 2, true));
        assert!(!looked_at(3 * SECOND_NS, false));
        assert!(looked_at(3 * SECOND_NS + 1, false));
    }
}
