//! Whether a test is to end before its time: it may carry two trials, and either may be stopped.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use crate::{Control, TrialError, defaults::STOP_CHECK};

/// Who may stop a test.
#[derive(Clone, Copy, Default)]
pub struct Halt<'a> {
    /// Of the trial.
    pub control: Option<&'a Control>,
    /// Of the one in the other direction.
    pub partner: Option<&'a AtomicBool>,
}

impl<'a> Halt<'a> {
    /// Of one trial.
    pub fn of(control: &'a Control) -> Self {
        Self { control: Some(control), partner: None }
    }

    /// Whether it is to stop.
    pub fn stopped(&self) -> bool {
        self.control.is_some_and(Control::stopped)
            || self.partner.is_some_and(|stopped| stopped.load(Ordering::Relaxed))
    }

    /// Goes on; fails once the trial is stopped.
    pub fn check(&self) -> Result<(), TrialError> {
        if self.stopped() { Err(TrialError::Stopped) } else { Ok(()) }
    }

    /// The same after so many bytes, of which its host may say that they are too many.
    pub fn check_carried(&self, bytes: impl FnOnce() -> u64) -> Result<(), TrialError> {
        self.check()?;
        if self.control.is_none_or(|control| control.may_carry(bytes)) { Ok(()) } else { Err(TrialError::Stopped) }
    }

    /// Waits, unless a stop comes.
    pub fn sleep(&self, pause: Duration) -> Result<(), TrialError> {
        let until = Instant::now() + pause;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return self.check();
            }
            self.check()?;
            std::thread::sleep(left.min(STOP_CHECK));
        }
    }
}
