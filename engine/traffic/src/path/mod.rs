//! One end of a measurement of a path: check, meet, wait for the start, measure or receive, report.
//!
//! The source sends trains and streams, which show what the whole path can carry and what is free of it, and then probes
//! that may only go some hops. Both ends have one socket, so that all of it takes the same way through a network that
//! spreads flows. What is sent is of low rate but for the trains, and goes to nobody but the sink that has answered.

mod check;
mod datagram;
mod dispersion;
mod hop;
mod hop_row;
mod hops;
mod kept;
mod line;
mod prober;
mod request;
mod run;
mod sending;
mod sink;
mod source;
mod streams;
mod train_row;

pub use hop_row::HopRow;
pub use train_row::TrainRow;

use std::time::Duration;

use wire::{Connected, Event, Granted, PathSettings, RendezvousRole, Report, Role};

use self::{line::Line, run::Run, sink::Secrets};
use crate::{
    Control, Outbox, Task, TrialError,
    defaults::HOP_SIZES_LEAST,
    host::Counters,
    rendezvous::{RendezvousParameters, meet},
    samples::{Delivery, Log, Tabular},
};

/// What becomes of packets that arrived about when the clock was set.
const CLOCK_SET: &str = "have no time: probes were sent again, trains and streams are left out whole";

/// Carries one end of a measurement out, from the socket to the report.
pub fn carry_out(task: &Task<'_, PathSettings>, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    check::check(task.settings)?;
    let timeout = Duration::from_micros(task.settings.connect_timeout_us);
    let parameters = RendezvousParameters { family: task.settings.family, dscp: None, timeout };
    let (rendezvous, _) = meet(task, &parameters, control, outbox, |_| Ok(()))?;
    let line = Line::new(rendezvous)?;
    // Whoever reads this event may start the trial at once, and a driver may take its time to tell.
    let counters = Counters::read();
    let granted = Granted { remarks: remarks(task, &line), ..Granted::default() };
    outbox.event(Event::Connected(Connected { trial: task.trial.into(), role: task.role, granted }));
    let (own, other) = match task.rendezvous {
        RendezvousRole::Listen { .. } => (task.answer, task.token),
        RendezvousRole::Connect { .. } => (task.token, task.answer),
    };
    match task.role {
        Role::Source => {
            line.wait_for_start(control)?;
            let secrets = Secrets { source: own, sink: other };
            let (mut run, mut log) = (Run::begin(task, line, counters, control, outbox), Log::new());
            let measured = source::measure(&mut run, secrets, &mut log);
            report(task, run, log, measured.err(), outbox)
        }
        Role::Sink => {
            let secrets = Secrets { source: other, sink: own };
            let (mut run, mut log) = (Run::begin(task, line, counters, control, outbox), Log::new());
            let taken = sink::take(&mut run, secrets, &mut log);
            report(task, run, log, taken.err(), outbox)
        }
    }
}

/// Which of the settings cannot be met.
fn remarks(task: &Task<'_, PathSettings>, line: &Line) -> Vec<String> {
    let settings = task.settings;
    let Some(mtu) = line.path_mtu().filter(|_| task.role == Role::Source) else { return Vec::new() };
    let least = line.probe_least_bytes();
    let count = |is_meant: &dyn Fn(u32) -> bool| settings.sizes_bytes.iter().filter(|size| is_meant(**size)).count();
    let with_hops = settings.ttl_max > 0;
    let useful = count(&|size_bytes| size_bytes >= least);
    let too_small = (with_hops && useful < HOP_SIZES_LEAST && useful < settings.sizes_bytes.len()).then(|| {
        format!(
            "{useful} sizes of probes are of {least} B or more: others, which IPv6 routers quote whole, are left out"
        )
    });
    let too_large = count(&|size_bytes| size_bytes > mtu);
    let too_large = (with_hops && too_large > 0).then(|| {
        format!("{too_large} sizes of probes are above the MTU of {mtu} B towards the sink: these are left out")
    });
    let trains = (settings.train_bytes > mtu && settings.trains > 0).then(|| {
        let requested = settings.train_bytes;
        format!("packets of trains are of {mtu} B in place of {requested}: that is the MTU towards the sink")
    });
    too_small.into_iter().chain(too_large).chain(trains).collect()
}

fn report<R: Tabular>(
    task: &Task<'_, PathSettings>,
    mut run: Run<'_>,
    log: Log<R>,
    incomplete: Option<TrialError>,
    outbox: &dyn Outbox,
) -> Result<(), TrialError> {
    run.tell();
    let origin_unix_ns = run.origin.unix_ns;
    let seen = std::mem::take(&mut run.remarks);
    let (observed, rejected, steps) = run.end();
    let mut tables = Delivery::new(task.trial, task.role, outbox);
    tables.deliver(log)?;
    outbox.event(Event::Report(Box::new(Report {
        origin_unix_ns,
        rejected_connections: rejected,
        incomplete: incomplete.map(|error| error.to_failed(task.trial)),
        ..tables.report(observed, seen.into_iter().chain(steps.remark(CLOCK_SET)).collect())
    })));
    Ok(())
}
