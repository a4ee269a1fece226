//! The coordinator of one end of a trial: starts the flows' threads, samples them, keeps the deadlines. One loop for all
//! kinds of tests; what differs between them is a [`Procedure`].

mod side;
mod two_engines;

use std::{
    thread::{self, Scope},
    time::Duration,
};

use wire::FlowEnd;

pub use self::{
    side::{Running, Sampling, Side},
    two_engines::{Times, TwoEngines},
};
use crate::{
    TrialError,
    defaults::{RUNNING_CHECK, STOP_CHECK},
    flow::Flows,
    halt::Halt,
    threads::AbortOnPanic,
    time::{from_nanoseconds, nanoseconds},
};

/// The directions of a trial, as the coordinator sees them.
pub type Sides<'env, C> = [Side<'env, <C as Procedure>::Sampler>];

/// What differs between kinds of tests while their flows run.
pub trait Procedure: Sized {
    /// Who samples the flows.
    type Sampler: Sampling;
    /// The first flow that is not known to carry data: the duration counts from when all of them do.
    fn first_not_running(&mut self, sides: &Sides<'_, Self>) -> Option<u32>;
    /// Flows, the first of which is `flow`, have not begun to run for so long: fails if that is too long.
    fn wait_on(&mut self, sides: &Sides<'_, Self>, flow: u32, waited: Duration) -> Result<(), TrialError>;
    /// All flows run since `now_ns`; how long they are watched before [`Procedure::conclude`].
    fn begin(&mut self, now_ns: i64) -> Duration;
    /// When flows are to end that were to end at `planned_ns`: earlier, where enough is known.
    fn ends_ns(&self, planned_ns: i64) -> i64 {
        planned_ns
    }
    /// Does what else is due after each step, and fails if there is no use in going on.
    fn look(&mut self, sides: &mut Sides<'_, Self>) -> Result<(), TrialError>;
    /// Has flows end that send, and waits until all have ended.
    fn conclude(coordinator: &mut Coordinator<'_, '_, Self>) -> Result<(), TrialError>;
    /// The first flow that ended before its time, of a test that has gone to its end.
    fn first_early(&self, sides: &Sides<'_, Self>) -> Option<TrialError>;
}

/// Runs the flows of all sides to their end, at the latest until the deadlines of the procedure. Says why the trial is not
/// whole at this end, if it is not.
///
/// # Errors
/// The threads could not be started: nothing has run.
pub fn run<'env, C: Procedure>(
    sides: &mut Sides<'env, C>,
    procedure: &mut C,
    halt: &Halt<'_>,
    spawn_all: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<(), TrialError>,
) -> Result<Option<TrialError>, TrialError> {
    let flows: Vec<&'env Flows<_>> = sides.iter().map(|side| side.flows).collect();
    let mut coordinator = Coordinator { sides, procedure, halt };
    let incomplete = thread::scope(|scope| {
        let _guards: Vec<_> = flows.iter().map(|flows| AbortOnPanic(flows)).collect();
        if let Err(error) = spawn_all(scope) {
            coordinator.abort(FlowEnd::Stopped);
            return Err(error);
        }
        for flows in &flows {
            flows.begin();
        }
        let incomplete = coordinator.run_until_ended().err();
        // Whatever happened: no thread goes on.
        coordinator.abort(FlowEnd::Stopped);
        Ok(incomplete)
    })?;
    let Coordinator { sides, procedure, .. } = coordinator;
    for side in sides.iter_mut() {
        // All threads have ended: what is counted now is all there will ever be.
        side.sampler.sample(side.flows);
    }
    let broken = || sides.iter().find_map(Side::first_broken);
    Ok(incomplete.or_else(broken).or_else(|| procedure.first_early(sides)))
}

/// What a procedure may do once all flows run.
pub struct Coordinator<'a, 'env, C: Procedure> {
    /// The directions.
    pub sides: &'a mut Sides<'env, C>,
    /// The kind of test, as far as it has got.
    pub procedure: &'a mut C,
    halt: &'a Halt<'a>,
}

impl<C: Procedure> Coordinator<'_, '_, C> {
    fn run_until_ended(&mut self) -> Result<(), TrialError> {
        self.wait_until_all_run()?;
        let now_ns = self.now_ns();
        let lasts = self.procedure.begin(now_ns);
        let planned_ns = now_ns.saturating_add(nanoseconds(lasts));
        while !self.ended() {
            let left_ns = self.procedure.ends_ns(planned_ns) - self.now_ns();
            if left_ns <= 0 {
                break;
            }
            self.step(from_nanoseconds(left_ns))?;
        }
        C::conclude(self)
    }

    fn wait_until_all_run(&mut self) -> Result<(), TrialError> {
        let began_ns = self.now_ns();
        while let Some(flow) = self.procedure.first_not_running(self.sides) {
            let waited = from_nanoseconds(self.now_ns() - began_ns);
            self.procedure.wait_on(self.sides, flow, waited)?;
            self.step(RUNNING_CHECK)?;
            if self.ended() {
                break;
            }
        }
        Ok(())
    }

    /// Samples until `until_ns`, or until all flows have ended.
    pub fn watch_until(&mut self, until_ns: i64) -> Result<(), TrialError> {
        while !self.ended() && self.now_ns() < until_ns {
            self.step(from_nanoseconds(until_ns - self.now_ns()))?;
        }
        Ok(())
    }

    /// Waits until all flows have ended; breaks off those that have not after `timeout`.
    pub fn drain(&mut self, timeout: Duration) -> Result<(), TrialError> {
        self.drain_until(self.now_ns().saturating_add(nanoseconds(timeout)), timeout)
    }

    /// Waits until all flows have ended; breaks off those that have not at `until_ns`, which is `timeout` after they were
    /// to end.
    pub fn drain_until(&mut self, until_ns: i64, timeout: Duration) -> Result<(), TrialError> {
        self.watch_until(until_ns)?;
        match self.sides.iter().map(Side::standing).sum() {
            0 => Ok(()),
            flows => {
                self.abort(FlowEnd::DrainTimeout);
                Err(TrialError::DrainTimeout { flows, timeout })
            }
        }
    }

    /// Goes on for so long, whether flows have ended or not.
    pub fn pause(&mut self, pause: Duration) -> Result<(), TrialError> {
        let until_ns = self.now_ns() + nanoseconds(pause);
        while self.now_ns() < until_ns {
            self.step(from_nanoseconds(until_ns - self.now_ns()))?;
        }
        Ok(())
    }

    /// Waits a little, at most `longest`, and does what is due.
    pub fn step(&mut self, longest: Duration) -> Result<(), TrialError> {
        let now_ns = self.now_ns();
        let due = self.sides.iter().map(|side| side.due_in(now_ns)).min().unwrap_or(STOP_CHECK);
        self.wait(longest.min(STOP_CHECK).min(due));
        self.sides.iter_mut().for_each(Side::look);
        self.halt.check_carried(|| self.sides.iter().map(|side| side.flows.bytes()).sum())?;
        self.sides.iter().find_map(Side::first_broken).map_or(Ok(()), Err)?;
        self.procedure.look(self.sides)
    }

    /// Since the origin of all sides.
    pub fn now_ns(&self) -> i64 {
        self.sides.first().map_or(0, |side| side.flows.now_ns())
    }

    fn ended(&self) -> bool {
        self.sides.iter().all(Side::ended)
    }

    /// Waits, but not for flows that end.
    fn wait(&self, longest: Duration) {
        match self.sides.iter().find(|side| !side.ended()) {
            Some(side) => _ = side.flows.wait_all_ended(longest),
            None => thread::sleep(longest),
        }
    }

    /// Breaks off what has not ended, and was not broken off before for another reason.
    fn abort(&self, why: FlowEnd) {
        let goes_on = |side: &&Side<'_, C::Sampler>| !side.ended() && side.flows.aborted().is_none();
        self.sides.iter().filter(goes_on).for_each(|side| side.flows.abort(why));
    }
}

#[cfg(test)]
mod tests;
