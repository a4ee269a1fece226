use std::time::{Duration, Instant};

use wire::PathSettings;

use super::line::Line;
use crate::{
    Control, Outbox, Task, TrialError,
    defaults::STOP_CHECK,
    host::{Counters, Monitor, Observed},
    origin::{Origin, wall_clock_ns},
    progress::ProgressTeller,
    time::nanoseconds,
};

/// How often CPU time is looked at: a measurement of a path takes little of it.
const MONITOR_INTERVAL: Duration = Duration::from_secs(1);

/// One end of a measurement of a path while it runs: what both ends need.
pub struct Run<'a> {
    /// What was asked for.
    pub settings: &'a PathSettings,
    /// To the other end.
    pub line: Line,
    /// Where times count from.
    pub origin: Origin,
    /// Bytes of payload that passed so far.
    pub bytes: u64,
    control: &'a Control,
    monitor: Monitor,
    progress: ProgressTeller<'a>,
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
        Self {
            settings: task.settings,
            line,
            origin: Origin::now(),
            bytes: 0,
            control,
            monitor: Monitor::begin(counters, MONITOR_INTERVAL, 0, 0),
            progress: ProgressTeller::new(task.trial, task.role, outbox),
        }
    }

    /// Now, by the wall clock, which the kernel stamps datagrams with, since the origin.
    pub fn now_ns(&self) -> i64 {
        wall_clock_ns() - self.origin.unix_ns
    }

    /// When a datagram arrived, since the origin: now, if the kernel did not say.
    pub fn arrived_ns(&self, arrived_unix_ns: Option<i64>) -> i64 {
        arrived_unix_ns.unwrap_or_else(wall_clock_ns) - self.origin.unix_ns
    }

    /// Does what is due now and then, and goes no further if the controller has stopped the trial.
    pub fn look(&mut self) -> Result<(), TrialError> {
        let elapsed_ns = nanoseconds(self.origin.instant.elapsed());
        self.monitor.look_if_due(elapsed_ns, std::iter::empty());
        self.progress.tell_if_due(elapsed_ns, || self.bytes);
        if self.control.stopped() { Err(TrialError::Stopped) } else { Ok(()) }
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

    /// What was seen of the host, and of strangers.
    pub fn end(self) -> (Observed, wire::Strangers) {
        let elapsed_ns = nanoseconds(self.origin.instant.elapsed());
        (self.monitor.end(elapsed_ns, std::iter::empty()), self.line.strangers())
    }
}
