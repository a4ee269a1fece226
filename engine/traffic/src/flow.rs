//! What a flow's thread and the end's coordinator share.

use std::{
    io,
    sync::{
        Arc, Condvar, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use sys::ThreadCpu;
use wire::{CpuTime, FlowEnd, FlowReport};

use crate::{
    host::ThreadMeter,
    origin::Origin,
    time::{microseconds, nanoseconds},
};

const NOT_YET: i64 = -1;

/// What carries a flow's bytes.
pub trait Connection: Sync {
    /// Whether a flow that breaks ends only itself, and not the trial.
    const BREAKS_ALONE: bool;
    /// Local and remote port, while it stands; 0 where there is none.
    fn ports(&self) -> (u16, u16);
    /// Wakes the flow's thread, wherever it waits, and sends nothing more.
    fn break_off(&self);
}

/// Application bytes that passed of a flow. A thread that may outlive the flow has it for its own.
#[repr(align(128))]
pub struct Tally {
    bytes: AtomicU64,
    first_byte_ns: AtomicI64,
}

impl Tally {
    /// Nothing has passed.
    fn new() -> Self {
        Self { bytes: AtomicU64::new(0), first_byte_ns: AtomicI64::new(NOT_YET) }
    }

    /// Counts bytes that just passed; none of them: the flow begins to pass some. Only one thread may call it.
    pub fn count(&self, count: usize, origin: Instant) {
        let total = self.bytes.load(Ordering::Relaxed);
        if self.first_byte_ns.load(Ordering::Relaxed) == NOT_YET {
            self.first_byte_ns.store(nanoseconds(origin.elapsed()), Ordering::Release);
        }
        self.bytes.store(total + count as u64, Ordering::Release);
    }
}

/// One flow. Only its own thread writes; padded so that two flows never share a cache line.
#[repr(align(128))]
pub struct Flow<C> {
    /// Index of the flow in its trial.
    pub index: u32,
    /// The connection.
    pub connection: C,
    /// Read while it stands: a closed connection does not tell.
    ports: (u16, u16),
    tally: Arc<Tally>,
    /// What its thread uses.
    pub meter: ThreadMeter,
    ending: OnceLock<Ending>,
}

/// How a flow ended.
#[derive(Debug)]
pub struct Ending {
    /// When, since the origin.
    pub at_ns: i64,
    /// How.
    pub end: FlowEnd,
    /// The kernel's word for it.
    pub error: Option<String>,
    /// What its thread cost.
    pub cpu: CpuTime,
}

/// All flows of one end of a trial.
pub struct Flows<C> {
    /// The flows, in the order of their index.
    pub all: Vec<Flow<C>>,
    origin: Origin,
    begun: Mutex<bool>,
    begin: Condvar,
    counts: AtomicBool,
    stop_sending: Arc<AtomicBool>,
    aborted: AtomicU8,
    ended: Mutex<usize>,
    one_ended: Condvar,
}

impl<C: Connection> Flow<C> {
    /// Application bytes that passed so far.
    pub fn bytes(&self) -> u64 {
        self.tally.bytes.load(Ordering::Acquire)
    }

    /// When the first of them passed, or began to, since the origin.
    pub fn first_byte_ns(&self) -> Option<i64> {
        Some(self.tally.first_byte_ns.load(Ordering::Acquire)).filter(|&at_ns| at_ns != NOT_YET)
    }

    /// How it ended, once it has.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.get()
    }

    /// Counts bytes that just passed. Only the flow's own thread may call it.
    pub fn passed(&self, count: usize, origin: Instant) {
        self.count(count, origin);
        self.meter.report_if_requested(|| nanoseconds(origin.elapsed()));
    }

    /// Counts bytes that just passed on a thread that carries several flows, and tells of itself as another one's.
    pub fn count(&self, count: usize, origin: Instant) {
        self.tally.count(count, origin);
    }

    /// Where its bytes are counted, for a thread that counts in place of its own.
    pub fn tally(&self) -> Arc<Tally> {
        self.tally.clone()
    }

    /// The flow's part of the report.
    pub fn report(&self) -> FlowReport {
        let ending = self.ending();
        FlowReport {
            flow: self.index,
            bytes: self.bytes(),
            first_byte_ns: self.first_byte_ns(),
            end_ns: ending.map_or(0, |ending| ending.at_ns),
            end: ending.map_or(FlowEnd::Stopped, |ending| ending.end),
            error: ending.and_then(|ending| ending.error.clone()),
            local_port: self.ports.0,
            remote_port: self.ports.1,
            cpu: ending.map(|ending| ending.cpu).unwrap_or_default(),
            udp: None,
        }
    }
}

impl<C: Connection> Flows<C> {
    /// Takes over connections with the index of their flow; `origin` is the zero of all their times.
    pub fn new(connections: impl IntoIterator<Item = (u32, C)>, origin: Origin) -> Self {
        let all = connections.into_iter().map(|(index, connection)| Flow {
            index,
            ports: connection.ports(),
            connection,
            tally: Arc::new(Tally::new()),
            meter: ThreadMeter::default(),
            ending: OnceLock::new(),
        });
        Self {
            all: all.collect(),
            origin,
            begun: Mutex::new(false),
            begin: Condvar::new(),
            counts: AtomicBool::new(false),
            stop_sending: Arc::default(),
            aborted: AtomicU8::new(0),
            ended: Mutex::new(0),
            one_ended: Condvar::new(),
        }
    }

    /// The zero of all times.
    pub fn origin(&self) -> Instant {
        self.origin.instant
    }

    /// The same by the wall clock, too.
    pub fn origin_of_both(&self) -> Origin {
        self.origin
    }

    /// Time since the origin, in nanoseconds.
    pub fn now_ns(&self) -> i64 {
        self.origin.elapsed_ns()
    }

    /// Sum of all flows' bytes.
    pub fn bytes(&self) -> u64 {
        self.all.iter().map(Flow::bytes).sum()
    }

    /// Where each flow's thread tells what it uses, with the flow's index: one that was not established is missing.
    pub fn meters(&self) -> impl Iterator<Item = (u32, &ThreadMeter)> {
        self.all.iter().map(|flow| (flow.index, &flow.meter))
    }

    /// Lets all threads begin, once all of them are there: none has to be started beside others that run already.
    pub fn begin(&self) {
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.begin.notify_all();
    }

    /// Waits until all threads may begin.
    pub fn wait_for_begin(&self) {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.begin.wait_while(begun, |begun| !*begun));
    }

    /// What flows counts from now on, in a test whose beginning is left out.
    pub fn count(&self) {
        self.counts.store(true, Ordering::Relaxed);
    }

    /// Whether a beginning that is left out is over.
    pub fn counts(&self) -> bool {
        self.counts.load(Ordering::Relaxed)
    }

    /// Tells the writers that time is up.
    pub fn stop_sending(&self) {
        self.stop_sending.store(true, Ordering::Relaxed);
    }

    /// Whether the writers must end.
    pub fn sending_stopped(&self) -> bool {
        self.stop_sending.load(Ordering::Relaxed)
    }

    /// The same, for a thread that may outlive the flows.
    pub fn stop_of_sending(&self) -> Arc<AtomicBool> {
        self.stop_sending.clone()
    }

    /// Breaks off every connection that has not ended.
    pub fn abort(&self, why: FlowEnd) {
        let code = if why == FlowEnd::DrainTimeout { 1 } else { 2 };
        self.aborted.store(code, Ordering::Release);
        self.stop_sending();
        self.begin();
        for flow in self.all.iter().filter(|flow| flow.ending().is_none()) {
            flow.connection.break_off();
        }
    }

    /// Why the flows were aborted, if they were.
    pub fn aborted(&self) -> Option<FlowEnd> {
        match self.aborted.load(Ordering::Acquire) {
            0 => None,
            1 => Some(FlowEnd::DrainTimeout),
            _ => Some(FlowEnd::Stopped),
        }
    }

    /// A flow's thread says how it ended, just now.
    pub fn end(&self, flow: &Flow<C>, end: FlowEnd, error: Option<String>, cpu: CpuTime) {
        self.end_at(flow, self.now_ns(), end, error, cpu);
    }

    /// A flow's thread says how it ended, and when.
    pub fn end_at(&self, flow: &Flow<C>, at_ns: i64, end: FlowEnd, error: Option<String>, cpu: CpuTime) {
        flow.meter.report(self.now_ns());
        let end = self.aborted().filter(|_| end != FlowEnd::Drained).unwrap_or(end);
        if flow.ending.set(Ending { at_ns, end, error, cpu }).is_err() {
            return;
        }
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.one_ended.notify_all();
    }

    /// A flow's thread says how it ended: so, or broken.
    pub fn end_as(&self, flow: &Flow<C>, ended: io::Result<FlowEnd>, cpu: CpuTime) {
        match ended {
            Ok(end) => self.end(flow, end, None, cpu),
            Err(error) => self.end(flow, FlowEnd::Broken, Some(error.to_string()), cpu),
        }
    }

    /// Waits until every flow has ended, at most for `timeout`; says whether they have.
    pub fn wait_all_ended(&self, timeout: Duration) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let count = self.all.len();
        let waited = self.one_ended.wait_timeout_while(ended, timeout, |ended| *ended < count);
        *waited.unwrap_or_else(PoisonError::into_inner).0 >= count
    }
}

/// CPU time of the calling thread since `before`.
pub fn cpu_since(before: Option<ThreadCpu>, began: Instant) -> CpuTime {
    cpu_in(before, began.elapsed())
}

/// CPU time of the calling thread since `before`, which is so long ago.
pub fn cpu_in(before: Option<ThreadCpu>, elapsed: Duration) -> CpuTime {
    let elapsed_us = microseconds(elapsed);
    let (Some(before), Ok(now)) = (before, sys::thread_cpu()) else {
        return CpuTime { elapsed_us, ..CpuTime::default() };
    };
    CpuTime {
        user_us: microseconds(now.user.saturating_sub(before.user)),
        system_us: microseconds(now.system.saturating_sub(before.system)),
        elapsed_us,
        voluntary_switches: now.voluntary_switches.saturating_sub(before.voluntary_switches),
        involuntary_switches: now.involuntary_switches.saturating_sub(before.involuntary_switches),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_is_of_when_a_flow_began_to_pass_some() {
        let tally = Tally::new();
        let origin = Instant::now();
        tally.count(0, origin);
        let begun_ns = tally.first_byte_ns.load(Ordering::Acquire);
        assert_ne!(begun_ns, NOT_YET);
        while nanoseconds(origin.elapsed()) == begun_ns {}
        tally.count(5, origin);
        assert_eq!(tally.first_byte_ns.load(Ordering::Acquire), begun_ns);
        assert_eq!(tally.bytes.load(Ordering::Acquire), 5);
    }
}
