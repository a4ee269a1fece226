//! One direction of a test while it runs.

use std::time::Duration;

use wire::{FlowEnd, Role};

use crate::{
    TrialError,
    flow::{Connection, Flow, Flows},
    host::Monitor,
    progress::ProgressTeller,
    time::from_nanoseconds,
};

/// Takes samples of the flows of one direction.
pub trait Sampling {
    /// What carries a flow.
    type Connection: Connection;
    /// How long until the next samples are due.
    fn due_in(&self, now_ns: i64) -> Duration;
    /// Takes a sample of every flow, if it is time.
    fn sample_if_due(&mut self, flows: &Flows<Self::Connection>);
    /// Takes a sample of every flow now.
    fn sample(&mut self, flows: &Flows<Self::Connection>);
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
    /// Who tells how far it is.
    pub progress: ProgressTeller<'a>,
    /// Bytes of each flow when the part that is left out was over.
    pub omitted: Vec<u64>,
    /// That flow by flow may end alone, and the others go on.
    pub streams_break_alone: bool,
}

impl<S: Sampling> Side<'_, S> {
    /// How long until something is due.
    pub fn due_in(&self, now_ns: i64) -> Duration {
        self.sampler.due_in(now_ns).min(self.monitor.due_in(now_ns))
    }

    /// Does what is due.
    pub fn look(&mut self) {
        self.sampler.sample_if_due(self.flows);
        self.monitor.look_if_due(self.flows.now_ns(), self.flows.meters());
        self.progress.tell_if_due(self.flows.now_ns(), || self.flows.bytes());
    }

    /// The first flow that has not carried a byte.
    pub fn first_not_running(&self) -> Option<u32> {
        let waiting = |flow: &&Flow<S::Connection>| flow.first_byte_ns().is_none() && flow.ending().is_none();
        self.flows.all.iter().find(waiting).map(|flow| flow.index)
    }

    /// Whether all flows have ended.
    pub fn ended(&self) -> bool {
        self.flows.wait_all_ended(Duration::ZERO)
    }

    /// Flows that have not ended.
    pub fn standing(&self) -> usize {
        self.flows.all.iter().filter(|flow| flow.ending().is_none()).count()
    }

    /// The first flow that broke, where that ends a test.
    pub fn first_broken(&self) -> Option<TrialError> {
        let broken = |flow: &Flow<S::Connection>| {
            let ending = flow.ending().filter(|ending| ending.end == FlowEnd::Broken)?;
            let reason = ending.error.clone().unwrap_or_else(|| "unknown".into());
            Some(TrialError::Broken { flow: flow.index, bytes: flow.bytes(), reason })
        };
        self.flows.all.iter().filter(|_| !self.streams_break_alone).find_map(broken)
    }

    /// The first flow that ended before its time, `from_ns` being when all flows ran.
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
