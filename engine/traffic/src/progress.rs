use wire::{Event, Progress, Role};

use crate::{Outbox, defaults::PROGRESS_INTERVAL, time::nanoseconds};

/// Reports at intervals how far a running end is.
pub struct ProgressReporter<'a> {
    trial: &'a str,
    role: Role,
    outbox: &'a dyn Outbox,
    due_ns: i64,
}

impl<'a> ProgressReporter<'a> {
    /// Reports for the first time after a [`PROGRESS_INTERVAL`].
    pub fn new(trial: &'a str, role: Role, outbox: &'a dyn Outbox) -> Self {
        Self { trial, role, outbox, due_ns: nanoseconds(PROGRESS_INTERVAL) }
    }

    /// Reports, if it is time.
    pub fn report_if_due(&mut self, now_ns: i64, bytes: impl FnOnce() -> u64) {
        if now_ns < self.due_ns {
            return;
        }
        self.report(now_ns, bytes());
    }

    /// Reports at once.
    pub fn report(&mut self, now_ns: i64, bytes: u64) {
        self.due_ns = now_ns + nanoseconds(PROGRESS_INTERVAL);
        self.outbox.event(Event::Progress(Progress {
            trial: self.trial.into(),
            role: self.role,
            elapsed_us: u64::try_from(now_ns / 1000).unwrap_or(0),
            bytes,
        }));
    }
}
