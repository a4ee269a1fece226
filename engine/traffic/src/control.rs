use std::{
    net::IpAddr,
    sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use wire::defaults::START_TIMEOUT;

use crate::{TrialError, defaults::STOP_CHECK};

/// What the controller has requested of a prepared trial since, and what its host allows.
#[derive(Default)]
pub struct Control {
    requested: Mutex<Requested>,
    changed: Condvar,
    guard: OnceLock<Box<dyn Guard>>,
}

/// What a host allows one end of a trial, whatever its controller requests.
pub trait Guard: Send + Sync {
    /// Whether it may exchange traffic with a peer, whose address the kernel says.
    ///
    /// # Errors
    /// Why not.
    fn check_peer(&self, peer: IpAddr) -> Result<(), String>;
    /// Whether so many bytes are not too many.
    fn may_carry(&self, bytes: u64) -> bool;
}

#[derive(Debug, Default)]
struct Requested {
    start: Option<Instant>,
    stop: bool,
}

impl Control {
    /// Lets a source begin to send, at `begin` or at once if that is past.
    pub fn start(&self, begin: Instant) {
        self.lock().start = Some(begin);
        self.changed.notify_all();
    }

    /// Ends the trial, wherever it is.
    pub fn stop(&self) {
        self.lock().stop = true;
        self.changed.notify_all();
    }

    /// From here on a guard decides; the first one stays.
    pub fn guard(&self, guard: Box<dyn Guard>) {
        let _ = self.guard.set(guard);
    }

    /// Whether traffic with a peer is allowed: it is, where no guard says anything else.
    ///
    /// # Errors
    /// [`TrialError::Refused`].
    pub fn check_peer(&self, peer: IpAddr) -> Result<(), TrialError> {
        self.guard.get().map_or(Ok(()), |guard| guard.check_peer(peer).map_err(TrialError::Refused))
    }

    /// Whether so many bytes are allowed. They are counted where somebody asks alone.
    #[must_use]
    pub fn may_carry(&self, bytes: impl FnOnce() -> u64) -> bool {
        self.guard.get().is_none_or(|guard| guard.may_carry(bytes()))
    }

    /// Whether [`Control::start`] was called.
    #[must_use]
    pub fn started(&self) -> bool {
        self.lock().start.is_some()
    }

    /// Whether [`Control::stop`] was called.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.lock().stop
    }

    /// Waits for the start of a source and its moment, for [`START_TIMEOUT`] at most.
    ///
    /// # Arguments
    /// `meanwhile`: does what is due before the start, now and every [`STOP_CHECK`].
    ///
    /// # Errors
    /// [`TrialError::Stopped`], or [`TrialError::StartTimeout`].
    pub fn wait_until_started(&self, mut meanwhile: impl FnMut()) -> Result<(), TrialError> {
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            meanwhile();
            if self.wait_for_start(STOP_CHECK) {
                return Ok(());
            }
            if self.stopped() {
                return Err(TrialError::Stopped);
            }
            if Instant::now() >= deadline {
                return Err(TrialError::StartTimeout(START_TIMEOUT));
            }
        }
    }

    /// Waits for the start and its moment; `false` if there was none in time, or a stop first.
    fn wait_for_start(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut requested = self.lock();
        loop {
            let until = requested.start.unwrap_or(deadline);
            let left = until.saturating_duration_since(Instant::now());
            if requested.stop {
                return false;
            }
            if left.is_zero() {
                return requested.start.is_some();
            }
            requested = self.changed.wait_timeout(requested, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Requested> {
        // Two flags cannot be left half-written: a poisoned lock is as good as any.
        self.requested.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_never_comes_is_not_waited_for_forever() {
        assert!(!Control::default().wait_for_start(Duration::from_millis(1)));
    }

    #[test]
    fn a_start_is_not_before_its_moment() {
        let control = Control::default();
        let begin = Instant::now() + Duration::from_millis(20);
        control.start(begin);
        assert!(
            control.wait_for_start(Duration::from_millis(1)),
            "the start was received in time, though it lies later"
        );
        assert!(Instant::now() >= begin);
    }

    #[test]
    fn what_is_due_before_the_start_is_done_until_it_comes() {
        let control = Control::default();
        let mut times = 0;
        let started = control.wait_until_started(|| {
            times += 1;
            if times == 2 {
                control.start(Instant::now());
            }
        });
        assert!(started.is_ok());
        assert_eq!(times, 2);
        control.stop();
        assert!(matches!(control.wait_until_started(|| {}), Err(TrialError::Stopped)));
    }

    #[test]
    fn a_stop_wins_over_a_start() {
        let control = Control::default();
        control.start(Instant::now());
        assert!(control.wait_for_start(Duration::from_secs(1)));
        control.stop();
        assert!(control.stopped());
        assert!(!control.wait_for_start(Duration::from_secs(1)));
    }
}
