//! The coordinator of one end: starts the flows' threads, samples them, keeps the deadlines.

use std::{thread, time::Duration};

use wire::{FlowEnd, Role, TcpSettings};

use super::{
    buffers::{Buffers, Carriers},
    flow::{TcpFlow, TcpFlows},
    sampler::Sampler,
    sink, source,
};
use crate::{
    Control, Outbox, Task, TrialError,
    defaults::{RUNNING_CHECK, SINK_SLACK, START_TIMEOUT, STOP_CHECK},
    host::{Counters, Monitor, Observed},
    progress::ProgressTeller,
    samples::SampleLog,
    threads::AbortOnPanic,
    time::{from_nanoseconds, microseconds_to_ns, nanoseconds},
};

/// What a trial's end leaves behind.
pub struct Ran {
    /// The samples of all flows.
    pub samples: SampleLog,
    /// What the host did meanwhile.
    pub observed: Observed,
    /// Why the trial is not whole at this end.
    pub incomplete: Option<TrialError>,
}

/// Runs all flows to their end, at the latest until the deadlines of the settings. `counters` are the host's, read before
/// any flow could send.
pub fn run(
    flows: &TcpFlows,
    task: &Task<'_, TcpSettings>,
    buffers: &mut Buffers,
    counters: Counters,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<Ran, TrialError> {
    let interval = Duration::from_micros(task.settings.sample_interval_us);
    let mut coordinator = Coordinator {
        flows,
        task,
        control,
        sampler: Sampler::new(task.role, &flows.all, interval),
        monitor: Monitor::begin(counters, interval, flows.all.len(), flows.now_ns()),
        progress: ProgressTeller::new(task.trial, task.role, outbox),
        running: vec![false; flows.all.len()],
    };
    let incomplete = thread::scope(|scope| {
        let _guard = AbortOnPanic(flows);
        let carriers = Carriers { send: source::send, receive: sink::receive };
        if let Err(error) = buffers.spawn_all(scope, flows, task.settings, carriers) {
            flows.abort(FlowEnd::Stopped);
            return Err(error);
        }
        flows.begin();
        let mut incomplete = coordinator.run_until_ended().err();
        incomplete = incomplete.or_else(|| coordinator.first_broken()).or_else(|| coordinator.first_early());
        Ok(incomplete)
    })?;
    // All threads have ended: what is counted now is all there will ever be.
    coordinator.sampler.sample(flows);
    let observed = coordinator.monitor.end(flows.now_ns(), flows.meters());
    Ok(Ran { samples: coordinator.sampler.log, observed, incomplete })
}

struct Coordinator<'a> {
    flows: &'a TcpFlows,
    task: &'a Task<'a, TcpSettings>,
    control: &'a Control,
    sampler: Sampler,
    monitor: Monitor,
    progress: ProgressTeller<'a>,
    /// Which flows are known to have delivered bytes to the sink's application.
    running: Vec<bool>,
}

impl Coordinator<'_> {
    fn run_until_ended(&mut self) -> Result<(), TrialError> {
        let settings = &self.task.settings;
        let sending_ns = microseconds_to_ns(settings.duration_us.saturating_add(settings.pad_us));
        let drain = Duration::from_micros(settings.drain_timeout_us);
        self.wait_until_all_run()?;
        match self.task.role {
            Role::Source => {
                let stop_ns = self.flows.now_ns() + sending_ns;
                self.watch_until(stop_ns)?;
                self.flows.stop_sending();
                self.drain_until(self.flows.now_ns() + nanoseconds(drain), drain)
            }
            Role::Sink => {
                let slack = drain + SINK_SLACK;
                self.drain_until(self.flows.now_ns() + sending_ns + nanoseconds(slack), slack)
            }
        }
    }

    /// Waits until the sink's application has read from every flow; each of its threads says so with one byte. From then
    /// on the duration counts, so that the sink sees all flows for the whole of it.
    fn wait_until_all_run(&mut self) -> Result<(), TrialError> {
        let timeout = self.running_timeout();
        let deadline_ns = self.flows.now_ns() + nanoseconds(timeout);
        while let Some(flow) = self.first_not_running() {
            if self.flows.now_ns() >= deadline_ns {
                self.flows.abort(FlowEnd::Stopped);
                return Err(TrialError::NotRunning { flow, timeout });
            }
            if self.step(RUNNING_CHECK)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// A sink is connected before the source may start; it waits longer.
    fn running_timeout(&self) -> Duration {
        let connect = Duration::from_micros(self.task.settings.connect_timeout_us);
        match self.task.role {
            Role::Source => connect,
            Role::Sink => START_TIMEOUT + connect,
        }
    }

    fn first_not_running(&mut self) -> Option<u32> {
        for (running, flow) in self.running.iter_mut().zip(&self.flows.all).filter(|(running, _)| !**running) {
            *running = match self.task.role {
                Role::Sink => flow.first_byte_ns().is_some(),
                Role::Source => source::heard_from_sink(flow),
            };
        }
        let index = self.running.iter().position(|running| !running)?;
        u32::try_from(index).ok()
    }

    fn drain_until(&mut self, deadline_ns: i64, timeout: Duration) -> Result<(), TrialError> {
        if self.watch_until(deadline_ns)? {
            return Ok(());
        }
        let flows = self.flows.all.iter().filter(|flow| flow.ending().is_none()).count();
        self.flows.abort(FlowEnd::DrainTimeout);
        Err(TrialError::DrainTimeout { flows, timeout })
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
        if self.control.stopped() {
            self.flows.abort(FlowEnd::Stopped);
            return Err(TrialError::Stopped);
        }
        if let Some(error) = self.first_broken() {
            self.flows.abort(FlowEnd::Stopped);
            return Err(error);
        }
        Ok(ended)
    }

    fn first_broken(&self) -> Option<TrialError> {
        self.flows.all.iter().find_map(|flow| {
            let ending = flow.ending().filter(|ending| ending.end == FlowEnd::Broken)?;
            let reason = ending.error.clone().unwrap_or_else(|| "unknown".into());
            Some(TrialError::Broken { flow: flow.index, bytes: flow.bytes(), reason })
        })
    }

    /// A source counts the duration from when it knows that all flows run, which a sink has known before: at a sink
    /// every flow lasts longer than the duration, or was cut off.
    fn first_early(&self) -> Option<TrialError> {
        if self.task.role == Role::Source {
            return None;
        }
        let due = Duration::from_micros(self.task.settings.duration_us);
        let began_ns = |flow: &TcpFlow| flow.first_byte_ns().unwrap_or(i64::MAX);
        let all_run_ns = self.flows.all.iter().map(began_ns).max()?;
        self.flows.all.iter().find_map(|flow| {
            let after = from_nanoseconds(flow.ending()?.at_ns - all_run_ns);
            (after < due).then_some(TrialError::EndedEarly { flow: flow.index, after, due })
        })
    }
}
