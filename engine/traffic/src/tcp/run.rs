//! How a TCP trial between two engines goes.

use std::{slice, time::Duration};

use wire::{Role, TcpSettings};

use super::{
    buffers::{Buffers, Carriers},
    flow::{TcpFlow, TcpFlows},
    sampler::Sampler,
    sink, source,
};
use crate::{
    Control, Outbox, Task, TrialError,
    coordinator::{self, Coordinator, Procedure, Running, Side, Sides},
    defaults::{SINK_SLACK, START_TIMEOUT},
    halt::Halt,
    host::{Counters, Observed},
};

/// What a trial's end leaves behind.
pub struct Ran {
    /// The samples of all flows.
    pub sampler: Sampler,
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
    let mut side = Side::begin(task, flows, Sampler::new(task.role, &flows.all), interval, counters, outbox);
    let mut procedure = Engines { role: task.role, settings: task.settings, running: Running::none(flows.all.len()) };
    let carriers = Carriers { send: source::send, receive: sink::receive };
    let incomplete = coordinator::run(slice::from_mut(&mut side), &mut procedure, &Halt::of(control), move |scope| {
        buffers.spawn_all(scope, flows, task.settings, carriers)
    })?;
    let observed = side.monitor.end(flows.now_ns(), flows.meters());
    Ok(Ran { sampler: side.sampler, observed, incomplete })
}

/// Two engines, each of which knows the settings: they need say no more than that all flows run.
struct Engines<'a> {
    role: Role,
    settings: &'a TcpSettings,
    running: Running,
}

impl Procedure for Engines<'_> {
    type Sampler = Sampler;

    /// The sink's application must have read from every flow; each of its threads says so with one byte. From then on the
    /// duration counts, so that the sink sees all flows for the whole of it.
    fn first_not_running(&mut self, sides: &Sides<'_, Self>) -> Option<u32> {
        let runs = |flow: &TcpFlow| match self.role {
            Role::Sink => flow.first_byte_ns().is_some(),
            Role::Source => source::sink_has_received(flow),
        };
        sides.iter().find_map(|side| self.running.first_missing(side.flows, |_| true, runs))
    }

    /// A sink is connected before the source may start; it waits longer.
    fn wait_on(&mut self, _: &Sides<'_, Self>, flow: u32, waited: Duration) -> Result<(), TrialError> {
        let connect = Duration::from_micros(self.settings.connect_timeout_us);
        let timeout = if self.role == Role::Sink { START_TIMEOUT + connect } else { connect };
        if waited < timeout { Ok(()) } else { Err(TrialError::NotRunning { flow, timeout }) }
    }

    fn begin(&mut self, _: i64) -> Duration {
        Duration::from_micros(self.settings.duration_us.saturating_add(self.settings.pad_us))
    }

    fn look(&mut self, _: &mut Sides<'_, Self>) -> Result<(), TrialError> {
        Ok(())
    }

    fn conclude(coordinator: &mut Coordinator<'_, '_, Self>) -> Result<(), TrialError> {
        coordinator.sides.iter().for_each(|side| side.flows.stop_sending());
        let drain = Duration::from_micros(coordinator.procedure.settings.drain_timeout_us);
        coordinator.drain(if coordinator.procedure.role == Role::Sink { drain + SINK_SLACK } else { drain })
    }

    /// A source counts the duration from when it knows that all flows run, which a sink has known before: at a sink
    /// every flow lasts longer than the duration, or was cut off.
    fn first_early(&self, sides: &Sides<'_, Self>) -> Option<TrialError> {
        let due = Duration::from_micros(self.settings.duration_us);
        let began_ns = |flow: &TcpFlow| flow.first_byte_ns().unwrap_or(i64::MAX);
        sides.iter().filter(|side| side.role == Role::Sink).find_map(|side| {
            let all_run_ns = side.flows.all.iter().map(began_ns).max()?;
            side.first_early(all_run_ns, due)
        })
    }
}
