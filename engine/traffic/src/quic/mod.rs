//! One end of a trial of QUIC (RFC 9000): check, meet, shake hands, wait for the start, run, report.
//!
//! Each flow is a connection with a socket, a thread and a runtime of its own at both ends, on one port of the end that
//! listens, as flows of datagrams are. So what a thread costs is what its connection costs, encryption included. In place of
//! another engine the far end may be a stranger's server ([`perf`]).

mod check;
mod connection;
mod meet;
mod openings;
mod perf;
mod rows;
mod sampler;
mod sink;
mod socket;
mod source;
mod watched;

use std::{slice, time::Duration};

use bytes::Bytes;
use wire::{Connected, Event, Granted, QuicSettings, RejectedConnections, Report, Role};

pub use self::rows::{QuicRow, StreamRow};
use self::{
    connection::{QuicConnection, QuicFlows, sink_has_received},
    sampler::Sampler,
};
use crate::{
    Control, Outbox, Task, TrialError,
    coordinator::{self, Side, Times, TwoEngines},
    halt::Halt,
    host::{Counters, Observed},
    origin::Origin,
    samples::Delivery,
    tcp::random_bytes,
    threads::spawn,
    udp::{Listener, socket::NO_GRO},
};

/// Carries one end of a trial out, from the sockets to the report.
pub fn carry_out(task: &Task<'_, QuicSettings>, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    check::check(task)?;
    let payload = Bytes::from(random_bytes(task.settings.length_bytes as usize));
    let Met { connections, rejected, _listener } = met(task, control, outbox)?;
    // Whoever reads this event may start the trial at once, and a driver may take its time to tell.
    let counters = Counters::read();
    let granted = granted(task, &connections);
    outbox.event(Event::Connected(Connected { trial: task.trial.into(), role: task.role, granted }));
    if task.role == Role::Source {
        control.wait_until_started(|| {})?;
    }
    let origin = Origin::now();
    let flows = QuicFlows::new(connections, origin);
    let ran = run(task, &flows, &payload, counters, control, outbox)?;
    report(task, flows, ran, rejected, origin.unix_ns, outbox)
}

/// The connections of all flows, and how they came about.
struct Met {
    connections: Vec<(u32, QuicConnection)>,
    rejected: RejectedConnections,
    /// Where it stays.
    _listener: Option<Listener>,
}

fn met(task: &Task<'_, QuicSettings>, control: &Control, outbox: &dyn Outbox) -> Result<Met, TrialError> {
    if task.settings.perf {
        let connections = perf::connections(task, control)?;
        return Ok(Met { connections, rejected: RejectedConnections::default(), _listener: None });
    }
    let (established, listener) = openings::sockets(task, control, outbox)?;
    let connections = meet::connections(task, established.flows, control)?;
    Ok(Met { connections, rejected: established.rejected, _listener: listener })
}

fn granted(task: &Task<'_, QuicSettings>, connections: &[(u32, QuicConnection)]) -> Granted {
    let settings = task.settings;
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
    granted
}

/// What a trial's end leaves behind.
struct Ran {
    sampler: Sampler,
    observed: Observed,
    incomplete: Option<TrialError>,
}

fn run(
    task: &Task<'_, QuicSettings>,
    flows: &QuicFlows,
    payload: &Bytes,
    counters: Counters,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<Ran, TrialError> {
    let settings = task.settings;
    let interval = Duration::from_micros(settings.sample_interval_us);
    let sampler = Sampler::new(task.role, flows.all.len());
    let mut side = Side::begin(task, flows, sampler, interval, counters, outbox);
    let mut procedure = TwoEngines::new(task.role, times(settings), flows.all.len(), sink_has_received);
    let incomplete = coordinator::run(slice::from_mut(&mut side), &mut procedure, &Halt::of(control), |scope| {
        flows.all.iter().try_for_each(|flow| {
            spawn(scope, flow, flows, &settings.cpus, move || match (task.role, settings.perf) {
                (Role::Source, false) => source::send(flow, flows, settings, payload),
                (Role::Sink, false) => sink::receive(flow, flows),
                (Role::Source, true) => perf::send(flow, flows, settings, payload),
                (Role::Sink, true) => perf::receive(flow, flows),
            })
        })
    })?;
    let observed = side.monitor.end(flows.now_ns(), flows.meters());
    Ok(Ran { sampler: side.sampler, observed, incomplete })
}

fn report(
    task: &Task<'_, QuicSettings>,
    flows: QuicFlows,
    ran: Ran,
    rejected: RejectedConnections,
    origin_unix_ns: i64,
    outbox: &dyn Outbox,
) -> Result<(), TrialError> {
    let mut tables = Delivery::new(task.trial, task.role, outbox);
    let reports = ran.sampler.deliver(flows, &mut tables)?;
    let nobody_counts = task.settings.perf && ran.incomplete.is_none() && task.role == Role::Source;
    outbox.event(Event::Report(Box::new(Report {
        origin_unix_ns,
        far_side: nobody_counts.then(|| perf::far_side(&reports)),
        flows: reports,
        rejected_connections: rejected,
        incomplete: ran.incomplete.map(|error| error.to_failed(task.trial)),
        ..tables.report(ran.observed, Vec::new())
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
