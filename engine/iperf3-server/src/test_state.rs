//! The state of a test that all of its streams share: what is sent, how much, how fast, and when they begin and end.

use std::{
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

use crate::{
    defaults::{READ_BYTES, READ_BYTES_MIN, SINK_READ_ON, STOP_CHECK, TEST_READ_BYTES},
    parameters::{Budget, TestParameters},
    throttle::Throttle,
};

/// What all streams of a test share.
pub struct TestState {
    /// What the test is.
    pub parameters: TestParameters,
    /// What may still be sent.
    pub budget: Budget,
    /// What is sent.
    pub payload: Arc<[u8]>,
    /// What keeps the limit of the rate, if there is one.
    pub throttle: Option<Throttle>,
    /// Streams that send, and do not because they are to wait.
    resting: AtomicUsize,
    /// The system's number of why a stream could not send, and whether any could not.
    send_error: OnceLock<i32>,
    /// Nobody waits for what is still under way.
    abandoned: AtomicBool,
    begun: OnceLock<()>,
    counts: AtomicBool,
    sources_stop: AtomicBool,
    sinks_stop: AtomicBool,
}

impl TestState {
    /// Of a test that begins; `rate_max_bps`: what its streams may carry together, in bit/s.
    #[must_use]
    pub fn new(parameters: TestParameters, payload: Arc<[u8]>, rate_max_bps: Option<u64>) -> Self {
        Self {
            budget: Budget::of(&parameters),
            begun: OnceLock::new(),
            counts: AtomicBool::new(parameters.omit.is_zero()),
            parameters,
            payload,
            throttle: rate_max_bps.map(Throttle::new),
            resting: AtomicUsize::new(0),
            send_error: OnceLock::new(),
            abandoned: AtomicBool::new(false),
            sources_stop: AtomicBool::new(false),
            sinks_stop: AtomicBool::new(false),
        }
    }

    /// Streams that send do so from now on.
    pub fn begin(&self) {
        // Once is enough.
        let _ = self.begun.set(());
    }

    /// Waits until they may.
    pub fn wait_for_begin(&self) {
        self.begun.wait();
    }

    /// Whether what flows counts: the beginning that is left out is over.
    pub fn counts(&self) -> bool {
        self.counts.load(Ordering::Relaxed)
    }

    /// From now on it counts.
    pub fn count(&self) {
        self.counts.store(true, Ordering::Relaxed);
    }

    /// Whether streams of a kind are to end.
    pub fn stops(&self, sends: bool) -> bool {
        if sends { &self.sources_stop } else { &self.sinks_stop }.load(Ordering::Relaxed)
    }

    /// All streams are to end at once: nobody is interested any more.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
        self.stop(true);
        self.stop(false);
    }

    /// Whether a stream that receives is to end, whatever is still under way; `stopped`: when it first saw that it is to.
    pub fn ends_sink(&self, stopped: &mut Option<Instant>) -> bool {
        self.abandoned.load(Ordering::Relaxed)
            || self.stops(false) && stopped.get_or_insert_with(Instant::now).elapsed() > SINK_READ_ON
    }

    /// A stream has received so many bytes: waits until more may come under the limit.
    pub fn received(&self, bytes: usize, stopped: &mut Option<Instant>) {
        if let Some(throttle) = &self.throttle {
            wait_until(throttle.carried(bytes), || self.ends_sink(stopped));
        }
    }

    /// A stream has sent so many bytes: waits until more may go under the limit.
    pub fn sent(&self, bytes: usize) {
        if let Some(throttle) = &self.throttle {
            self.rest_until(throttle.carried(bytes));
        }
    }

    /// A stream cannot send.
    pub fn cannot_send(&self, error: &io::Error) {
        // The first reason is enough.
        let _ = self.send_error.set(error.raw_os_error().unwrap_or(0));
    }

    /// The system's number of why a stream cannot send, if one cannot.
    pub fn send_error(&self) -> Option<i32> {
        self.send_error.get().copied()
    }

    /// A stream that sends waits because it is to, and not because of its client.
    pub fn rest_until(&self, moment: Instant) {
        if moment <= Instant::now() {
            return;
        }
        self.resting.fetch_add(1, Ordering::Relaxed);
        wait_until(moment, || self.stops(true));
        self.resting.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether any stream that sends waits because it is to.
    pub fn rests(&self) -> bool {
        self.resting.load(Ordering::Relaxed) > 0
    }

    /// How much a stream carries at once, at most.
    pub fn part_bytes(&self) -> usize {
        let streams = self.parameters.receiving.saturating_add(self.parameters.sending).max(1);
        let fair = (TEST_READ_BYTES / streams as usize).clamp(READ_BYTES_MIN, READ_BYTES);
        self.throttle.as_ref().map_or(fair, |throttle| throttle.part_bytes(streams).min(fair))
    }

    /// Streams of a kind are to end; sinks once they have read what is there.
    pub fn stop(&self, sends: bool) {
        if sends { &self.sources_stop } else { &self.sinks_stop }.store(true, Ordering::Relaxed);
        self.begin();
    }
}

/// Sleeps until a moment, or until somebody says so.
fn wait_until(moment: Instant, mut over: impl FnMut() -> bool) {
    while !over() {
        let left = moment.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(STOP_CHECK));
    }
}
