use std::time::{Duration, Instant};

use sys::{Datagram, IcmpError};
use wire::PathSettings;

use super::line::{Line, Taken};
use crate::{
    Control, Outbox, Task, TrialError,
    defaults::{DATAGRAMS_AT_ONCE, MONITOR_INTERVAL, STOP_CHECK},
    host::{Counters, Monitor, Observed},
    kernel_time::{KernelTime, Steps},
    origin::Origin,
    progress::ProgressReporter,
    time::nanoseconds,
};

/// One end of a measurement of a path while it runs: what both ends need.
pub struct Run<'a> {
    /// The settings of the trial.
    pub settings: &'a PathSettings,
    /// To the other end.
    pub line: Line,
    /// Where times count from.
    pub origin: Origin,
    /// Bytes of payload that passed so far.
    pub bytes: u64,
    /// What differs from what the settings request, as was seen on the way.
    pub remarks: Vec<String>,
    kernel: KernelTime,
    control: &'a Control,
    monitor: Monitor,
    progress: ProgressReporter<'a>,
}

impl<'a> Run<'a> {
    /// Begins now. `counters` are the host's, read before anything could be sent.
    pub fn begin(
        task: &Task<'a, PathSettings>,
        line: Line,
        counters: Counters,
        control: &'a Control,
        outbox: &'a dyn Outbox,
    ) -> Self {
        let origin = Origin::now();
        Self {
            settings: task.settings,
            line,
            origin,
            kernel: KernelTime::new(origin),
            bytes: 0,
            remarks: Vec::new(),
            control,
            monitor: Monitor::begin(counters, MONITOR_INTERVAL, 0, 0),
            progress: ProgressReporter::new(task.trial, task.role, outbox),
        }
    }

    /// Now, since the origin.
    pub fn now_ns(&self) -> i64 {
        self.origin.elapsed_ns()
    }

    /// The next datagram of the trial's, as `read` understands it, of all that wait, but not of more than
    /// [`DATAGRAMS_AT_ONCE`]: a flood of others does not keep the caller from its deadlines.
    pub fn receive<T>(&mut self, buffer: &mut [u8], read: impl Fn(&[u8]) -> Option<T>) -> Option<(T, Datagram)> {
        for _ in 0..DATAGRAMS_AT_ONCE {
            match self.line.receive(buffer, &read) {
                Taken::Ours(said, datagram) => {
                    self.kernel.look();
                    return Some((said, datagram));
                }
                Taken::Other => {}
                Taken::Nothing => {
                    self.kernel.drained();
                    break;
                }
            }
        }
        None
    }

    /// The next ICMP error about what was sent, if one is there.
    pub fn receive_error(&mut self, buffer: &mut [u8]) -> Option<IcmpError> {
        let error = self.line.receive_error(buffer)?;
        self.kernel.look();
        Some(error)
    }

    /// When the latest that was received arrived, by what the kernel said of it, since the origin: now, if it said nothing;
    /// absent if it said so by a clock that was set about then.
    pub fn arrived_ns(&mut self, stamp_unix_ns: Option<i64>) -> Option<i64> {
        match stamp_unix_ns {
            Some(stamp_unix_ns) => self.kernel.arrived_ns(stamp_unix_ns),
            None => Some(self.now_ns()),
        }
    }

    /// Does what is due now and then, and goes no further if the controller has stopped the trial.
    pub fn look(&mut self) -> Result<(), TrialError> {
        let elapsed_ns = nanoseconds(self.origin.instant.elapsed());
        self.monitor.look_if_due(elapsed_ns, std::iter::empty());
        self.progress.report_if_due(elapsed_ns, || self.bytes);
        if self.control.stopped() { Err(TrialError::Stopped) } else { Ok(()) }
    }

    /// Reports all that passed: no table of a path's has it.
    pub fn tell(&mut self) {
        self.progress.report(self.now_ns(), self.bytes);
    }

    /// Waits for something to read until `until_ns`, but not so long that a stop would go unnoticed.
    pub fn wait_until(&mut self, until_ns: i64) -> Result<(), TrialError> {
        let left = Duration::from_nanos(u64::try_from(until_ns - self.now_ns()).unwrap_or(0));
        if !left.is_zero() {
            self.line.wait(left.min(STOP_CHECK));
        }
        self.look()
    }

    /// Leaves the path alone for a while.
    pub fn pause(&mut self, pause: Duration) -> Result<(), TrialError> {
        let until = Instant::now() + pause;
        loop {
            self.look()?;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(STOP_CHECK));
        }
    }

    /// What was seen of the host, of rejected datagrams, and of the host's clock being set.
    pub fn end(self) -> (Observed, wire::RejectedConnections, Steps) {
        let elapsed_ns = nanoseconds(self.origin.instant.elapsed());
        (self.monitor.end(elapsed_ns, std::iter::empty()), self.line.rejected(), self.kernel.steps)
    }
}
