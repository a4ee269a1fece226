//! The loop with flows that carry nothing, and a procedure that does as little as one can.

use std::net::IpAddr;

use wire::{CpuTime, Event, RendezvousRole, Role, Token};

use super::*;
use crate::{
    Control, Guard, Outbox, SampleBatch, Task,
    flow::{Connection, Flow},
    host::Counters,
    origin::Origin,
    threads::spawn,
};

/// What a flow's thread does until it was broken off.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    /// Ends when it is asked to.
    Obeys,
    /// Goes on.
    GoesOn,
    /// Never carries anything, and goes on.
    Nothing,
    /// Breaks at once.
    Breaks,
}

impl Connection for Does {
    const BREAKS_ALONE: bool = false;

    fn ports(&self) -> (u16, u16) {
        (0, 0)
    }

    fn break_off(&self) {}
}

struct Samples(u32);

impl Sampling for Samples {
    type Connection = Does;

    fn sample(&mut self, _: &Flows<Does>) {
        self.0 += 1;
    }
}

struct Simple {
    looks: u32,
}

impl Procedure for Simple {
    type Sampler = Samples;

    fn first_not_running(&mut self, sides: &Sides<'_, Self>) -> Option<u32> {
        let waiting = |flow: &&Flow<Does>| flow.first_byte_ns().is_none();
        sides.iter().flat_map(|side| &side.flows.all).find(waiting).map(|flow| flow.index)
    }

    fn wait_on(&mut self, _: &Sides<'_, Self>, flow: u32, waited: Duration) -> Result<(), TrialError> {
        // Threads of flows may begin late on a busy machine.
        let timeout = Duration::from_secs(1);
        if waited < timeout { Ok(()) } else { Err(TrialError::NotRunning { flow, timeout }) }
    }

    fn begin(&mut self, _: i64) -> Duration {
        Duration::from_millis(30)
    }

    fn look(&mut self, _: &mut Sides<'_, Self>) -> Result<(), TrialError> {
        self.looks += 1;
        Ok(())
    }

    fn conclude(coordinator: &mut Coordinator<'_, '_, Self>) -> Result<(), TrialError> {
        coordinator.sides.iter().for_each(|side| side.flows.stop_sending());
        coordinator.drain(Duration::from_millis(20))
    }

    fn first_early(&self, sides: &Sides<'_, Self>) -> Option<TrialError> {
        sides.iter().find_map(|side| side.first_early(0, Duration::from_millis(30)))
    }
}

struct Silent;

impl Outbox for Silent {
    fn event(&self, _: Event) {}

    fn samples(&self, _: SampleBatch) {}
}

fn carry(flow: &Flow<Does>, flows: &Flows<Does>) {
    let does = flow.connection;
    if does != Does::Nothing {
        flow.passed(1, flows.origin());
    }
    while flows.aborted().is_none() && does != Does::Breaks && !(does == Does::Obeys && flows.sending_stopped()) {
        thread::sleep(Duration::from_millis(1));
    }
    if does == Does::GoesOn {
        // It hears of it late.
        thread::sleep(Duration::from_millis(20));
    }
    let broken = (does == Does::Breaks).then(|| "it was meant to".to_owned());
    let end = if broken.is_some() { FlowEnd::Broken } else { flows.aborted().unwrap_or(FlowEnd::Drained) };
    flows.end(flow, end, broken, CpuTime::default());
}

/// How a trial of two directions went whose flows do this, how each ended, and how often it was looked at and sampled.
fn ran(all: [&[Does]; 2], control: &Control) -> (Option<TrialError>, Vec<FlowEnd>, u32, u32) {
    let origin = Origin::now();
    let flows = all.map(|does| Flows::new((0..).zip(does.iter().copied()), origin));
    let rendezvous = RendezvousRole::Listen { bind: None, ports: None };
    let token = Token([0; 16]);
    let (outbox, interval) = (Silent, Duration::from_millis(5));
    let mut sides = Vec::new();
    for (role, flows) in [Role::Source, Role::Sink].into_iter().zip(&flows) {
        let task = Task { trial: "t", role, token, answer: token, rendezvous: &rendezvous, settings: &() };
        sides.push(Side::begin(&task, flows, Samples(0), interval, Counters::read(), &outbox));
    }
    let mut procedure = Simple { looks: 0 };
    let incomplete = run(&mut sides, &mut procedure, &Halt::of(control), |scope| {
        let each = flows.iter().flat_map(|flows| flows.all.iter().map(move |flow| (flow, flows)));
        each.into_iter().try_for_each(|(flow, flows)| spawn(scope, flow, flows, &[], move || carry(flow, flows)))
    });
    let ends = flows.iter().flat_map(|flows| &flows.all).filter_map(|flow| Some(flow.ending()?.end)).collect();
    (incomplete.unwrap(), ends, procedure.looks, sides[0].sampler.0)
}

#[test]
fn a_trial_that_goes_well_is_whole_and_was_watched_meanwhile() {
    let (incomplete, ends, looks, samples) = ran([&[Does::Obeys; 3], &[Does::Obeys; 2]], &Control::default());
    assert!(incomplete.is_none(), "{incomplete:?}");
    assert_eq!(ends, [FlowEnd::Drained; 5]);
    assert!(looks >= 3 && samples >= 3, "{looks} looks, {samples} samples");
}

#[test]
fn a_flow_that_was_broken_off_at_its_deadline_says_so_and_not_that_it_was_stopped() {
    let (incomplete, ends, ..) = ran([&[Does::Obeys], &[Does::GoesOn, Does::Obeys]], &Control::default());
    assert!(matches!(incomplete, Some(TrialError::DrainTimeout { flows: 1, .. })), "{incomplete:?}");
    assert_eq!(ends, [FlowEnd::Drained, FlowEnd::DrainTimeout, FlowEnd::Drained]);
}

#[test]
fn a_flow_that_never_runs_and_one_that_breaks_end_all_others() {
    let (incomplete, ends, ..) = ran([&[Does::Obeys, Does::Nothing], &[Does::GoesOn]], &Control::default());
    assert!(matches!(incomplete, Some(TrialError::NotRunning { flow: 1, .. })), "{incomplete:?}");
    assert_eq!(ends.len(), 3);
    let (incomplete, ends, ..) = ran([&[Does::GoesOn], &[Does::GoesOn, Does::Breaks]], &Control::default());
    assert!(matches!(incomplete, Some(TrialError::Broken { flow: 1, .. })), "{incomplete:?}");
    assert_eq!(ends.len(), 3);
}

#[test]
fn a_trial_that_is_stopped_ends() {
    let control = Control::default();
    control.stop();
    let (incomplete, ends, ..) = ran([&[Does::GoesOn], &[Does::GoesOn]], &control);
    assert!(matches!(incomplete, Some(TrialError::Stopped)), "{incomplete:?}");
    assert_eq!(ends.len(), 2);
}

/// Allows so many bytes.
struct AtMost(u64);

impl Guard for AtMost {
    fn check_peer(&self, _: IpAddr) -> Result<(), String> {
        Ok(())
    }

    fn may_carry(&self, bytes: u64) -> bool {
        bytes <= self.0
    }
}

#[test]
fn a_trial_ends_where_its_host_allows_no_more_bytes_before_all_flows_run_too() {
    for does in [Does::Nothing, Does::Obeys] {
        for (most, stopped) in [(1, true), (2, false)] {
            let control = Control::default();
            control.guard(Box::new(AtMost(most)));
            let (incomplete, ..) = ran([&[Does::GoesOn, Does::Obeys, does], &[]], &control);
            let own = matches!(incomplete, Some(TrialError::Stopped));
            assert_eq!(own, stopped || does == Does::Obeys, "{incomplete:?}");
        }
    }
}
