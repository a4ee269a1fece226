//! The coordinator of a test with an iperf3 server, in one direction or in both: samples, keeps the deadlines, and tells
//! the server when it is over.

use std::{
    thread::{self, Scope},
    time::Duration,
};

use iperf3::State;
use wire::{FlowEnd, Role};

use super::{
    conversation::Conversation,
    halt::Halt,
    side::{Sampling, Side},
};
use crate::{
    TrialError,
    defaults::{IPERF3_DRAIN, IPERF3_TIMEOUT, RUNNING_CHECK, STOP_CHECK},
    threads::AbortOnPanic,
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
    /// How long the server may read what was sent, before it is told of the end.
    pub settle: Duration,
    /// How long what it has sent is waited for, after it has said that it stopped, where nobody knows what comes last.
    pub linger: Duration,
}

/// How a test went.
pub struct Ran {
    /// Why it is not whole.
    pub incomplete: Option<TrialError>,
    /// How long the server counted, from behind what it left out, as far as we know.
    pub counted: Duration,
}

/// Runs all directions to their end. Flows that send begin at once; the server has begun already.
pub fn run<'env, S: Sampling>(
    sides: &mut [Side<'env, S>],
    conversation: &mut Conversation,
    times: &Times,
    halt: &Halt<'_>,
    spawn_all: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<(), TrialError>,
) -> Result<Ran, TrialError> {
    let flows: Vec<_> = sides.iter().map(|side| side.flows).collect();
    let mut coordinator = Coordinator { sides, conversation, times, halt, all_run_ns: 0, ended_ns: 0 };
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
    let counted = from_nanoseconds(coordinator.ended_ns).saturating_sub(times.omit);
    for side in coordinator.sides.iter_mut() {
        // All threads have ended: what is counted now is all there will ever be.
        side.sampler.sample(side.flows);
    }
    let broken = coordinator.sides.iter().find_map(Side::first_broken);
    Ok(Ran { incomplete: incomplete.or(broken), counted })
}

struct Coordinator<'a, 'env, S: Sampling> {
    sides: &'a mut [Side<'env, S>],
    conversation: &'a mut Conversation,
    times: &'a Times,
    halt: &'a Halt<'a>,
    /// When the last flow had carried its first byte, since the origin.
    all_run_ns: i64,
    /// When the server was told of the end.
    ended_ns: i64,
}

impl<S: Sampling> Coordinator<'_, '_, S> {
    fn run_until_ended(&mut self) -> Result<(), TrialError> {
        self.wait_until_all_run()?;
        self.all_run_ns = self.now_ns();
        let until_ns = self.all_run_ns + nanoseconds(self.times.duration + self.times.pad);
        while self.now_ns() < until_ns {
            self.step(from_nanoseconds(until_ns - self.now_ns()))?;
            self.conversation.listen()?;
            if self.sides.iter().all(Side::ended) {
                break;
            }
            self.check_early()?;
        }
        self.stop_sending()?;
        self.conversation.say(State::TestEnd)?;
        self.ended_ns = self.now_ns();
        self.receive_the_rest()
    }

    /// A sink's duration counts from when all flows have brought something.
    fn wait_until_all_run(&mut self) -> Result<(), TrialError> {
        let timeout = self.times.first_bytes;
        let deadline_ns = self.now_ns() + nanoseconds(timeout);
        while let Some(flow) = self.sides.iter().find_map(Side::first_not_running) {
            if self.now_ns() >= deadline_ns {
                return Err(TrialError::NotRunning { flow, timeout });
            }
            self.step(RUNNING_CHECK)?;
            self.conversation.listen()?;
        }
        Ok(())
    }

    /// Flows that send stop, and what they sent is acknowledged before the server is told: it does not read on then.
    fn stop_sending(&mut self) -> Result<(), TrialError> {
        let sending = |side: &&Side<'_, S>| side.role == Role::Source;
        self.sides.iter().filter(sending).for_each(|side| side.flows.stop_sending());
        let deadline_ns = self.now_ns() + nanoseconds(self.times.drain);
        loop {
            let standing: usize = self.sides.iter().filter(sending).map(Side::standing).sum();
            if standing == 0 {
                break;
            }
            if self.now_ns() >= deadline_ns {
                return Err(TrialError::DrainTimeout { flows: standing, timeout: self.times.drain });
            }
            self.step(RUNNING_CHECK)?;
            self.conversation.listen()?;
        }
        if self.sides.iter().any(|side| side.role == Role::Source) {
            self.pause(self.times.settle)?;
        }
        Ok(())
    }

    /// What the server has sent before it heard of the end; it says so when it has.
    fn receive_the_rest(&mut self) -> Result<(), TrialError> {
        let timeout = self.times.drain.min(IPERF3_DRAIN);
        let heard_by_ns = self.now_ns() + nanoseconds(IPERF3_TIMEOUT.max(timeout));
        while self.conversation.poll("its question for results")? != Some(State::ExchangeResults) {
            if self.now_ns() >= heard_by_ns {
                return self.conversation.expect(
                    State::ExchangeResults,
                    "its question for results",
                    Duration::ZERO,
                    self.halt,
                );
            }
            self.step(RUNNING_CHECK)?;
        }
        let deadline_ns = self.now_ns() + nanoseconds(timeout);
        if self.sides.iter().any(|side| side.role == Role::Sink) {
            self.pause(self.times.linger)?;
        }
        // Of datagrams nobody knows which is the last; a connection is read to its end.
        self.sides.iter().for_each(|side| side.flows.stop_sending());
        while let flows @ 1.. = self.sides.iter().map(Side::standing).sum() {
            if self.now_ns() >= deadline_ns {
                self.abort(FlowEnd::DrainTimeout);
                return Err(TrialError::DrainTimeout { flows, timeout });
            }
            self.step(RUNNING_CHECK)?;
        }
        Ok(())
    }

    fn pause(&mut self, pause: Duration) -> Result<(), TrialError> {
        let until_ns = self.now_ns() + nanoseconds(pause);
        while self.now_ns() < until_ns {
            self.step(from_nanoseconds(until_ns - self.now_ns()))?;
        }
        Ok(())
    }

    /// Waits a little, at most `longest`, and does what is due.
    fn step(&mut self, longest: Duration) -> Result<(), TrialError> {
        let now_ns = self.now_ns();
        let due = self.sides.iter().map(|side| side.due_in(now_ns)).min().unwrap_or(STOP_CHECK);
        thread::sleep(longest.min(STOP_CHECK).min(due));
        self.sides.iter_mut().for_each(Side::look);
        self.mark_omitted();
        self.halt.check()?;
        self.sides.iter().find_map(Side::first_broken).map_or(Ok(()), Err)
    }

    fn mark_omitted(&mut self) {
        if self.times.omit.is_zero() || self.now_ns() < nanoseconds(self.times.omit) {
            return;
        }
        for side in self.sides.iter_mut().filter(|side| side.omitted.is_empty()) {
            side.omitted = side.flows.all.iter().map(crate::flow::Flow::bytes).collect();
            side.flows.count();
        }
    }

    fn check_early(&self) -> Result<(), TrialError> {
        let early = |side: &Side<'_, S>| side.first_early(self.all_run_ns, self.times.duration);
        self.sides.iter().find_map(early).map_or(Ok(()), Err)
    }

    fn abort(&self, why: FlowEnd) {
        self.sides.iter().filter(|side| !side.ended()).for_each(|side| side.flows.abort(why));
    }

    fn now_ns(&self) -> i64 {
        self.sides.first().map_or(0, |side| side.flows.now_ns())
    }
}
