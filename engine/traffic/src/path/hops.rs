//! Probes with a limited number of hops, and the responses to them.

use std::time::Instant;

use rustix::io::Errno;
use sys::IcmpErrorKind;

use super::{
    datagram::{LONG_BYTES, Request, Response, quoted_probe},
    hop::Probe,
    hop_row::{Answer, HopRow, Seen},
    prober::{ProbeParameters, Prober, Step},
    request::request_once,
    run::Run,
    sink::Secrets,
};
use crate::{
    TrialError,
    defaults::{DATAGRAMS_AT_ONCE, DISTANCE_TRIES, PACKET_MOST_BYTES, PATH_HOP_LIMIT},
    samples::Log,
    time::microseconds_to_ns,
};

/// Probes all hops up to the sink, or as many as the settings say, until all probes were sent or there is no more time.
pub fn probe_hops(
    run: &mut Run<'_>,
    secrets: Secrets,
    until: Instant,
    log: &mut Log<HopRow>,
) -> Result<(), TrialError> {
    let settings = run.settings;
    if settings.ttl_max == 0 {
        return Ok(());
    }
    let most = run.line.path_mtu().unwrap_or(PACKET_MOST_BYTES);
    let useful = run.line.probe_least_bytes()..=most;
    let mut prober = Prober::new(&ProbeParameters {
        hops: distance(run, secrets)?.unwrap_or(settings.ttl_max).min(settings.ttl_max),
        sizes_bytes: settings.sizes_bytes.iter().copied().filter(|size_bytes| useful.contains(size_bytes)).collect(),
        probes: settings.probes,
        every_ns: microseconds_to_ns(settings.every_us),
        timeout_ns: microseconds_to_ns(settings.timeout_us),
        seed: settings.seed,
    });
    let mut payload = vec![0; PACKET_MOST_BYTES as usize];
    while Instant::now() < until {
        match prober.next(run.now_ns()) {
            Step::Send(probe) => send(run, secrets, &mut prober, probe, &mut payload),
            Step::Lost(row) => log.push(&row),
            Step::Wait(until_ns) => run.wait_until(until_ns)?,
            Step::Done => break,
        }
        receive(run, secrets, &mut prober, log);
    }
    Ok(())
}

/// How many hops the sink is away: it reports what was left of a probe's time to live. Absent if it does not answer, its
/// kernel does not know, or something on the path set another one.
fn distance(run: &mut Run<'_>, secrets: Secrets) -> Result<Option<u8>, TrialError> {
    let is_due = |response| matches!(response, Response::Probe { .. });
    for _ in 0..DISTANCE_TRIES {
        let request = Request::Probe { sequence: u32::MAX };
        if let Some(Response::Probe { hop_limit: left @ 1..=PATH_HOP_LIMIT, .. }) =
            request_once(run, secrets, request, is_due)?
        {
            return Ok(Some(PATH_HOP_LIMIT.saturating_sub(left).saturating_add(1)));
        }
    }
    Ok(None)
}

fn send(run: &mut Run<'_>, secrets: Secrets, prober: &mut Prober, probe: Probe, payload: &mut [u8]) {
    let payload = &mut payload[..(probe.size_bytes - run.line.headers_bytes()) as usize];
    Request::Probe { sequence: probe.sequence }.write(secrets.source, payload);
    let limited = run.line.set_hop_limit(probe.ttl);
    let sent_ns = run.now_ns();
    match limited.and_then(|()| run.line.send(payload)) {
        // It is tried again, as one that is lost on the way: for each there is a deadline.
        Ok(()) => run.bytes += payload.len() as u64,
        Err(error) if error.raw_os_error() == Some(Errno::MSGSIZE.raw_os_error()) => {
            return prober.give_up_size(probe.size_bytes);
        }
        Err(_) => {}
    }
    prober.sent(probe, sent_ns);
}

/// Receives the responses that have arrived.
fn receive(run: &mut Run<'_>, secrets: Secrets, prober: &mut Prober, log: &mut Log<HopRow>) {
    let mut buffer = [0; LONG_BYTES];
    for _ in 0..DATAGRAMS_AT_ONCE {
        let Some(error) = run.receive_error(&mut buffer) else { break };
        let quoted = &buffer[..error.quoted.min(buffer.len())];
        let Some(sequence) = quoted_probe(quoted).or_else(|| prober.only_one_for(error.from)) else { continue };
        // A probe whose response arrived at an unknown time is sent again, like one that is lost.
        let Some(arrived_ns) = run.arrived_ns(error.arrived_unix_ns) else { continue };
        let seen = |sent_ns| Seen { answer: answer(error.kind), from: error.from, rtt_ns: arrived_ns - sent_ns };
        prober.answered(sequence, seen).into_iter().for_each(|row| log.push(&row));
    }
    for _ in 0..DATAGRAMS_AT_ONCE {
        let Some((response, datagram)) = run.receive(&mut buffer, |bytes| Response::read(bytes, secrets.sink)) else {
            break;
        };
        let Response::Probe { sequence, held_ns, .. } = response else { continue };
        let Some(arrived_ns) = run.arrived_ns(datagram.arrived_unix_ns) else { continue };
        let arrived_ns = arrived_ns.saturating_sub(i64::try_from(held_ns).unwrap_or(0));
        let from = datagram.peer.map(|peer| peer.ip());
        let seen = |sent_ns| Seen { answer: Answer::Destination, from, rtt_ns: arrived_ns - sent_ns };
        prober.answered(sequence, seen).into_iter().for_each(|row| log.push(&row));
    }
}

fn answer(kind: IcmpErrorKind) -> Answer {
    match kind {
        IcmpErrorKind::TimeExceeded => Answer::TimeExceeded,
        IcmpErrorKind::PortUnreachable => Answer::PortUnreachable,
        IcmpErrorKind::TooBig => Answer::TooBig,
        IcmpErrorKind::Unreachable => Answer::Unreachable,
        IcmpErrorKind::Other => Answer::Other,
    }
}
