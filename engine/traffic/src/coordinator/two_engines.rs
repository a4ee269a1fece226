//! How the flows of reliable streams between two engines go, each of which knows the settings: they need say no more than
//! that all flows run.

use std::{marker::PhantomData, time::Duration};

use wire::{Decided, Role, defaults::START_TIMEOUT};

use super::{Coordinator, Procedure, Running, Sampling, Side, Sides};
use crate::{TrialError, defaults::SINK_SLACK, flow::Flow, known::Rule, time::nanoseconds};

/// The deadlines of a trial.
#[derive(Clone, Copy)]
pub struct Times {
    /// Of the handshakes, and of the first bytes.
    pub connect: Duration,
    /// That the source sends once every flow runs.
    pub duration: Duration,
    /// That each flow lasts at a sink at least.
    pub least_duration: Duration,
    /// That the source sends longer.
    pub pad: Duration,
    /// For what is under way then.
    pub drain: Duration,
}

/// Two engines.
pub struct TwoEngines<S: Sampling> {
    role: Role,
    times: Times,
    running: Running,
    sink_has_received: fn(&Flow<S::Connection>) -> bool,
    /// At a source that may end early.
    early: Option<Early>,
    sampler: PhantomData<S>,
}

/// What a source knows that may end early.
struct Early {
    rule: Rule,
    /// When all flows ran.
    began_ns: i64,
    /// When the last sample was taken that it was asked of.
    looked_ns: i64,
    /// What was decided, and when.
    decided: Option<(Decided, i64)>,
}

impl<S: Sampling> TwoEngines<S> {
    /// Of so many flows. `sink_has_received`: whether a source knows that the first bytes of a flow were read.
    pub fn new(role: Role, times: Times, flows: usize, sink_has_received: fn(&Flow<S::Connection>) -> bool) -> Self {
        Self { role, times, running: Running::none(flows), sink_has_received, early: None, sampler: PhantomData }
    }

    /// The same, which ends as soon as a rule says so.
    #[must_use]
    pub fn ending_by(self, rule: Option<Rule>) -> Self {
        let early = rule.map(|rule| Early { rule, began_ns: 0, looked_ns: 0, decided: None });
        Self { early, ..self }
    }

    /// What was decided, of flows that sent to their end.
    pub fn decided(&self) -> Option<Decided> {
        Some(self.early.as_ref()?.decided?.0)
    }
}

impl Early {
    fn look<S: Sampling>(&mut self, side: &Side<'_, S>, now_ns: i64) {
        let Some((at_ns, flows)) = side.sampler.last().filter(|&(at_ns, _)| at_ns > self.looked_ns) else { return };
        self.looked_ns = at_ns;
        if self.decided.is_none() && self.began_ns > 0 {
            self.decided = self.rule.look(at_ns - self.began_ns, flows).map(|decided| (decided, now_ns));
        }
    }
}

impl<S: Sampling> Procedure for TwoEngines<S> {
    type Sampler = S;

    /// The sink's application must have read from every flow; each of its threads says so with one byte. From then on the
    /// duration counts, so that the sink sees all flows for the whole of it.
    fn first_not_running(&mut self, sides: &Sides<'_, Self>) -> Option<u32> {
        let runs = |flow: &Flow<S::Connection>| {
            flow.ending().is_some()
                || match self.role {
                    Role::Sink => flow.first_byte_ns().is_some(),
                    Role::Source => (self.sink_has_received)(flow),
                }
        };
        sides.iter().find_map(|side| self.running.first_missing(side.flows, |_| true, runs))
    }

    /// A sink is connected before the source may start; it waits longer.
    fn wait_on(&mut self, _: &Sides<'_, Self>, flow: u32, waited: Duration) -> Result<(), TrialError> {
        let connect = self.times.connect;
        let timeout = if self.role == Role::Sink { START_TIMEOUT + connect } else { connect };
        if waited < timeout { Ok(()) } else { Err(TrialError::NotRunning { flow, timeout }) }
    }

    fn begin(&mut self, now_ns: i64) -> Duration {
        if let Some(early) = &mut self.early {
            early.began_ns = now_ns;
        }
        self.times.duration.saturating_add(self.times.pad)
    }

    /// What ends early has its pad, too.
    fn ends_ns(&self, planned_ns: i64) -> i64 {
        let decided = self.early.as_ref().and_then(|early| early.decided);
        let early_ns = decided.map(|(_, decided_ns)| decided_ns.saturating_add(nanoseconds(self.times.pad)));
        early_ns.map_or(planned_ns, |early_ns| early_ns.min(planned_ns))
    }

    fn look(&mut self, sides: &mut Sides<'_, Self>) -> Result<(), TrialError> {
        if let (Some(early), [side]) = (&mut self.early, sides) {
            early.look(side, side.flows.now_ns());
        }
        Ok(())
    }

    fn conclude(coordinator: &mut Coordinator<'_, '_, Self>) -> Result<(), TrialError> {
        let now_ns = coordinator.now_ns();
        if let Some(early) = &mut coordinator.procedure.early {
            early.decided.get_or_insert_with(|| (early.rule.over(), now_ns));
        }
        coordinator.sides.iter().for_each(|side| side.flows.stop_sending());
        let drain = coordinator.procedure.times.drain;
        coordinator.drain(if coordinator.procedure.role == Role::Sink { drain + SINK_SLACK } else { drain })
    }

    /// A source counts the duration from when it knows that all flows run, which a sink has known before: at a sink
    /// every flow lasts longer than the duration, or was cut off.
    fn first_early(&self, sides: &Sides<'_, Self>) -> Option<TrialError> {
        let due = self.times.least_duration;
        let began_ns = |flow: &Flow<S::Connection>| flow.first_byte_ns().unwrap_or(i64::MAX);
        sides.iter().filter(|side| side.role == Role::Sink).find_map(|side| {
            let all_run_ns = side.flows.all.iter().map(began_ns).max()?;
            side.first_early(all_run_ns, due)
        })
    }
}
