//! One end of a TCP trial: check, meet, wait for the start, run, report.

pub mod buffers;
pub mod check;
mod connect;
pub mod flow;
pub mod intake;
mod listen;
pub mod payload;
mod run;
pub mod sampler;
pub mod sink;
pub mod socket;
pub mod source;

use std::net::TcpStream;

use socket2::SockRef;
use wire::{Connected, Event, Granted, Listening, RejectedConnections, RendezvousRole, Report, Role, TcpSettings};

use self::{buffers::Buffers, flow::TcpFlows, run::Ran};
use crate::{
    Control, Outbox, Task, TrialError, defaults::START_TIMEOUT, host::Counters, origin::Origin, samples::Delivery,
};

/// Carries one end of a trial out, from the sockets to the report.
pub fn carry_out(task: &Task<'_, TcpSettings>, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    check::check(task)?;
    let mut buffers = Buffers::new(task)?;
    let (streams, rejected, granted) = meet(task, control, outbox)?;
    for stream in &streams {
        socket::set_connected(&SockRef::from(stream), task.settings)
            .map_err(|source| TrialError::Socket { what: "cannot set up a connected flow".into(), source })?;
    }
    // Whoever reads this event may start the trial at once, and a driver may take its time to tell.
    let counters = Counters::read();
    outbox.event(Event::Connected(Connected { trial: task.trial.into(), role: task.role, granted }));
    if task.role == Role::Source && !control.wait_for_start(START_TIMEOUT) {
        return Err(if control.stopped() { TrialError::Stopped } else { TrialError::StartTimeout(START_TIMEOUT) });
    }
    let origin = Origin::now();
    let flows = TcpFlows::new((0..).zip(streams), origin);
    let ran = run::run(&flows, task, &mut buffers, counters, control, outbox)?;
    report(task, flows, ran, rejected, origin.unix_ns, outbox)
}

fn meet(
    task: &Task<'_, TcpSettings>,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<(Vec<TcpStream>, RejectedConnections, Granted), TrialError> {
    let (streams, rejected, granted) = match task.rendezvous {
        RendezvousRole::Listen { bind, ports } => {
            let listener = listen::listen(task, *bind, *ports)?;
            outbox.event(Event::Listening(Listening { trial: task.trial.into(), port: listener.port }));
            let (streams, rejected) = listener.accept_flows(task, control)?;
            (streams, rejected, listener.granted)
        }
        RendezvousRole::Connect { address, port, bind } => {
            let (streams, granted) = connect::connect_flows(task, address, *port, *bind, control)?;
            (streams, RejectedConnections::default(), granted)
        }
    };
    let (congestion, mss_bytes) =
        streams.first().map_or((None, None), |stream| socket::read_connected(&SockRef::from(stream)));
    Ok((streams, rejected, Granted { congestion, mss_bytes, ..granted }))
}

fn report(
    task: &Task<'_, TcpSettings>,
    flows: TcpFlows,
    ran: Ran,
    rejected: RejectedConnections,
    origin_unix_ns: i64,
    outbox: &dyn Outbox,
) -> Result<(), TrialError> {
    let mut tables = Delivery::new(task.trial, task.role, outbox);
    let reports = ran.sampler.deliver(flows, &mut tables)?;
    outbox.event(Event::Report(Box::new(Report {
        origin_unix_ns,
        flows: reports,
        rejected_connections: rejected,
        incomplete: ran.incomplete.map(|error| error.to_failed(task.trial)),
        ..tables.report(ran.observed)
    })));
    Ok(())
}
