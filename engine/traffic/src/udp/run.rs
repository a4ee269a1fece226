//! The coordinator of one end: starts the flows' threads, samples them, keeps the deadlines.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicI64, Ordering},
    thread::{self, Scope},
    time::Duration,
};

use wire::{DatagramKind, FlowEnd, Role, Strangers, UdpSettings};

use super::{
    content::Ours,
    listen::Listener,
    rows::DatagramRow,
    sampler::Sampler,
    sink::{self, Expected, NOT_YET},
    source,
    stream::{UdpFlow, UdpFlows},
};
use crate::{
    Control, Outbox, Task, TrialError,
    defaults::{
        DUPLICATES_AWAITED, END_MARK_INTERVAL, END_MARK_INTERVAL_LATER, END_MARKS, END_MARKS_QUICK, LATE_AWAITED,
        PAUSE_BORNE, RUNNING_CHECK, RUNNING_INTERVAL, RUNNING_REPEATED, SINK_SLACK, START_TIMEOUT, STOP_CHECK,
    },
    host::{Counters, Monitor, Observed},
    progress::ProgressTeller,
    samples::{Log, SampleLog},
    threads::{AbortOnPanic, spawn},
    time::{from_nanoseconds, microseconds_to_ns, nanoseconds},
};

/// The kernel's counters that rise when it drops a datagram since a socket is full, each of IPv4 and of IPv6.
const DROPS_OF_SOCKETS: [[&str; 2]; 2] = [["Udp.RcvbufErrors", "Udp6RcvbufErrors"], ["Udp.InErrors", "Udp6InErrors"]];

/// What a trial's end leaves behind.
pub struct Ran {
    /// The samples of all flows.
    pub samples: SampleLog,
    /// What became of their datagrams.
    pub datagrams: Log<DatagramRow>,
    /// What the host did meanwhile.
    pub observed: Observed,
    /// Who else came to the listening port meanwhile.
    pub strangers: Strangers,
    /// Why the trial is not whole at this end, but for flows that broke.
    pub incomplete: Option<TrialError>,
}

/// What the kernel does for this end.
#[derive(Clone, Copy)]
pub struct Offloads {
    /// It cuts what is sent (`UDP_SEGMENT`).
    pub gso: bool,
    /// It puts together what is received (`UDP_GRO`).
    pub gro: bool,
}

/// Runs all flows to their end, at the latest until the deadlines of the settings. `counters` are the host's, read before
/// any flow could send.
pub fn run(
    flows: &UdpFlows,
    task: &Task<'_, UdpSettings>,
    offloads: Offloads,
    listener: Option<&Listener>,
    counters: Counters,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<Ran, TrialError> {
    let interval = Duration::from_micros(task.settings.sample_interval_us);
    let expected = Expected { begun_ns: AtomicI64::new(NOT_YET), stopped_ns: AtomicI64::new(NOT_YET) };
    let mut coordinator = Coordinator {
        flows,
        task,
        control,
        expected: &expected,
        sampler: Sampler::new(task.role, flows.all.len(), task.settings.length_bytes, interval),
        monitor: Monitor::begin(counters, interval, flows.all.len(), flows.now_ns()),
        progress: ProgressTeller::new(task.trial, task.role, outbox),
        running: vec![false; flows.all.len()],
        repeat_ns: 0,
    };
    let (incomplete, strangers) = thread::scope(|scope| {
        let _guard = AbortOnPanic(flows);
        if let Err(error) = spawn_all(scope, flows, task, offloads, &expected) {
            flows.abort(FlowEnd::Stopped);
            return Err(error);
        }
        let over = || flows.wait_all_ended(Duration::ZERO) || flows.aborted().is_some();
        let strangers = listener.map(|listener| scope.spawn(move || listener.count_strangers(over)));
        flows.begin();
        let mut incomplete = coordinator.run_until_ended().err();
        incomplete = incomplete.or_else(|| coordinator.first_early());
        let strangers = strangers.and_then(|counting| counting.join().ok()).unwrap_or_default();
        Ok((incomplete, strangers))
    })?;
    // All threads have ended: what is counted now is all there will ever be.
    coordinator.sampler.sample(flows);
    let mut observed = coordinator.monitor.end(flows.now_ns(), flows.meters());
    leave_out(strangers.crowded_out.into(), &mut observed.counters);
    let Sampler { samples, datagrams, .. } = coordinator.sampler;
    Ok(Ran { samples, datagrams, observed, strangers, incomplete })
}

/// What strangers sent and the kernel dropped is no loss of the trial's: it counts as theirs alone.
fn leave_out(dropped: u64, counters: &mut BTreeMap<String, u64>) {
    for [of_v4, of_v6] in DROPS_OF_SOCKETS {
        let mut left = dropped;
        for name in [of_v4, of_v6] {
            if let Some(count) = counters.get_mut(name) {
                let theirs = left.min(*count);
                left -= theirs;
                *count -= theirs;
            }
        }
    }
    counters.retain(|_, count| *count > 0);
}

fn spawn_all<'scope>(
    scope: &'scope Scope<'scope, '_>,
    flows: &'scope UdpFlows,
    task: &'scope Task<'scope, UdpSettings>,
    offloads: Offloads,
    expected: &'scope Expected,
) -> Result<(), TrialError> {
    let settings = task.settings;
    if task.role == Role::Source {
        return source::spawn_all::<Ours>(scope, flows, settings, offloads.gso);
    }
    for flow in &flows.all {
        spawn(scope, flow, flows, &settings.cpus, move || {
            sink::receive(flow, flows, expected, settings, offloads.gro);
        })?;
    }
    Ok(())
}

struct Coordinator<'a> {
    flows: &'a UdpFlows,
    task: &'a Task<'a, UdpSettings>,
    control: &'a Control,
    expected: &'a Expected,
    sampler: Sampler,
    monitor: Monitor,
    progress: ProgressTeller<'a>,
    /// Which flows are known to have delivered datagrams to the sink's application.
    running: Vec<bool>,
    /// When a sink says again which flows run.
    repeat_ns: i64,
}

impl Coordinator<'_> {
    fn run_until_ended(&mut self) -> Result<(), TrialError> {
        let settings = &self.task.settings;
        let sending_ns = microseconds_to_ns(settings.duration_us.saturating_add(settings.pad_us));
        self.wait_until_all_run()?;
        let stop_ns = self.flows.now_ns().saturating_add(sending_ns);
        let deadline = match self.task.role {
            Role::Source => {
                self.watch_until(stop_ns)?;
                self.flows.stop_sending();
                let later = END_MARK_INTERVAL_LATER * (END_MARKS - END_MARKS_QUICK);
                END_MARK_INTERVAL * END_MARKS_QUICK + later + PAUSE_BORNE
            }
            Role::Sink => {
                let stopped_ns = stop_ns.saturating_add(nanoseconds(SINK_SLACK));
                self.expected.stopped_ns.store(stopped_ns, Ordering::Relaxed);
                self.watch_until(stopped_ns)?;
                let drain = Duration::from_micros(settings.drain_us) + DUPLICATES_AWAITED + LATE_AWAITED;
                drain + 2 * PAUSE_BORNE
            }
        };
        if self.watch_until(self.flows.now_ns().saturating_add(nanoseconds(deadline)))? {
            return Ok(());
        }
        let flows = self.flows.all.iter().filter(|flow| flow.ending().is_none()).count();
        self.flows.abort(FlowEnd::DrainTimeout);
        Err(TrialError::DrainTimeout { flows, timeout: deadline })
    }

    /// Waits until the sink's application has received from every flow that has not broken; it says so with a word. From
    /// then on the duration counts, so that the sink sees all flows for the whole of it.
    fn wait_until_all_run(&mut self) -> Result<(), TrialError> {
        let silence = Duration::from_micros(self.task.settings.silence_timeout_us);
        let began_ns = self.flows.now_ns();
        while let Some(flow) = self.first_not_running() {
            let waited = from_nanoseconds(self.flows.now_ns() - began_ns);
            match self.task.role {
                Role::Source if waited >= silence => self.fail_those_not_running(silence),
                Role::Sink if self.running.iter().all(|running| !running) && waited >= START_TIMEOUT + silence => {
                    self.flows.abort(FlowEnd::Stopped);
                    return Err(TrialError::NotRunning { flow, timeout: START_TIMEOUT + silence });
                }
                _ => {}
            }
            if self.step(RUNNING_CHECK)? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn first_not_running(&mut self) -> Option<u32> {
        let flows = self.running.iter_mut().zip(&self.flows.all);
        for (running, flow) in flows.filter(|(running, flow)| !**running && flow.ending().is_none()) {
            *running = match self.task.role {
                Role::Sink => flow.first_byte_ns().is_some(),
                Role::Source => source::heard(flow, DatagramKind::Running),
            };
            if let Some(begun_ns) = flow.first_byte_ns() {
                self.expected.begun_ns.fetch_min(begun_ns, Ordering::Relaxed);
            }
        }
        let mut flows = self.running.iter().zip(&self.flows.all);
        flows.find(|(running, flow)| !**running && flow.ending().is_none()).map(|(_, flow)| flow.index)
    }

    fn fail_those_not_running(&self, silence: Duration) {
        let flows = self.running.iter().zip(&self.flows.all);
        for (_, flow) in flows.filter(|(running, _)| !**running) {
            let within = silence.as_secs_f64();
            flow.connection.fail(format!("its sink said of no datagram within {within} s that it came"));
        }
    }

    /// Samples until `until_ns`; says whether all flows have ended before.
    fn watch_until(&mut self, until_ns: i64) -> Result<bool, TrialError> {
        self.flows.watch_until(until_ns, |left| self.step(left))
    }

    /// Waits a little, at most `longest`, and does what is due; says whether all flows have ended.
    fn step(&mut self, longest: Duration) -> Result<bool, TrialError> {
        let now_ns = self.flows.now_ns();
        let pause = longest.min(STOP_CHECK).min(self.sampler.due_in(now_ns)).min(self.monitor.due_in(now_ns));
        let ended = self.flows.wait_all_ended(pause);
        self.sampler.sample_if_due(self.flows);
        self.monitor.look_if_due(self.flows.now_ns(), self.flows.meters());
        self.progress.tell_if_due(self.flows.now_ns(), || self.flows.bytes());
        self.repeat_running();
        if self.control.stopped() {
            self.flows.abort(FlowEnd::Stopped);
            return Err(TrialError::Stopped);
        }
        Ok(ended)
    }

    /// A sink's word that a flow runs may be lost.
    fn repeat_running(&mut self) {
        let now_ns = self.flows.now_ns();
        if self.task.role == Role::Source || now_ns < self.repeat_ns {
            return;
        }
        self.repeat_ns = now_ns + nanoseconds(RUNNING_INTERVAL);
        let fresh = |flow: &&UdpFlow| {
            flow.first_byte_ns().is_some_and(|first_ns| now_ns - first_ns < nanoseconds(RUNNING_REPEATED))
        };
        let goes_on = |flow: &&UdpFlow| flow.ending().is_none() && flow.connection.tally().ended_ns.is_none();
        let standing = self.flows.all.iter().filter(goes_on);
        standing.filter(fresh).for_each(|flow| flow.connection.say(DatagramKind::Running, 0));
    }

    /// A source counts the duration from when it knows that all flows run, which a sink has known before: at a sink
    /// every flow lasts longer than the duration, broke, or was cut off.
    fn first_early(&self) -> Option<TrialError> {
        if self.task.role == Role::Source {
            return None;
        }
        let due = Duration::from_micros(self.task.settings.duration_us);
        let all_run_ns = self.flows.all.iter().filter_map(UdpFlow::first_byte_ns).max()?;
        self.flows.all.iter().find_map(|flow| {
            let ending = flow.ending().filter(|ending| ending.end == FlowEnd::Drained)?;
            let after = from_nanoseconds(ending.at_ns - all_run_ns);
            (after < due).then_some(TrialError::EndedEarly { flow: flow.index, after, due })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_lost_is_not_the_trials() {
        let all = [("Udp.RcvbufErrors", 5), ("Udp6RcvbufErrors", 3), ("Udp.InErrors", 6), ("Udp.NoPorts", 1)];
        let mut counters = all.map(|(name, count)| (name.to_owned(), count)).into();
        leave_out(6, &mut counters);
        let left = [("Udp.NoPorts", 1), ("Udp6RcvbufErrors", 2)];
        assert_eq!(counters, left.map(|(name, count)| (name.to_owned(), count)).into());
    }
}
