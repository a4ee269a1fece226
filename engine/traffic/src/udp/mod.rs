//! One end of a trial of datagrams: check, meet, wait for the start, run, report.

pub mod arrivals;
pub mod check;
mod connect;
pub mod content;
pub mod counted;
pub mod histograms;
mod listen;
mod met;
pub mod outgoing;
pub mod pace;
pub mod rows;
mod run;
pub mod sampler;
pub mod sequence;
pub mod silence;
mod sink;
pub mod socket;
pub mod source;
pub mod stream;

use std::time::Instant;

pub use pace::Pace;
pub use rows::{DatagramRow, HistogramRow};
pub use sequence::{Arrival, Sequence};
use wire::{Connected, Event, FlowEnd, FlowReport, Listening, Meeting, Report, Role, Strangers, UdpSettings};

use self::{
    listen::Listener,
    met::{Met, NotStanding},
    run::{Offloads, Ran},
    stream::{Stream, UdpFlows},
};
use crate::{
    Control, Outbox, Task, TrialError,
    defaults::{START_TIMEOUT, STOP_CHECK},
    host::Counters,
    kernel_time::Steps,
    origin::Origin,
    samples::{Delivery, Log},
};

/// Carries one end of a trial out, from the sockets to the report.
pub fn carry_out(task: &Task<'_, UdpSettings>, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    check::check(task)?;
    let (mut met, listener) = meet(task, control, outbox)?;
    let streams: Vec<&Stream> = met.standing.iter().map(|(_, stream)| stream).collect();
    for stream in &streams {
        socket::set_standing(&stream.socket)
            .map_err(|source| TrialError::Socket { what: "cannot set up a flow that stands".into(), source })?;
    }
    socket::try_segments(&streams, task, &mut met.granted);
    let offloads = Offloads { gso: met.granted.gso == Some(true), gro: met.granted.gro == Some(true) };
    // Whoever reads this event may start the trial at once, and a driver may take its time to tell.
    let counters = Counters::read();
    let granted = met.granted.clone();
    outbox.event(Event::Connected(Connected { trial: task.trial.into(), role: task.role, granted }));
    if task.role == Role::Source {
        wait_for_start(&streams, control)?;
    }
    let origin = Origin::now();
    let flows = UdpFlows::new(met.standing, origin);
    let ran = run::run(&flows, task, offloads, listener.as_ref(), counters, control, outbox)?;
    report(task, flows, met.missing, ran, met.strangers, origin.unix_ns, outbox)
}

fn meet(
    task: &Task<'_, UdpSettings>,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<(Met, Option<Listener>), TrialError> {
    match task.meeting {
        Meeting::Listen { bind, ports } => {
            let listener = listen::listen(task, *bind, *ports)?;
            outbox.event(Event::Listening(Listening { trial: task.trial.into(), port: listener.port }));
            Ok((listener.accept_flows(task, control)?, Some(listener)))
        }
        Meeting::Connect { address, port, bind } => {
            Ok((connect::connect_flows(task, address, *port, *bind, control)?, None))
        }
    }
}

/// Meanwhile the other end may ask again for a flow whose answer was lost.
fn wait_for_start(streams: &[&Stream], control: &Control) -> Result<(), TrialError> {
    let deadline = Instant::now() + START_TIMEOUT;
    while !control.wait_for_start(STOP_CHECK) {
        if control.stopped() {
            return Err(TrialError::Stopped);
        }
        if Instant::now() >= deadline {
            return Err(TrialError::StartTimeout(START_TIMEOUT));
        }
        for stream in streams {
            source::hear(stream);
        }
    }
    Ok(())
}

fn report(
    task: &Task<'_, UdpSettings>,
    mut flows: UdpFlows,
    missing: Vec<NotStanding>,
    ran: Ran,
    mut strangers: Strangers,
    origin_unix_ns: i64,
    outbox: &dyn Outbox,
) -> Result<(), TrialError> {
    add(&mut strangers, ran.strangers);
    let (mut histograms, mut steps) = (Log::new(), Vec::new());
    let mut reports: Vec<FlowReport> = missing.into_iter().map(NotStanding::report).collect();
    for flow in &mut flows.all {
        let outcome = flow.connection.outcome();
        outcome.histograms.iter().for_each(|row| histograms.push(row));
        add(&mut strangers, outcome.strangers);
        steps.push(outcome.steps);
        reports.push(FlowReport { udp: Some(outcome.counts), ..flow.report() });
    }
    drop(flows);
    reports.sort_by_key(|flow| flow.flow);
    let incomplete = ran.incomplete.or_else(|| broken(&reports));
    let mut tables = Delivery::new(task.trial, task.role, outbox);
    tables.deliver(ran.samples).map_err(|error| TrialError::Samples(error.to_string()))?;
    tables.deliver(ran.datagrams).map_err(|error| TrialError::Samples(error.to_string()))?;
    // A trial is as good as its samples: rows of these that cannot be read back are only counted as lost.
    let _ = tables.deliver(histograms);
    let _ = tables.deliver(ran.observed.cpu);
    outbox.event(Event::Report(Box::new(Report {
        trial: task.trial.into(),
        role: task.role,
        origin_unix_ns,
        flows: reports,
        strangers,
        table_rows: tables.rows,
        rows_lost: tables.rows_lost,
        counters: ran.observed.counters,
        throttled_us: ran.observed.throttled_us,
        far_side: None,
        remarks: untimed_remark(steps).into_iter().collect(),
        incomplete: incomplete.map(|error| error.to_failed(task.trial)),
    })));
    Ok(())
}

/// What is to be told of a sink's clock that was set, as each of its flows saw it.
pub fn untimed_remark(steps: Vec<Steps>) -> Option<String> {
    Steps::seen_by_all(steps).remark("have no time, and are left out of spacing, jitter and delay")
}

fn broken(reports: &[FlowReport]) -> Option<TrialError> {
    let mut broken = reports.iter().filter(|flow| flow.end == FlowEnd::Broken);
    let first = broken.next()?;
    let reason = first.error.clone().unwrap_or_else(|| "unknown".into());
    Some(TrialError::SomeBroken { broken: 1 + broken.count(), flows: reports.len(), flow: first.flow, reason })
}

fn add(strangers: &mut Strangers, more: Strangers) {
    let Strangers { not_an_engine, wrong_token, wrong_flow, unfinished, crowded_out } = more;
    strangers.not_an_engine = strangers.not_an_engine.saturating_add(not_an_engine);
    strangers.wrong_token = strangers.wrong_token.saturating_add(wrong_token);
    strangers.wrong_flow = strangers.wrong_flow.saturating_add(wrong_flow);
    strangers.unfinished = strangers.unfinished.saturating_add(unfinished);
    strangers.crowded_out = strangers.crowded_out.saturating_add(crowded_out);
}
