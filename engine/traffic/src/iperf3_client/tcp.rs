//! A test of TCP connections with an iperf3 server.

use std::{
    io::Write,
    net::{SocketAddr, TcpStream},
    thread::Scope,
    time::{Duration, Instant},
};

use iperf3::Cookie;
use socket2::SockRef;
use wire::{Encryption, FlowEnd, FlowReport, Granted, Iperf3, Role, TcpSettings};

use super::{
    conversation::Conversation,
    kind::{Kind, Reach},
    outcome::Seen,
    run::Times,
    server::Server,
};
use crate::{
    Task, TrialError,
    coordinator::Side,
    defaults::{ACKNOWLEDGED_CHECK, IPERF3_SETTLE},
    flow::cpu_since,
    granted_window::verify_window,
    halt::Halt,
    samples::Delivery,
    tcp::{
        self, Kind as _, check,
        flow::{TcpFlow, TcpFlows},
        intake::Intake,
        payload::Feed,
        payload_buffers::{Buffers, Carriers},
        sampler::Sampler,
        sink, socket, source,
    },
};

/// A test of TCP connections.
pub struct Tcp;

impl Kind for Tcp {
    type Settings = TcpSettings;
    type Sampler = Sampler;
    type Buffers = Buffers;

    fn check(task: &Task<'_, TcpSettings>) -> Result<(), TrialError> {
        if task.settings.encryption != Encryption::None {
            let text = "found encryption, expected none: an iperf3 server has none";
            return Err(TrialError::Settings(text.into()));
        }
        check::check(task)
    }

    fn buffers(task: &Task<'_, TcpSettings>) -> Result<Buffers, TrialError> {
        Buffers::new(task)
    }

    fn reach(settings: &TcpSettings) -> Reach {
        Reach {
            family: settings.family,
            connect_timeout: Duration::from_micros(settings.connect_timeout_us),
            silence: Duration::from_micros(settings.silence_timeout_us),
            sample_interval: Duration::from_micros(settings.sample_interval_us),
        }
    }

    fn times(settings: &TcpSettings, server: &Iperf3) -> Times {
        Times {
            duration: Duration::from_micros(settings.duration_us),
            pad: Duration::from_micros(settings.pad_us),
            omit: Duration::from_secs(server.omit_s.into()),
            first_bytes: Duration::from_micros(settings.connect_timeout_us),
            drain: Duration::from_micros(settings.drain_timeout_us),
            settle: IPERF3_SETTLE,
            linger: Duration::ZERO,
        }
    }

    fn open(
        task: &Task<'_, TcpSettings>,
        server: &Server,
        cookie: &Cookie,
        _: &mut Conversation,
        halt: &Halt<'_>,
    ) -> Result<(Vec<TcpStream>, Granted), TrialError> {
        let settings = task.settings;
        let mut granted = Granted::default();
        let mut streams = Vec::new();
        for flow in 0..settings.flows {
            halt.check()?;
            let failed = |source| TrialError::Connect { flow, address: server.remote.to_string(), source };
            let socket = tcp::Tcp.socket(server.remote, task.role, settings)?;
            granted = verify_window(&socket, task.role, settings.window_bytes, settings.clip_allowed)?;
            if let Some(local) = server.bind {
                socket.bind(&SocketAddr::new(local, 0).into()).map_err(failed)?;
            }
            socket.connect_timeout(&server.remote.into(), server.connect_timeout).map_err(failed)?;
            let mut stream = TcpStream::from(socket);
            stream.write_all(cookie.bytes()).map_err(failed)?;
            socket::set_connected(&SockRef::from(&stream), settings, socket::TCP)
                .map_err(|source| TrialError::Socket { what: "cannot set up a connected flow".into(), source })?;
            streams.push(stream);
        }
        let (congestion, mss_bytes) =
            streams.first().map_or((None, None), |stream| socket::read_connected(&SockRef::from(stream)));
        Ok((streams, Granted { congestion, mss_bytes, ..granted }))
    }

    fn sampler(task: &Task<'_, TcpSettings>, flows: &TcpFlows) -> Sampler {
        Sampler::new(task.role, &flows.all)
    }

    fn spawn_all<'scope, 'env>(
        scope: &'scope Scope<'scope, 'env>,
        flows: &'env TcpFlows,
        task: &'env Task<'env, TcpSettings>,
        buffers: &'env mut Buffers,
    ) -> Result<(), TrialError> {
        buffers.spawn_with(scope, flows, task.settings, Carriers { send, receive })
    }

    fn seen(side: &Side<'_, Sampler>, _: &TcpSettings) -> Vec<Seen> {
        let sent_again =
            |flow: &TcpFlow| sys::tcp_info(&flow.connection).ok().and_then(|info| info.get("total_retrans"));
        let flows = side.flows.all.iter().zip(side.bytes_behind_omitted());
        flows
            .map(|(flow, bytes)| Seen {
                bytes,
                retransmits: if side.role == Role::Source { Some(sent_again(flow).unwrap_or(0)) } else { None },
                ..Seen::default()
            })
            .collect()
    }

    fn deliver(
        sampler: Sampler,
        flows: TcpFlows,
        tables: &mut Delivery<'_>,
    ) -> Result<(Vec<FlowReport>, Option<String>), TrialError> {
        Ok((sampler.deliver(flows, tables)?, None))
    }

    const DATAGRAMS: bool = false;
}

/// Writes until asked to stop, and waits until the server's kernel has everything: the connection stays open, since a
/// server takes its end for a failure.
fn send(flow: &TcpFlow, flows: &TcpFlows, settings: &TcpSettings, mut feed: Feed<'_>) {
    let (cpu, began) = (sys::thread_cpu().ok(), Instant::now());
    let written = source::write_until_stopped(flow, flows, settings.rate_bps, &mut feed);
    let cpu = cpu_since(cpu, began);
    let drained = written.and_then(|()| {
        while flows.aborted().is_none() {
            if let Some(error) = flow.connection.take_error()? {
                return Err(error);
            }
            if is_acknowledged(&flow.connection) {
                break;
            }
            std::thread::sleep(ACKNOWLEDGED_CHECK);
        }
        Ok(flows.aborted().unwrap_or(FlowEnd::Drained))
    });
    flows.end_as(flow, drained, cpu);
}

/// Whether the peer's kernel has acknowledged everything that was written.
fn is_acknowledged(stream: &TcpStream) -> bool {
    sys::unacknowledged_bytes(stream).is_ok_and(|bytes| bytes == 0)
}

/// Reads to the end. The server is not written to, not even closed to: its last bytes would be lost with what it has not
/// read.
fn receive(flow: &TcpFlow, flows: &TcpFlows, mut intake: Intake<'_>) {
    let (ended, cpu) = sink::read_to_end(flow, flows, &mut intake, |_| {});
    flows.end_as(flow, ended, cpu);
}
