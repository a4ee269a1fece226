//! One end of a measurement of round-trip times: check, meet, wait for the start, run, report. The source asks, the sink
//! answers.

mod ask;
mod check;
mod echo_row;
mod ledger;
mod sink;
mod source;
mod timetable;

use std::time::Duration;

use sys::{ThreadCpu, thread_cpu};
use wire::{Connected, CpuTime, Echo, Event, FlowEnd, FlowReport, Granted, Report, Role, RttSettings};

pub use echo_row::EchoRow;

use crate::{
    Control, Outbox, Task, TrialError,
    defaults::ECHO_MONITOR_INTERVAL,
    host::{Counters, Monitor},
    meeting::{Met, Terms, meet},
    origin::Origin,
    samples::{Delivery, Log},
    time::microseconds,
};

/// Carries one end of a measurement out, from the sockets to the report.
pub fn carry_out(task: &Task<'_, RttSettings>, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    check::check(task)?;
    let settings = task.settings;
    let timeout = Duration::from_micros(settings.connect_timeout_us);
    let terms = Terms { family: settings.family, dscp: settings.dscp, timeout };
    let connections = |local| sink::listen_for_connections(task, local);
    let (mut met, connections) = meet(task, &terms, control, outbox, connections)?;
    match task.role {
        Role::Sink => {
            let counters = Counters::read();
            let echo = Some(settings.echo).filter(|&echo| echo != Echo::Auto);
            tell_connected(task, Granted { echo, ..Granted::default() }, outbox);
            let seen = Watch::begin(counters);
            let ran = sink::answer(task, &mut met, connections.flatten().as_ref(), control);
            report(task, &met, ran, seen, outbox)
        }
        Role::Source => {
            let chosen = ask::choose(task, &met)?;
            let counters = Counters::read();
            let remarks = chosen.remark.clone().into_iter().collect();
            tell_connected(task, Granted { echo: Some(chosen.echo), remarks, ..Granted::default() }, outbox);
            met.wait_for_start(control)?;
            let mut seen = Watch::begin(counters);
            let ran = source::ask(task, chosen, &met, &mut seen, control, outbox);
            report(task, &met, ran, seen, outbox)
        }
    }
}

/// What one end did.
struct Ran {
    /// Payload that it sent (source) or got (sink), as far as its engine had it in hands.
    bytes: u64,
    echoes: Log<EchoRow>,
    /// What is to be told beside.
    remark: Option<String>,
    incomplete: Option<TrialError>,
}

/// What is seen of the host and of this thread meanwhile.
struct Watch {
    origin: Origin,
    monitor: Monitor,
    cpu: Option<ThreadCpu>,
}

impl Watch {
    fn begin(counters: Counters) -> Self {
        let monitor = Monitor::begin(counters, ECHO_MONITOR_INTERVAL, 0, 0);
        Self { monitor, cpu: thread_cpu().ok(), origin: Origin::now() }
    }
}

fn tell_connected(task: &Task<'_, RttSettings>, granted: Granted, outbox: &dyn Outbox) {
    outbox.event(Event::Connected(Connected { trial: task.trial.into(), role: task.role, granted }));
}

fn report(
    task: &Task<'_, RttSettings>,
    met: &Met,
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
        local_port: met.socket.local_addr().map_or(0, |address| address.port()),
        remote_port: met.peer.port(),
        cpu: cpu_since(seen.cpu, end_ns),
        udp: None,
    };
    let mut tables = Delivery::new(task.trial, task.role, outbox);
    tables.deliver(ran.echoes).map_err(|error| TrialError::Samples(error.to_string()))?;
    // A trial is as good as its echoes: CPU time that cannot be read back is only counted as lost.
    let _ = tables.deliver(observed.cpu);
    outbox.event(Event::Report(Box::new(Report {
        trial: task.trial.into(),
        role: task.role,
        origin_unix_ns: seen.origin.unix_ns,
        flows: vec![flow],
        strangers: met.strangers,
        table_rows: tables.rows,
        rows_lost: tables.rows_lost,
        counters: observed.counters,
        throttled_us: observed.throttled_us,
        far_side: None,
        remarks: ran.remark.into_iter().collect(),
        incomplete: ran.incomplete.map(|error| error.to_failed(task.trial)),
    })));
    Ok(())
}

fn cpu_since(before: Option<ThreadCpu>, elapsed_ns: i64) -> CpuTime {
    let (Some(before), Ok(now)) = (before, thread_cpu()) else { return CpuTime::default() };
    CpuTime {
        user_us: microseconds(now.user.saturating_sub(before.user)),
        system_us: microseconds(now.system.saturating_sub(before.system)),
        elapsed_us: u64::try_from(elapsed_ns / 1000).unwrap_or(0),
        voluntary_switches: now.voluntary_switches.saturating_sub(before.voluntary_switches),
        involuntary_switches: now.involuntary_switches.saturating_sub(before.involuntary_switches),
    }
}
