//! Why a test may have to hurry: the server is to end, or others wait for places that nothing is done with.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use rustix::event::{EventfdFlags, eventfd};

use crate::defaults::CROWDED_PATIENCE;

/// What all tests look at.
pub struct Urgency {
    /// Can be read from once the server is to end, and for ever after: whoever waits for a client waits for this, too.
    ends: OwnedFd,
    stopping: AtomicBool,
    crowded: AtomicBool,
}

impl Urgency {
    /// None yet.
    ///
    /// # Errors
    /// If there can be no more files.
    pub fn new() -> io::Result<Self> {
        let ends = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { ends, stopping: AtomicBool::new(false), crowded: AtomicBool::new(false) })
    }

    /// All tests are to end.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        // Nobody reads it, so that it cannot be full.
        let _ = rustix::io::write(&self.ends, &1_u64.to_ne_bytes());
    }

    /// Whether all tests are to end.
    pub fn stops(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// What can be read from once all tests are to end.
    pub fn ends(&self) -> BorrowedFd<'_> {
        self.ends.as_fd()
    }

    /// Whether somebody waits whom only others' tests keep out.
    pub fn set_crowded(&self, crowded: bool) {
        self.crowded.store(crowded, Ordering::Relaxed);
    }

    /// How long a client is waited for that does nothing with its place, where it would be `longest`.
    pub fn patience(&self, longest: Duration) -> Duration {
        if self.crowded.load(Ordering::Relaxed) { longest.min(CROWDED_PATIENCE) } else { longest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_is_shorter_while_somebody_waits() {
        let urgency = Urgency::new().unwrap();
        let long = CROWDED_PATIENCE * 10;
        assert_eq!(urgency.patience(long), long);
        urgency.set_crowded(true);
        assert_eq!((urgency.patience(long), urgency.patience(Duration::ZERO)), (CROWDED_PATIENCE, Duration::ZERO));
        urgency.set_crowded(false);
        assert_eq!(urgency.patience(long), long);
    }
}
