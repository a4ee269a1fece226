//! How a TCP trial between two engines goes.

use std::{net::TcpStream, slice, time::Duration};

use wire::{Encryption, TcpSettings};

use super::{
    buffers::{Buffers, Carriers},
    flow::TcpFlows,
    sink, source,
};
use crate::{
    Control, Outbox, Task, TrialError,
    coordinator::{self, Sampling, Side, Times, TwoEngines},
    halt::Halt,
    host::{Counters, Observed},
};

/// What a trial's end leaves behind.
pub struct Ran<S> {
    /// The samples of all flows.
    pub sampler: S,
    /// What the host did meanwhile.
    pub observed: Observed,
    /// Why the trial is not whole at this end.
    pub incomplete: Option<TrialError>,
}

/// Runs all flows to their end, at the latest until the deadlines of the settings. `counters` are the host's, read before
/// any flow could send.
pub fn run<S: Sampling<Connection = TcpStream>>(
    flows: &TcpFlows,
    task: &Task<'_, TcpSettings>,
    sampler: S,
    buffers: &mut Buffers,
    counters: Counters,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<Ran<S>, TrialError> {
    let interval = Duration::from_micros(task.settings.sample_interval_us);
    let mut side = Side::begin(task, flows, sampler, interval, counters, outbox);
    let sink_has_received = match task.settings.encryption {
        Encryption::None => source::sink_has_received,
        Encryption::Tls => source::sink_has_spoken,
    };
    let mut procedure = TwoEngines::new(task.role, times(task.settings), flows.all.len(), sink_has_received);
    let carriers = Carriers { send: source::send, receive: sink::receive };
    let incomplete = coordinator::run(slice::from_mut(&mut side), &mut procedure, &Halt::of(control), move |scope| {
        buffers.spawn_all(scope, flows, task.settings, carriers)
    })?;
    let observed = side.monitor.end(flows.now_ns(), flows.meters());
    Ok(Ran { sampler: side.sampler, observed, incomplete })
}

fn times(settings: &TcpSettings) -> Times {
    Times {
        connect: Duration::from_micros(settings.connect_timeout_us),
        duration: Duration::from_micros(settings.duration_us),
        pad: Duration::from_micros(settings.pad_us),
        drain: Duration::from_micros(settings.drain_timeout_us),
    }
}
