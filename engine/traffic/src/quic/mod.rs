//! One end of a trial of QUIC (RFC 9000): check, meet, shake hands, wait for the start, run, report.
//!
//! Each flow is a connection with a socket, a thread and a runtime of its own at both ends, on one port of the end that
//! listens, as flows of datagrams are. So what a thread costs is what its connection costs, encryption included. In place of
//! another engine the far end may be a stranger's server ([`perf`]).

mod check;
mod connection;
mod meet;
mod perf;
mod rows;
mod sampler;
mod sink;
mod source;
mod watched;

use std::{slice, time::Duration};

use bytes::Bytes;
use wire::{Connected, Event, Granted, QuicSettings, RejectedConnections, Report, Role};

pub use self::rows::{QuicRow, StreamRow};
use self::{
    connection::{QuicFlows, sink_has_received},
    sampler::Sampler,
};
use crate::{
    Control, Outbox, Task, TrialError,
    coordinator::{self, Side, Times, TwoEngines},
    halt::Halt,
    host::Counters,
    origin::Origin,
    samples::Delivery,
    tcp::random_bytes,
    threads::spawn,
    udp::socket::NO_GRO,
};

/// Carries one end of a trial out, from the sockets to the report.
pub fn carry_out(task: &Task<'_, QuicSettings>, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    check::check(task)?;
    let settings = task.settings;
    let payload = Bytes::from(random_bytes(settings.length_bytes as usize));
    let mut rejected = RejectedConnections::default();
    let mut _listener = None;
    let connections = if settings.perf {
        perf::connections(task, control)?
    } else {
        let (established, listener) = meet::sockets(task, control, outbox)?;
        (rejected, _listener) = (established.rejected, listener);
        meet::connections(task, established.flows, control)?
    };
    let counters = Counters::read();
    let congestion = settings.congestion.as_deref().unwrap_or(watched::USUAL).to_owned();
    let mut granted = Granted { congestion: Some(congestion), ..Granted::default() };
    if settings.gso && !meet::cuts(settings) {
        granted.gso = Some(false);
        granted.remarks.push("datagrams are too long for several of them in one UDP_SEGMENT: sent one by one".into());
    }
    if task.role == Role::Sink {
        let gro = connections.iter().all(|(_, connection)| connection.gro);
        granted.gro = Some(gro);
        if settings.gro && !gro {
            granted.remarks.push(NO_GRO.into());
        }
    }
    outbox.event(Event::Connected(Connected { trial: task.trial.into(), role: task.role, granted }));
    if task.role == Role::Source {
        control.wait_until_started(|| {})?;
    }
    let origin = Origin::now();
    let flows = QuicFlows::new(connections, origin);
    let interval = Duration::from_micros(settings.sample_interval_us);
    let sampler = Sampler::new(task.role, flows.all.len());
    let mut side = Side::begin(task, &flows, sampler, interval, counters, outbox);
    let mut procedure = TwoEngines::new(task.role, times(settings), flows.all.len(), sink_has_received);
    let incomplete = coordinator::run(slice::from_mut(&mut side), &mut procedure, &Halt::of(control), |scope| {
        flows.all.iter().try_for_each(|flow| {
            let (flows, payload) = (&flows, &payload);
            spawn(scope, flow, flows, &settings.cpus, move || match (task.role, settings.perf) {
                (Role::Source, false) => source::send(flow, flows, settings, payload),
                (Role::Sink, false) => sink::receive(flow, flows),
                (Role::Source, true) => perf::send(flow, flows, settings, payload),
                (Role::Sink, true) => perf::receive(flow, flows),
            })
        })
    })?;
    let observed = side.monitor.end(flows.now_ns(), flows.meters());
    let sampler = side.sampler;
    let mut tables = Delivery::new(task.trial, task.role, outbox);
    let reports = sampler.deliver(flows, &mut tables)?;
    outbox.event(Event::Report(Box::new(Report {
        origin_unix_ns: origin.unix_ns,
        far_side: (settings.perf && incomplete.is_none() && task.role == Role::Source)
            .then(|| perf::far_side(&reports)),
        flows: reports,
        rejected_connections: rejected,
        incomplete: incomplete.map(|error| error.to_failed(task.trial)),
        ..tables.report(observed)
    })));
    Ok(())
}

fn times(settings: &QuicSettings) -> Times {
    Times {
        connect: Duration::from_micros(settings.connect_timeout_us),
        duration: Duration::from_micros(settings.duration_us),
        least_duration: Duration::from_micros(settings.duration_us),
        pad: Duration::from_micros(settings.pad_us),
        drain: Duration::from_micros(settings.drain_timeout_us),
    }
}
