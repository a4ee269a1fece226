//! How a thread tells what it has used, when it is asked: it alone reads its own CPU time at the price of one system
//! call, and exactly.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use sys::{ThreadCpu, thread_cpu};

/// Where one thread says what it has used so far. A thread that waits answers when it goes on: it uses nothing until
/// then.
#[derive(Debug, Default)]
pub struct ThreadMeter {
    asked: AtomicBool,
    told: Mutex<Option<ThreadReading>>,
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
    /// Asks the thread to tell.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Tells, if the thread was asked since it last did. Only the thread itself may call it; costs a load otherwise.
    pub fn answer_if_asked(&self, now_ns: impl FnOnce() -> i64) {
        if self.asked.load(Ordering::Relaxed) {
            self.answer(now_ns());
        }
    }

    /// Tells at once. Only the thread itself may call it.
    pub fn answer(&self, at_ns: i64) {
        self.asked.store(false, Ordering::Relaxed);
        // A kernel that does not say what a thread costs has no rows of it.
        if let Ok(cpu) = thread_cpu() {
            *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(ThreadReading { at_ns, cpu });
        }
    }

    /// What the thread told last.
    pub fn told(&self) -> Option<ThreadReading> {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_tells_once_for_each_time_it_is_asked() {
        let meter = ThreadMeter::default();
        meter.answer_if_asked(|| 1);
        assert_eq!(meter.told(), None);
        meter.ask();
        meter.answer_if_asked(|| 2);
        meter.answer_if_asked(|| 3);
        assert_eq!(meter.told().unwrap().at_ns, 2);
    }
}
