//! A test of streams of datagrams with an iperf3 server.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    thread::Scope,
    time::{Duration, Instant},
};

use iperf3::{Cookie, OPENING, replies_to_opening};
use rustix::net::{RecvFlags, recv};
use wire::{FlowReport, Granted, Iperf3, Role, UdpSettings};

use super::{
    conversation::{Conversation, is_pause},
    kind::{Kind, Reach},
    outcome::{Omitted, Seen},
    run::Times,
    server::Server,
    udp_sink::receive,
    udp_source::{COUNTER, Numbered},
};
use crate::{
    Task, TrialError,
    coordinator::Side,
    defaults::{DUPLICATES_AWAITED, IPERF3_DRAIN, IPERF3_OPENING_TIMEOUT, IPERF3_OPENINGS, IPERF3_SETTLE, STOP_CHECK},
    halt::Halt,
    samples::Delivery,
    threads::spawn,
    udp::{
        check,
        delivered::{self, Delivered},
        sampler::Sampler,
        silence::silence_of,
        socket, source,
        stream::{Opened, Stream, Tally, UdpFlows},
    },
};

const AWAITED: &str = "its reply to the opening of a stream";

/// A test of streams of datagrams.
pub struct Udp;

impl Kind for Udp {
    type Settings = UdpSettings;
    type Sampler = Sampler;
    type Buffers = ();

    fn check(task: &Task<'_, UdpSettings>) -> Result<(), TrialError> {
        check::check(task)
    }

    fn buffers(_: &Task<'_, UdpSettings>) -> Result<(), TrialError> {
        Ok(())
    }

    fn reach(settings: &UdpSettings) -> Reach {
        Reach {
            family: settings.family,
            connect_timeout: Duration::from_micros(settings.connect_timeout_us),
            silence: Duration::from_micros(settings.silence_timeout_us),
            sample_interval: Duration::from_micros(settings.sample_interval_us),
        }
    }

    fn times(settings: &UdpSettings, server: &Iperf3) -> Times {
        Times {
            duration: Duration::from_micros(settings.duration_us),
            pad: Duration::from_micros(settings.pad_us),
            omit: Duration::from_secs(server.omit_s.into()),
            first_bytes: silence_of(settings),
            // Nothing is drained: on a busy machine it is the threads of 128 flows that take seconds to hear of the end.
            drain: Duration::from_micros(settings.drain_us).max(IPERF3_DRAIN),
            settle: IPERF3_SETTLE,
            linger: DUPLICATES_AWAITED.min(Duration::from_micros(settings.drain_us)),
        }
    }

    fn open(
        task: &Task<'_, UdpSettings>,
        server: &Server,
        _: &Cookie,
        conversation: &mut Conversation,
        halt: &Halt<'_>,
    ) -> Result<(Vec<Stream>, Granted), TrialError> {
        let mut granted = Granted::default();
        let mut streams = Vec::new();
        for flow in 0..task.settings.flows {
            let (socket, of_this) = make(task, server, flow)?;
            granted = of_this;
            open_stream(&socket, conversation, halt)?;
            let opened = Opened { token: task.token, answer: task.answer, listening: false };
            streams.push(Stream::new(socket, flow, opened));
        }
        say_if_segmented(&streams, task, &mut granted);
        Ok((streams, granted))
    }

    fn sampler(task: &Task<'_, UdpSettings>, flows: &UdpFlows) -> Sampler {
        Sampler::new(task.role, flows.all.len(), task.settings.length_bytes)
    }

    fn spawn_all<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        flows: &'env UdpFlows,
        task: &'env Task<'env, UdpSettings>,
        (): &'env mut (),
    ) -> Result<(), TrialError> {
        let settings = task.settings;
        if task.role == Role::Source {
            let streams = flows.all.iter().map(|flow| &flow.connection);
            return source::spawn_all::<Numbered>(scope, flows, settings, segmented(streams, settings).is_ok());
        }
        flows
            .all
            .iter()
            .try_for_each(|flow| spawn(scope, flow, flows, &settings.cpus, move || receive(flow, flows, settings)))
    }

    fn seen(side: &Side<'_, Sampler>, settings: &UdpSettings) -> Vec<Seen> {
        let flows = side.flows.all.iter().zip(side.bytes_behind_omitted());
        flows.map(|(flow, bytes)| seen_of(flow.bytes(), bytes, &flow.connection.tally(), settings)).collect()
    }

    fn deliver(
        sampler: Sampler,
        flows: UdpFlows,
        tables: &mut Delivery<'_>,
    ) -> Result<(Vec<FlowReport>, Option<String>), TrialError> {
        let Delivered { reports, remark, .. } = delivered::deliver(sampler, flows, tables)?;
        Ok((reports, remark))
    }

    const DATAGRAMS: bool = true;
}

/// `behind`: bytes behind the part that is left out. A flow that sends misses nothing.
fn seen_of(bytes: u64, behind: u64, tally: &Tally, settings: &UdpSettings) -> Seen {
    let length = u64::from(settings.length_bytes.max(1));
    let lost = tally.missing_omitted;
    let omitted = Omitted { datagrams: (bytes - behind) / length + lost, lost };
    Seen {
        bytes: behind,
        retransmits: None,
        datagrams: bytes / length + tally.missing,
        lost: tally.missing,
        jitter_ns: tally.jitter_ns.unwrap_or(0),
        omitted: Some(omitted),
    }
}

fn make(task: &Task<'_, UdpSettings>, server: &Server, flow: u32) -> Result<(UdpSocket, Granted), TrialError> {
    let failed = |source| TrialError::Connect { flow, address: server.remote.to_string(), source };
    let (socket, granted) = socket::make(server.remote, task)?;
    if let Some(local) = server.bind {
        let failed = |source| TrialError::Socket { what: format!("cannot send from {local}"), source };
        socket.bind(&SocketAddr::new(local, 0).into()).map_err(failed)?;
    }
    socket.connect(&server.remote.into()).map_err(failed)?;
    let socket = UdpSocket::from(socket);
    socket::set_standing(&socket).map_err(failed)?;
    Ok((socket, granted))
}

/// Says whether the kernel cuts apart what a source sends at once. A server counts every datagram: this is not tried out.
fn say_if_segmented(streams: &[Stream], task: &Task<'_, UdpSettings>, granted: &mut Granted) {
    if task.role == Role::Sink {
        return;
    }
    let set = segmented(streams, task.settings);
    granted.gso = Some(set.is_ok());
    if let Err(reason) = set {
        granted.remarks.extend(
            reason.map(|reason| format!("UDP_SEGMENT does not work here ({reason}): datagrams are sent one by one")),
        );
    }
}

/// Has the kernel cut apart what is sent at once, in all streams or in none; if not, why, unless that was not asked for.
fn segmented<'a>(streams: impl IntoIterator<Item = &'a Stream>, settings: &UdpSettings) -> Result<(), Option<String>> {
    if !settings.gso {
        return Err(None);
    }
    streams.into_iter().try_for_each(|stream| socket::segment(&stream.socket, settings.length_bytes)).map_err(Some)
}

/// Opens a stream. A server hears an opening once: what comes again is a datagram of the stream to it, so that the reply
/// is waited for as long as it may take. Those of a server that sends may come before it.
fn open_stream(socket: &UdpSocket, conversation: &mut Conversation, halt: &Halt<'_>) -> Result<(), TrialError> {
    let timeout = IPERF3_OPENING_TIMEOUT.max(conversation.round_trip() * 4);
    for _ in 0..IPERF3_OPENINGS {
        // A port where nobody listens yet says so with the next call.
        let _ = socket.send(&OPENING);
        let until = Instant::now() + timeout;
        while Instant::now() < until {
            match first_datagram(socket) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) if is_pause(&error) => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    halt.sleep(STOP_CHECK)?;
                    let _ = socket.send(&OPENING);
                }
                Err(source) => return Err(TrialError::Socket { what: "cannot open a stream".into(), source }),
            }
            halt.check()?;
            if conversation.begun()? {
                return Ok(());
            }
        }
    }
    Err(conversation.silent(AWAITED, timeout * IPERF3_OPENINGS))
}

/// Whether a stream stands by what has come: the reply, or its first datagram, which stays where it is.
fn first_datagram(socket: &UdpSocket) -> io::Result<bool> {
    let mut bytes = [0; 32];
    let (_, length) = recv(socket, &mut bytes, RecvFlags::PEEK)?;
    if length >= COUNTER.header_bytes() {
        return Ok(true);
    }
    recv(socket, &mut bytes, RecvFlags::DONTWAIT)?;
    Ok(replies_to_opening(&bytes[..length]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_those_of_the_whole_test_and_bytes_are_not() {
        let settings = UdpSettings { length_bytes: 100, ..UdpSettings::default() };
        let tally = Tally { missing: 7, missing_omitted: 3, jitter_ns: Some(5), ..Tally::default() };
        let received = seen_of(5000, 3000, &tally, &settings);
        assert_eq!((received.bytes, received.datagrams, received.lost, received.jitter_ns), (3000, 57, 7, 5));
        assert_eq!(received.omitted, Some(Omitted { datagrams: 23, lost: 3 }));
        let sent = seen_of(5000, 5000, &Tally::default(), &settings);
        assert_eq!((sent.datagrams, sent.lost, sent.omitted), (50, 0, Some(Omitted::default())));
    }
}
