//! A thread reports its CPU time on request: it alone can read it exactly, and at the price of one system call.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use sys::{ThreadCpu, thread_cpu};

/// Where one thread reports what it has used so far. A thread that waits reports when it goes on: it uses nothing until
/// then.
#[derive(Debug, Default)]
pub struct ThreadMeter {
    requested: AtomicBool,
    reported: Mutex<Option<ThreadReading>>,
}

/// What a thread had used at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadReading {
    /// When it looked, in nanoseconds since the end's origin.
    pub at_ns: i64,
    /// Since the thread began.
    pub cpu: ThreadCpu,
}

impl ThreadMeter {
    /// Requests a report of the thread.
    pub fn request(&self) {
        self.requested.store(true, Ordering::Relaxed);
    }

    /// Reports, if that was requested since the last report. Only the thread itself may call it; costs a load otherwise.
    pub fn report_if_requested(&self, now_ns: impl FnOnce() -> i64) {
        if self.requested.load(Ordering::Relaxed) {
            self.report(now_ns());
        }
    }

    /// Reports at once. Only the thread itself may call it.
    pub fn report(&self, at_ns: i64) {
        self.requested.store(false, Ordering::Relaxed);
        // On a kernel that does not account for threads there are no rows of them.
        if let Ok(cpu) = thread_cpu() {
            *self.reported.lock().unwrap_or_else(PoisonError::into_inner) = Some(ThreadReading { at_ns, cpu });
        }
    }

    /// The last report of the thread.
    pub fn reported(&self) -> Option<ThreadReading> {
        *self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_reports_once_for_each_request() {
        let meter = ThreadMeter::default();
        meter.report_if_requested(|| 1);
        assert_eq!(meter.reported(), None);
        meter.request();
        meter.report_if_requested(|| 2);
        meter.report_if_requested(|| 3);
        assert_eq!(meter.reported().unwrap().at_ns, 2);
    }
}
