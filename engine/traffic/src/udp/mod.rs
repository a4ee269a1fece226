//! One end of a trial of datagrams: check, meet, wait for the start, run, report.

pub mod arrivals;
pub mod check;
mod connect;
pub mod counted;
mod delay_histogram;
pub mod delivered;
mod drops;
mod established;
pub mod histograms;
mod listen;
pub mod outgoing;
pub mod pace;
pub mod packet_format;
mod repeats;
pub mod rows;
mod run;
pub mod sampler;
pub mod sequence;
pub mod silence;
mod sink;
pub mod socket;
pub mod source;
pub mod stream;

pub use pace::Pace;
pub use rows::{DatagramRow, HistogramRow};
pub use sequence::{Arrival, Sequence};
use wire::{Connected, Event, Listening, RejectedConnections, RendezvousRole, Report, Role, UdpSettings};

use self::{
    delivered::{Delivered, add},
    established::MissingFlow,
    run::{End, Ran},
    stream::UdpFlows,
};
pub use self::{established::Established, listen::Listener, stream::Stream};
use crate::{Control, Outbox, Task, TrialError, host::Counters, origin::Origin, samples::Delivery};

/// Carries one end of a trial out, from the sockets to the report.
pub fn carry_out(task: &Task<'_, UdpSettings>, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    check::check(task)?;
    let (mut established, listener) = meet(task, control, outbox)?;
    let streams: Vec<&Stream> = established.flows.iter().map(|(_, stream)| stream).collect();
    for stream in &streams {
        socket::set_standing(&stream.socket)
            .map_err(|source| TrialError::Socket { what: "cannot set up a flow that stands".into(), source })?;
    }
    socket::try_segments(&streams, task, &mut established.granted);
    let end = match task.role {
        Role::Source => End::Source { gso: established.granted.gso == Some(true) },
        Role::Sink => {
            let together = established.granted.gro == Some(true);
            End::Sink(sink::rooms(established.flows.len(), task.settings, together))
        }
    };
    // Whoever reads this event may start the trial at once, and a driver may take its time to tell.
    let counters = Counters::read();
    let granted = established.granted.clone();
    outbox.event(Event::Connected(Connected { trial: task.trial.into(), role: task.role, granted }));
    if task.role == Role::Source {
        // Meanwhile the other end may repeat the opening of a flow whose answer was lost.
        control.wait_until_started(|| streams.iter().for_each(|stream| source::drain_received(stream)))?;
    }
    let origin = Origin::now();
    let flows = UdpFlows::new(established.flows, origin);
    let ran = run::run(&flows, task, end, listener.as_ref(), counters, control, outbox)?;
    report(task, flows, established.missing, ran, established.rejected, origin.unix_ns, outbox)
}

/// Gives every flow of a trial a socket between its two ends alone.
///
/// # Errors
/// None of them stands.
pub fn meet(
    task: &Task<'_, UdpSettings>,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<(Established, Option<Listener>), TrialError> {
    match task.rendezvous {
        RendezvousRole::Listen { bind, ports } => {
            let listener = listen::listen(task, *bind, *ports)?;
            outbox.event(Event::Listening(Listening { trial: task.trial.into(), port: listener.port }));
            Ok((listener.accept_flows(task, control)?, Some(listener)))
        }
        RendezvousRole::Connect { address, port, bind, .. } => {
            Ok((connect::connect_flows(task, address, *port, *bind, control)?, None))
        }
    }
}

fn report(
    task: &Task<'_, UdpSettings>,
    flows: UdpFlows,
    missing: Vec<MissingFlow>,
    ran: Ran,
    mut rejected: RejectedConnections,
    origin_unix_ns: i64,
    outbox: &dyn Outbox,
) -> Result<(), TrialError> {
    let mut tables = Delivery::new(task.trial, task.role, outbox);
    let Delivered { mut reports, rejected: of_flows, remark } = delivered::deliver(ran.sampler, flows, &mut tables)?;
    reports.extend(missing.into_iter().map(MissingFlow::report));
    reports.sort_by_key(|flow| flow.flow);
    add(&mut rejected, ran.rejected);
    add(&mut rejected, of_flows);
    let incomplete = ran.incomplete.or_else(|| TrialError::of_broken(&reports));
    outbox.event(Event::Report(Box::new(Report {
        origin_unix_ns,
        flows: reports,
        rejected_connections: rejected,
        incomplete: incomplete.map(|error| error.to_failed(task.trial)),
        ..tables.report(ran.observed, remark.into_iter().collect())
    })));
    Ok(())
}
