//! How a TCP trial between two engines goes.

use std::{slice, time::Duration};

use wire::{Decided, Role, TcpSettings};

use super::{Kind, Work, flow::TcpFlows};
use crate::{
    Control, Outbox, Task, TrialError,
    coordinator::{self, Side, Times, TwoEngines},
    halt::Halt,
    host::{Counters, Observed},
    known::Rule,
};

/// What a trial's end leaves behind.
pub struct Ran<S> {
    /// The samples of all flows.
    pub sampler: S,
    /// What the host did meanwhile.
    pub observed: Observed,
    /// When a source that may end early did, and why.
    pub decided: Option<Decided>,
    /// Why the trial is not whole at this end.
    pub incomplete: Option<TrialError>,
}

/// Runs all flows to their end, at the latest until the deadlines of the settings. `counters` are the host's, read before
/// any flow could send.
pub fn run<K: Kind>(
    kind: &K,
    flows: &TcpFlows,
    task: &Task<'_, TcpSettings>,
    work: &mut K::Work,
    counters: Counters,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<Ran<K::Sampler>, TrialError> {
    let interval = Duration::from_micros(task.settings.sample_interval_us);
    let sampler = kind.sampler(task.role, &flows.all, task.settings);
    let times = times(task.settings, kind.least_duration(task.settings));
    let mut side = Side::begin(task, flows, sampler, interval, counters, outbox);
    let sink_has_received = kind.sink_has_received(task.settings);
    let until = task.settings.until.filter(|_| task.role == Role::Source);
    let rule = until.map(|until| Rule::new(&until, times.duration, interval, flows.all.len()));
    let mut procedure = TwoEngines::new(task.role, times, flows.all.len(), sink_has_received).ending_by(rule);
    let incomplete = coordinator::run(slice::from_mut(&mut side), &mut procedure, &Halt::of(control), move |scope| {
        work.spawn_all(scope, flows, task.settings)
    })?;
    let observed = side.monitor.end(flows.now_ns(), flows.meters());
    Ok(Ran { sampler: side.sampler, observed, decided: procedure.decided(), incomplete })
}

/// The deadlines of a trial whose flows last so long at least.
fn times(settings: &TcpSettings, least_duration: Duration) -> Times {
    Times {
        connect: Duration::from_micros(settings.connect_timeout_us),
        duration: Duration::from_micros(settings.duration_us),
        least_duration,
        pad: Duration::from_micros(settings.pad_us),
        drain: Duration::from_micros(settings.drain_timeout_us),
    }
}
