//! A congestion control of the library's, watched: what it allowed, and how long it was what held the source back.

use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use quinn::congestion::{BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig};
use quinn_proto::RttEstimator;

/// The congestion controls there are, by the names that plans have for them.
pub const NAMES: [&str; 3] = ["cubic", "newreno", "bbr"];
/// What is used where a plan names none.
pub const USUAL: &str = "cubic";

/// The library's own of that name; `None` of an unknown one.
pub fn library_factory(name: &str) -> Option<Arc<dyn ControllerFactory + Send + Sync>> {
    match name {
        "cubic" => Some(Arc::new(CubicConfig::default())),
        "newreno" => Some(Arc::new(NewRenoConfig::default())),
        "bbr" => Some(Arc::new(BbrConfig::default())),
        _ => None,
    }
}

/// What holds a source back, as its acknowledgements show it. All of it is of the connection's own thread; others read.
#[derive(Debug, Default)]
pub struct Held {
    /// Largest congestion window so far.
    pub largest_window_bytes: AtomicU64,
    /// Bytes in flight after the last acknowledgement.
    pub in_flight_bytes: AtomicU64,
    /// Time in which the congestion window was full, in microseconds.
    pub congestion_us: AtomicU64,
    /// Time in which data waited to be sent although it was not: a window of the receiver's, or the source's own, was full.
    pub flow_control_us: AtomicU64,
    /// Time in which the application had nothing to send.
    pub application_us: AtomicU64,
    /// Writes of the application that wait for room.
    pub waiting_writes: AtomicU64,
}

/// Makes watched controllers.
pub struct Watched {
    inner: Arc<dyn ControllerFactory + Send + Sync>,
    held: Arc<Held>,
}

impl Watched {
    /// Of one connection.
    pub fn new(inner: Arc<dyn ControllerFactory + Send + Sync>, held: Arc<Held>) -> Self {
        Self { inner, held }
    }
}

impl ControllerFactory for Watched {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = self.inner.clone().build(now, current_mtu);
        self.held.largest_window_bytes.fetch_max(inner.window(), Ordering::Relaxed);
        Box::new(WatchedController { inner, held: self.held.clone(), since: None })
    }
}

struct WatchedController {
    inner: Box<dyn Controller>,
    held: Arc<Held>,
    /// The last acknowledgements.
    since: Option<Instant>,
}

impl Controller for WatchedController {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest_packet_num_acked: Option<u64>) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
        let held = &self.held;
        held.largest_window_bytes.fetch_max(self.inner.window(), Ordering::Relaxed);
        held.in_flight_bytes.store(in_flight, Ordering::Relaxed);
        if let Some(since) = self.since {
            let reason = match (app_limited, held.waiting_writes.load(Ordering::Relaxed) > 0) {
                (false, _) => &held.congestion_us,
                (true, true) => &held.flow_control_us,
                (true, false) => &held.application_us,
            };
            let passed_us = u64::try_from(now.saturating_duration_since(since).as_micros()).unwrap_or(u64::MAX);
            reason.fetch_add(passed_us, Ordering::Relaxed);
        }
        self.since = Some(now);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64) {
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), held: self.held.clone(), since: self.since })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
