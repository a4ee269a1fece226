//! One direction of a trial while it runs.

use std::time::Duration;

use wire::{FlowEnd, Role};

use crate::{
    Outbox, Task, TrialError,
    beat::Beat,
    flow::{Connection, Flow, Flows},
    host::{Counters, Monitor},
    known::FlowLook,
    progress::ProgressReporter,
    time::from_nanoseconds,
};

/// Takes samples of the flows of one direction.
pub trait Sampling {
    /// What carries a flow.
    type Connection: Connection;
    /// Takes a sample of every flow now. A flow that has ended gets its last one, up to its end.
    fn sample(&mut self, flows: &Flows<Self::Connection>);
    /// What was sampled last, and when that was; nothing where nobody asks.
    fn last(&self) -> Option<(i64, &[FlowLook])> {
        None
    }
}

/// One direction, as the coordinator sees it.
pub struct Side<'a, S: Sampling> {
    /// Which end we are in it.
    pub role: Role,
    /// Its flows.
    pub flows: &'a Flows<S::Connection>,
    /// Who samples them.
    pub sampler: S,
    /// Who watches the host meanwhile.
    pub monitor: Monitor,
    /// Bytes of each flow when the part that is left out was over; none where nothing is.
    pub omitted: Vec<u64>,
    beat: Beat,
    progress: ProgressReporter<'a>,
}

impl<'a, S: Sampling> Side<'a, S> {
    /// Begins just before the flows do. `counters` are the host's, read before any flow could send.
    pub fn begin<T>(
        task: &Task<'a, T>,
        flows: &'a Flows<S::Connection>,
        sampler: S,
        interval: Duration,
        counters: Counters,
        outbox: &'a dyn Outbox,
    ) -> Self {
        Self {
            role: task.role,
            flows,
            sampler,
            monitor: Monitor::begin(counters, interval, flows.all.len(), flows.now_ns()),
            omitted: Vec::new(),
            beat: Beat::new(interval),
            progress: ProgressReporter::new(task.trial, task.role, outbox),
        }
    }

    /// How long until something is due.
    pub fn due_in(&self, now_ns: i64) -> Duration {
        self.beat.due_in(now_ns).min(self.monitor.due_in(now_ns))
    }

    /// Does what is due.
    pub fn look(&mut self) {
        let now_ns = self.flows.now_ns();
        if self.beat.is_due(now_ns) {
            self.sampler.sample(self.flows);
            self.beat.done(now_ns);
        }
        self.monitor.look_if_due(self.flows.now_ns(), self.flows.meters());
        self.progress.report_if_due(self.flows.now_ns(), || self.flows.bytes());
    }

    /// Whether all flows have ended.
    pub fn ended(&self) -> bool {
        self.flows.wait_all_ended(Duration::ZERO)
    }

    /// Flows that have not ended.
    pub fn standing(&self) -> usize {
        self.flows.all.iter().filter(|flow| flow.ending().is_none()).count()
    }

    /// The first flow that broke, where that ends a trial.
    pub fn first_broken(&self) -> Option<TrialError> {
        if S::Connection::BREAKS_ALONE {
            return None;
        }
        self.flows.all.iter().find_map(|flow| {
            let ending = flow.ending().filter(|ending| ending.end == FlowEnd::Broken)?;
            let reason = ending.error.clone().unwrap_or_else(|| "unknown".into());
            Some(TrialError::Broken { flow: flow.index, bytes: flow.bytes(), reason })
        })
    }

    /// The first flow that ended before its time, `from_ns` being when all flows ran. Those that broke say so themselves.
    pub fn first_early(&self, from_ns: i64, due: Duration) -> Option<TrialError> {
        self.flows.all.iter().find_map(|flow| {
            let ending = flow.ending().filter(|ending| ending.end != FlowEnd::Broken)?;
            let after = from_nanoseconds(ending.at_ns - from_ns);
            (after < due).then_some(TrialError::EndedEarly { flow: flow.index, after, due })
        })
    }

    /// Bytes of each flow behind the part that is left out.
    pub fn bytes_behind_omitted(&self) -> impl Iterator<Item = u64> {
        let omitted = self.omitted.iter().copied().chain(std::iter::repeat(0));
        self.flows.all.iter().zip(omitted).map(|(flow, omitted)| flow.bytes() - omitted)
    }
}

/// Which flows of a side are known to have delivered data to the sink's application.
pub struct Running(Vec<bool>);

impl Running {
    /// None of so many flows.
    pub fn none(flows: usize) -> Self {
        Self(vec![false; flows])
    }

    /// Whether it is known of none.
    pub fn is_none(&self) -> bool {
        self.0.iter().all(|running| !running)
    }

    /// Asks of each flow that `counts`, unless it is known already, whether it `runs`; the first that does not.
    pub fn first_missing<C>(
        &mut self,
        flows: &Flows<C>,
        counts: impl Fn(&Flow<C>) -> bool,
        runs: impl Fn(&Flow<C>) -> bool,
    ) -> Option<u32> {
        for (running, flow) in self.0.iter_mut().zip(&flows.all).filter(|(running, flow)| !**running && counts(flow)) {
            *running = runs(flow);
        }
        self.missing(flows).find(|flow| counts(flow)).map(|flow| flow.index)
    }

    /// All flows of which it is not known.
    pub fn missing<'f, C>(&self, flows: &'f Flows<C>) -> impl Iterator<Item = &'f Flow<C>> {
        flows.all.iter().zip(&self.0).filter(|(_, running)| !**running).map(|(flow, _)| flow)
    }
}
