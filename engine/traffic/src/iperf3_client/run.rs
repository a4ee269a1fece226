//! How a test with an iperf3 server goes, in one direction or in both: what is received from the server meanwhile
//! counts, and the end is signalled to it.

use std::{marker::PhantomData, time::Duration};

use iperf3::State;
use wire::Role;

use super::conversation::Conversation;
use crate::{
    TrialError,
    coordinator::{Coordinator, Procedure, Sampling, Side, Sides},
    defaults::{IPERF3_DRAIN, IPERF3_TIMEOUT, RUNNING_CHECK},
    flow::Flow,
    halt::Halt,
    time::{from_nanoseconds, nanoseconds},
};

/// The times of a test, the same in both directions.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// How long to measure once all flows run.
    pub duration: Duration,
    /// How much longer to go on, so that the last bin is whole.
    pub pad: Duration,
    /// What the server leaves out of its totals, from its own start on.
    pub omit: Duration,
    /// How long the first bytes of all flows may take.
    pub first_bytes: Duration,
    /// How long what is under way may take.
    pub drain: Duration,
    /// How long the server may read what was sent, before the end is signalled to it.
    pub settle: Duration,
    /// How long what it has sent is waited for, after it has reported that it stopped, where nobody knows what comes last.
    pub linger: Duration,
}

/// A test with an iperf3 server, as the procedure of the coordinator.
pub struct WithServer<'a, S> {
    conversation: &'a mut Conversation,
    times: &'a Times,
    halt: &'a Halt<'a>,
    phase: Phase,
    /// When the end was signalled to the server.
    ended_ns: i64,
    sampler: PhantomData<S>,
}

/// Which states the server may send.
#[derive(Clone, Copy)]
enum Phase {
    /// None: any state is the end.
    Silent,
    /// The same, and all flows, which run since then, are to go on for the duration.
    Running { since_ns: i64 },
    /// The states that end a test: [`Procedure::conclude`] reads them.
    Ending,
}

impl<'a, S: Sampling> WithServer<'a, S> {
    /// A test that begins; the server has begun already.
    pub fn new(conversation: &'a mut Conversation, times: &'a Times, halt: &'a Halt<'a>) -> Self {
        Self { conversation, times, halt, phase: Phase::Silent, ended_ns: 0, sampler: PhantomData }
    }

    /// How long the server counted, from behind what it left out, as far as we know.
    pub fn counted(&self) -> Duration {
        from_nanoseconds(self.ended_ns).saturating_sub(self.times.omit)
    }

    fn mark_omitted(&self, sides: &mut Sides<'_, Self>) {
        for side in sides.iter_mut().filter(|side| side.omitted.is_empty()) {
            if !self.times.omit.is_zero() && side.flows.now_ns() >= nanoseconds(self.times.omit) {
                side.omitted = side.flows.all.iter().map(Flow::bytes).collect();
                side.flows.count();
            }
        }
    }
}

impl<S: Sampling> Procedure for WithServer<'_, S> {
    type Sampler = S;

    /// A sink's duration counts from when all flows have brought something.
    fn first_not_running(&mut self, sides: &Sides<'_, Self>) -> Option<u32> {
        let waiting = |flow: &&Flow<S::Connection>| flow.first_byte_ns().is_none() && flow.ending().is_none();
        sides.iter().flat_map(|side| &side.flows.all).find(waiting).map(|flow| flow.index)
    }

    fn wait_on(&mut self, _: &Sides<'_, Self>, flow: u32, waited: Duration) -> Result<(), TrialError> {
        let timeout = self.times.first_bytes;
        if waited < timeout { Ok(()) } else { Err(TrialError::NotRunning { flow, timeout }) }
    }

    fn begin(&mut self, now_ns: i64) -> Duration {
        self.phase = Phase::Running { since_ns: now_ns };
        self.times.duration + self.times.pad
    }

    fn look(&mut self, sides: &mut Sides<'_, Self>) -> Result<(), TrialError> {
        self.mark_omitted(sides);
        match self.phase {
            Phase::Silent => self.conversation.listen(),
            Phase::Running { since_ns } => {
                self.conversation.listen()?;
                let early = |side: &Side<'_, S>| side.first_early(since_ns, self.times.duration);
                let goes_on = !sides.iter().all(Side::ended);
                sides.iter().filter(|_| goes_on).find_map(early).map_or(Ok(()), Err)
            }
            Phase::Ending => Ok(()),
        }
    }

    fn conclude(coordinator: &mut Coordinator<'_, '_, Self>) -> Result<(), TrialError> {
        stop_sending(coordinator)?;
        coordinator.procedure.conversation.say(State::TestEnd)?;
        coordinator.procedure.ended_ns = coordinator.now_ns();
        receive_the_rest(coordinator)
    }

    /// What the server did before the end was signalled to it was looked at meanwhile.
    fn first_early(&self, _: &Sides<'_, Self>) -> Option<TrialError> {
        None
    }
}

/// Flows that send stop, and what they sent is acknowledged before the end is signalled to the server, which does not
/// read on then.
fn stop_sending<S: Sampling>(coordinator: &mut Coordinator<'_, '_, WithServer<'_, S>>) -> Result<(), TrialError> {
    coordinator.procedure.phase = Phase::Silent;
    let sending = |side: &&Side<'_, S>| side.role == Role::Source;
    coordinator.sides.iter().filter(sending).for_each(|side| side.flows.stop_sending());
    let Times { drain: timeout, settle, .. } = *coordinator.procedure.times;
    let deadline_ns = coordinator.now_ns() + nanoseconds(timeout);
    while let flows @ 1.. = coordinator.sides.iter().filter(sending).map(Side::standing).sum() {
        if coordinator.now_ns() >= deadline_ns {
            return Err(TrialError::DrainTimeout { flows, timeout });
        }
        coordinator.step(RUNNING_CHECK)?;
    }
    coordinator.procedure.phase = Phase::Ending;
    if coordinator.sides.iter().any(|side| side.role == Role::Source) {
        coordinator.pause(settle)?;
    }
    Ok(())
}

/// Receives what the server sent before it knew of the end; it requests the results once it does.
fn receive_the_rest<S: Sampling>(coordinator: &mut Coordinator<'_, '_, WithServer<'_, S>>) -> Result<(), TrialError> {
    let awaited = "its EXCHANGE_RESULTS";
    let Times { drain, linger, .. } = *coordinator.procedure.times;
    let timeout = drain.min(IPERF3_DRAIN);
    let answer_by_ns = coordinator.now_ns() + nanoseconds(IPERF3_TIMEOUT.max(timeout));
    while coordinator.procedure.conversation.poll(awaited)? != Some(State::ExchangeResults) {
        if coordinator.now_ns() >= answer_by_ns {
            let WithServer { conversation, halt, .. } = &mut *coordinator.procedure;
            return conversation.expect(State::ExchangeResults, awaited, Duration::ZERO, halt);
        }
        coordinator.step(RUNNING_CHECK)?;
    }
    let deadline_ns = coordinator.now_ns() + nanoseconds(timeout);
    if coordinator.sides.iter().any(|side| side.role == Role::Sink) {
        coordinator.pause(linger)?;
    }
    // Of datagrams nobody knows which is the last; a connection is read to its end.
    coordinator.sides.iter().for_each(|side| side.flows.stop_sending());
    coordinator.drain_until(deadline_ns, timeout)
}
