//! One end of a trial of byte streams: check, meet, wait for the start, run, report. TCP is one kind of them.

pub mod check;
mod connect;
mod encryption;
pub mod flow;
pub mod intake;
mod kind;
mod listen;
pub mod payload;
pub mod payload_buffers;
mod run;
pub mod sampler;
mod segment_sizes;
pub mod sink;
pub mod socket;
pub mod source;

use std::net::TcpStream;

use socket2::SockRef;
use wire::{
    Connected, Encryption, Event, Granted, Listening, RejectedConnections, RendezvousRole, Report, Role, TcpSettings,
};

pub use self::{
    flow::{TcpFlow, TcpFlows},
    kind::{Kind, Tcp, Work},
    payload::random_bytes,
    sampler::Sampler,
    socket::{TCP, Transport, open},
};
use self::{listen::Listener, run::Ran};
use crate::{
    Control, Outbox, Task, TrialError,
    host::Counters,
    origin::Origin,
    samples::Delivery,
    tls::{Secrets, opening_token},
};

/// Carries one end of a trial of TCP out, from the sockets to the report.
pub fn carry_out(task: &Task<'_, TcpSettings>, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    carry_out_as(&Tcp, task, control, outbox)
}

/// Carries one end of a trial of byte streams out.
pub fn carry_out_as<K: Kind>(
    kind: &K,
    task: &Task<'_, TcpSettings>,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<(), TrialError> {
    check::check(task)?;
    let mut work = kind.work(task)?;
    let secrets = Secrets { token: task.token, answer: task.answer };
    let task = &match task.settings.encryption {
        Encryption::None => Task { ..*task },
        // Tokens are shown in clear: nobody may learn the secrets from them.
        Encryption::Tls => Task { token: opening_token(task.token), answer: opening_token(task.answer), ..*task },
    };
    let Met { streams, rejected, granted, _listener } = meet(kind, task, control, outbox)?;
    for stream in &streams {
        socket::set_connected(&SockRef::from(stream), task.settings, K::TRANSPORT)
            .map_err(|source| TrialError::Socket { what: "cannot set up a connected flow".into(), source })?;
    }
    kind.wait_until_ready(&streams, control)?;
    if task.settings.encryption == Encryption::Tls {
        work.protect(encryption::sessions(task, secrets, &streams, control)?);
    }
    // Whoever reads this event may start the trial at once, and a driver may take its time to tell.
    let counters = Counters::read();
    outbox.event(Event::Connected(Connected { trial: task.trial.into(), role: task.role, granted }));
    if task.role == Role::Source {
        control.wait_until_started(|| {})?;
    }
    let origin = Origin::now();
    let flows = TcpFlows::new((0..).zip(streams), origin);
    let ran = run::run(kind, &flows, task, &mut work, counters, control, outbox)?;
    report::<K>(task, flows, ran, rejected, origin.unix_ns, outbox)
}

/// All flows of one end, and how they came about.
struct Met {
    streams: Vec<TcpStream>,
    rejected: RejectedConnections,
    granted: Granted,
    /// Where it stays.
    _listener: Option<Listener>,
}

fn meet<K: Kind>(
    kind: &K,
    task: &Task<'_, TcpSettings>,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<Met, TrialError> {
    let mut met = match task.rendezvous {
        RendezvousRole::Listen { bind, ports } => {
            let listener = listen::listen(kind, task, *bind, *ports)?;
            outbox.event(Event::Listening(Listening { trial: task.trial.into(), port: listener.port }));
            let (streams, rejected) = listener.accept_flows(task, control)?;
            let granted = listener.granted.clone();
            Met { streams, rejected, granted, _listener: K::LISTENS_ON.then_some(listener) }
        }
        RendezvousRole::Connect { address, port, bind, .. } => {
            let (streams, granted) = connect::connect_flows(kind, task, address, *port, *bind, control)?;
            Met { streams, rejected: RejectedConnections::default(), granted, _listener: None }
        }
    };
    if let Some(first) = met.streams.first() {
        let (congestion, mss_bytes) = socket::read_connected(&SockRef::from(first));
        met.granted = Granted { congestion, mss_bytes: mss_bytes.filter(|_| K::TRANSPORT.single), ..met.granted };
    }
    if K::TRANSPORT.single {
        let listens = matches!(task.rendezvous, RendezvousRole::Listen { .. });
        let backlog = listens.then(|| listen::backlog(task.settings));
        met.granted.remarks.extend(segment_sizes::remark(&met.streams, backlog));
    }
    Ok(met)
}

fn report<K: Kind>(
    task: &Task<'_, TcpSettings>,
    flows: TcpFlows,
    ran: Ran<K::Sampler>,
    rejected: RejectedConnections,
    origin_unix_ns: i64,
    outbox: &dyn Outbox,
) -> Result<(), TrialError> {
    let mut tables = Delivery::new(task.trial, task.role, outbox);
    let (reports, wrong) = K::deliver(ran.sampler, flows, &mut tables)?;
    outbox.event(Event::Report(Box::new(Report {
        origin_unix_ns,
        flows: reports,
        rejected_connections: rejected,
        decided: ran.decided,
        incomplete: wrong.or(ran.incomplete).map(|error| error.to_failed(task.trial)),
        ..tables.report(ran.observed, Vec::new())
    })));
    Ok(())
}
