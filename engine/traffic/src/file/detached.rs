//! Threads of files, which a trial leaves behind when its time is over: nothing ends a call in which the kernel waits for a
//! disk.

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    thread,
};

use crate::defaults::{FLOW_STACK_BYTES, STOP_CHECK};

/// A thread that owns all it needs.
pub struct Detached<T> {
    outcome: Receiver<T>,
    left: Arc<Left>,
}

/// Whether a thread was left behind.
#[derive(Default)]
pub struct Left(Mutex<bool>);

impl Left {
    /// Whether it was: then it is to end.
    pub fn is_left(&self) -> bool {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something unless it was; what is done so is done before the thread can be left behind.
    pub fn unless_left(&self, act: impl FnOnce()) {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !*left {
            act();
        }
    }
}

impl<T: Send + 'static> Detached<T> {
    /// Starts the thread.
    ///
    /// # Errors
    /// There are no more threads.
    pub fn begin(name: String, body: impl FnOnce(&Left) -> T + Send + 'static) -> io::Result<Self> {
        let (sender, outcome) = sync_channel(1);
        let left = Arc::new(Left::default());
        let own = left.clone();
        let thread = thread::Builder::new().name(name).stack_size(FLOW_STACK_BYTES);
        thread.spawn(move || {
            // Nobody hears what a thread says that was left behind.
            let _ = sender.send(body(&own));
        })?;
        Ok(Self { outcome, left })
    }

    /// Waits for what the thread says, for as long as that `goes_on`. Then it is left behind, which says nothing.
    ///
    /// # Errors
    /// The thread failed.
    pub fn wait(self, mut goes_on: impl FnMut() -> bool) -> io::Result<Option<T>> {
        loop {
            match self.outcome.recv_timeout(STOP_CHECK) {
                Ok(outcome) => return Ok(Some(outcome)),
                Err(RecvTimeoutError::Timeout) if goes_on() => {}
                Err(RecvTimeoutError::Timeout) => {
                    *self.left.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
                    return Ok(None);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("the thread of the files failed")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            atomic::{AtomicBool, Ordering},
            mpsc::channel,
        },
        time::Duration,
    };

    use super::*;

    #[test]
    fn what_a_thread_says_is_heard_and_one_that_fails_is_no_silence() {
        let thread = Detached::begin("says".into(), |_| 7).unwrap();
        assert_eq!(thread.wait(|| true).unwrap(), Some(7));
        let fails = Detached::<u8>::begin("fails".into(), |_| std::panic::resume_unwind(Box::new(()))).unwrap();
        assert!(fails.wait(|| true).is_err());
    }

    #[test]
    fn a_thread_that_hangs_is_left_behind_and_counts_nothing_from_then_on() {
        let (release, released) = channel::<()>();
        let (ended, end) = channel();
        let counted = Arc::new(AtomicBool::new(false));
        let counts = counted.clone();
        let thread = Detached::begin("hangs".into(), move |left| {
            let _ = released.recv_timeout(Duration::from_secs(60));
            left.unless_left(|| counts.store(true, Ordering::Release));
            let _ = ended.send(left.is_left());
        });
        assert_eq!(thread.unwrap().wait(|| false).unwrap(), None);
        release.send(()).unwrap();
        assert!(end.recv_timeout(Duration::from_secs(60)).unwrap());
        assert!(!counted.load(Ordering::Acquire));
    }
}
