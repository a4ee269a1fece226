//! One end of a measurement of round-trip times: check, meet, wait for the start, run, report. The source sends
//! probes, the sink responds.

mod check;
mod echo_row;
mod outstanding_probes;
mod probe;
mod probe_schedule;
mod sink;
mod source;
mod watch;

use std::time::Duration;

use wire::{Connected, Echo, Event, FlowEnd, FlowReport, Granted, Report, Role, RttSettings};

pub use echo_row::EchoRow;

use self::watch::{Ran, Watch};
use crate::{
    Control, Outbox, Task, TrialError,
    flow::cpu_in,
    host::Counters,
    rendezvous::{Rendezvous, RendezvousParameters, meet},
    samples::Delivery,
    time::from_nanoseconds,
};

/// Carries one end of a measurement out, from the sockets to the report.
pub fn carry_out(task: &Task<'_, RttSettings>, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    check::check(task)?;
    let settings = task.settings;
    let timeout = Duration::from_micros(settings.connect_timeout_us);
    let parameters = RendezvousParameters { family: settings.family, dscp: settings.dscp, timeout };
    let connections = |local| sink::listen_for_connections(task, local);
    let (mut rendezvous, connections) = meet(task, &parameters, control, outbox, connections)?;
    match task.role {
        Role::Sink => {
            let counters = Counters::read();
            let echo = Some(settings.echo).filter(|&echo| echo != Echo::Auto);
            report_connected(task, Granted { echo, ..Granted::default() }, outbox);
            let seen = Watch::begin(counters);
            let ran = sink::respond(task, &mut rendezvous, connections.flatten().as_ref(), control);
            report(task, &rendezvous, ran, seen, outbox)
        }
        Role::Source => {
            let chosen = probe::choose(task, &rendezvous)?;
            let counters = Counters::read();
            let remarks = chosen.remark.clone().into_iter().collect();
            report_connected(task, Granted { echo: Some(chosen.echo), remarks, ..Granted::default() }, outbox);
            rendezvous.wait_for_start(control)?;
            let mut seen = Watch::begin(counters);
            let ran = source::probe(task, chosen, &rendezvous, &mut seen, control, outbox);
            report(task, &rendezvous, ran, seen, outbox)
        }
    }
}

fn report_connected(task: &Task<'_, RttSettings>, granted: Granted, outbox: &dyn Outbox) {
    outbox.event(Event::Connected(Connected { trial: task.trial.into(), role: task.role, granted }));
}

fn report(
    task: &Task<'_, RttSettings>,
    rendezvous: &Rendezvous,
    ran: Ran,
    seen: Watch,
    outbox: &dyn Outbox,
) -> Result<(), TrialError> {
    let end_ns = seen.origin.elapsed_ns();
    let observed = seen.monitor.end(end_ns, std::iter::empty());
    let stopped = matches!(ran.incomplete, Some(TrialError::Stopped));
    let flow = FlowReport {
        flow: 0,
        bytes: ran.bytes,
        first_byte_ns: (ran.bytes > 0).then_some(0),
        end_ns,
        end: if stopped { FlowEnd::Stopped } else { FlowEnd::Drained },
        error: None,
        local_port: rendezvous.socket.local_addr().map_or(0, |address| address.port()),
        remote_port: rendezvous.peer.port(),
        cpu: cpu_in(seen.cpu, from_nanoseconds(end_ns)),
        udp: None,
    };
    let mut tables = Delivery::new(task.trial, task.role, outbox);
    tables.deliver(ran.echoes)?;
    outbox.event(Event::Report(Box::new(Report {
        origin_unix_ns: seen.origin.unix_ns,
        flows: vec![flow],
        rejected_connections: rendezvous.rejected,
        incomplete: ran.incomplete.map(|error| error.to_failed(task.trial)),
        ..tables.report(observed, ran.remarks)
    })));
    Ok(())
}
