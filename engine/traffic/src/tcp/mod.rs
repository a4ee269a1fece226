//! One end of a TCP trial: check, meet, wait for the start, run, report.

mod check;
mod connect;
mod flow;
mod intake;
mod listen;
mod origin;
mod payload;
mod run;
mod sampler;
mod sink;
mod socket;
mod source;

use std::{io, net::TcpStream};

use socket2::SockRef;
use wire::{Connected, Event, Granted, Listening, Meeting, Prepare, Report, Role, Strangers};

use self::{
    flow::Flows,
    intake::Intakes,
    origin::Origin,
    payload::Payload,
    run::{Buffers, Ran},
};
use crate::{Control, Outbox, TrialError, defaults::START_TIMEOUT, host::Counters, samples::for_each_batch};

/// Carries one end of a trial out, from the sockets to the report. Whatever happens ends in exactly one `report` or
/// `failed` event.
pub fn carry_out(prepare: &Prepare, control: &Control, outbox: &dyn Outbox) {
    if let Err(error) = try_carry_out(prepare, control, outbox) {
        outbox.event(Event::Failed(error.to_failed(&prepare.trial)));
    }
}

fn try_carry_out(prepare: &Prepare, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    check::check(prepare)?;
    let mut buffers = buffers(prepare).map_err(TrialError::Buffers)?;
    let (streams, strangers, granted) = meet(prepare, control, outbox)?;
    for stream in &streams {
        socket::set_connected(&SockRef::from(stream), &prepare.tcp)
            .map_err(|source| TrialError::Socket { what: "cannot set up a connected flow".into(), source })?;
    }
    // Whoever reads this event may start the trial at once, and a driver may take its time to tell.
    let counters = Counters::read();
    outbox.event(Event::Connected(Connected { trial: prepare.trial.clone(), role: prepare.role, granted }));
    if prepare.role == Role::Source && !control.wait_for_start(START_TIMEOUT) {
        return Err(if control.stopped() { TrialError::Stopped } else { TrialError::StartTimeout(START_TIMEOUT) });
    }
    let origin = Origin::now();
    let flows = Flows::new(streams, origin.instant);
    let ran = run::run(&flows, prepare, &mut buffers, counters, control, outbox)?;
    report(prepare, flows, ran, strangers, origin.unix_ns, outbox)
}

fn buffers(prepare: &Prepare) -> io::Result<Buffers> {
    let (flows, length) = (prepare.tcp.flows as usize, prepare.tcp.length_bytes as usize);
    Ok(match prepare.role {
        Role::Source => Buffers::Source(Payload::new(flows, length, prepare.tcp.mode)?),
        Role::Sink => Buffers::Sink(Intakes::new(flows, length, prepare.tcp.mode)?),
    })
}

fn meet(
    prepare: &Prepare,
    control: &Control,
    outbox: &dyn Outbox,
) -> Result<(Vec<TcpStream>, Strangers, Granted), TrialError> {
    let (streams, strangers, granted) = match &prepare.meeting {
        Meeting::Listen { bind, ports } => {
            let listener = listen::listen(prepare, *bind, *ports)?;
            outbox.event(Event::Listening(Listening { trial: prepare.trial.clone(), port: listener.port }));
            let (streams, strangers) = listener.accept_flows(prepare, control)?;
            (streams, strangers, listener.granted)
        }
        Meeting::Connect { address, port, bind } => {
            let (streams, granted) = connect::connect_flows(prepare, address, *port, *bind, control)?;
            (streams, Strangers::default(), granted)
        }
    };
    let (congestion, mss_bytes) =
        streams.first().map_or((None, None), |stream| socket::read_connected(&SockRef::from(stream)));
    Ok((streams, strangers, Granted { congestion, mss_bytes, ..granted }))
}

fn report(
    prepare: &Prepare,
    flows: Flows,
    ran: Ran,
    strangers: Strangers,
    origin_unix_ns: i64,
    outbox: &dyn Outbox,
) -> Result<(), TrialError> {
    let (samples_lost, cpu) = (ran.samples.rows_lost(), ran.observed.cpu);
    let cpu_rows_seen = cpu.rows() + cpu.rows_lost();
    let reports = (0..).zip(&flows.all).map(|(index, flow)| flow.report(index)).collect();
    // Closes what was aborted, so that nothing of it shares the path with the samples.
    drop(flows);
    let (sample_rows, whole) = for_each_batch(ran.samples, &prepare.trial, prepare.role, |batch| outbox.samples(batch));
    whole.map_err(|error| TrialError::Samples(error.to_string()))?;
    // A trial is as good as its samples: CPU time that cannot be read back is only counted as lost.
    let (cpu_rows, _) = for_each_batch(cpu, &prepare.trial, prepare.role, |batch| outbox.samples(batch));
    outbox.event(Event::Report(Box::new(Report {
        trial: prepare.trial.clone(),
        role: prepare.role,
        origin_unix_ns,
        flows: reports,
        strangers,
        sample_rows,
        sample_rows_lost: samples_lost + (cpu_rows_seen - cpu_rows),
        cpu_rows,
        counters: ran.observed.counters,
        throttled_us: ran.observed.throttled_us,
        incomplete: ran.incomplete.map(|error| error.to_failed(&prepare.trial)),
    })));
    Ok(())
}
