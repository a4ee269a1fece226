//! Two trials in one test of a server: the one that sends carries both out, the one that receives hands itself over.

use std::{
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use wire::Prepare;

use crate::{
    Control, TrialError,
    defaults::{IPERF3_PARTNER, STOP_CHECK},
};

/// A trial that waits for the one in the other direction, or is carried out by it.
pub struct Partner {
    /// Which it is.
    pub prepare: Prepare,
    /// Its controller has stopped it.
    pub stopped: AtomicBool,
    over: Mutex<bool>,
    changed: Condvar,
}

/// Trials that wait; those of all sessions of this process, distinguished by both names.
static WAITING: Mutex<Vec<Arc<Partner>>> = Mutex::new(Vec::new());

/// Waits until the trial that is named has carried this one out too, whose every event it tells.
pub fn hand_over(prepare: &Prepare, sender: &str, control: &Control) -> Result<(), TrialError> {
    let partner = Arc::new(Partner {
        prepare: prepare.clone(),
        stopped: AtomicBool::new(false),
        over: Mutex::new(false),
        changed: Condvar::new(),
    });
    waiting().push(partner.clone());
    let deadline = Instant::now() + IPERF3_PARTNER;
    loop {
        if partner.is_over_after(STOP_CHECK) {
            return Ok(());
        }
        let stopped = control.stopped();
        partner.stopped.store(stopped, Ordering::Relaxed);
        if (stopped || Instant::now() >= deadline) && withdraw(&partner) {
            return Err(if stopped { TrialError::Stopped } else { missing(sender) });
        }
    }
}

/// The trial that is named and waits for this one; whoever gets it says when it is over.
pub fn take(prepare: &Prepare, receiver: &str, control: &Control) -> Result<TakenOver, TrialError> {
    let deadline = Instant::now() + IPERF3_PARTNER;
    let is_it = |partner: &Arc<Partner>| {
        let wanted = partner.prepare.iperf3.as_ref().and_then(|iperf3| iperf3.together_with.as_deref());
        partner.prepare.trial == receiver && wanted == Some(prepare.trial.as_str())
    };
    loop {
        let mut all = waiting();
        if let Some(place) = all.iter().position(is_it) {
            return Ok(TakenOver(all.swap_remove(place)));
        }
        drop(all);
        if control.stopped() {
            return Err(TrialError::Stopped);
        }
        if Instant::now() >= deadline {
            return Err(missing(receiver));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A trial that is carried out by another one: over when this is dropped, whatever happens.
pub struct TakenOver(Arc<Partner>);

impl std::ops::Deref for TakenOver {
    type Target = Partner;

    fn deref(&self) -> &Partner {
        &self.0
    }
}

impl Drop for TakenOver {
    fn drop(&mut self) {
        *self.0.over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}

impl Partner {
    fn is_over_after(&self, longest: Duration) -> bool {
        let over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(over, longest, |over| !*over);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Takes a trial that nobody has taken yet out of those that wait.
fn withdraw(partner: &Arc<Partner>) -> bool {
    let mut all = waiting();
    let before = all.len();
    all.retain(|other| !Arc::ptr_eq(other, partner));
    all.len() < before
}

fn waiting() -> MutexGuard<'static, Vec<Arc<Partner>>> {
    // The list is never left half-changed.
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn missing(partner: &str) -> TrialError {
    TrialError::NoPartner { partner: partner.into(), timeout: IPERF3_PARTNER }
}
