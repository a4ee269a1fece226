//! How the two ends of a trial come to connections, on the sockets of [`super::openings`]: a handshake on each.

use std::{
    io,
    mem::MaybeUninit,
    net::{SocketAddr, UdpSocket},
    os::fd::AsRawFd,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use quinn::{
    ClientConfig, Connection, Endpoint, EndpointConfig, IdleTimeout, ServerConfig, TokioRuntime, TransportConfig,
    VarInt,
    crypto::rustls::{QuicClientConfig, QuicServerConfig},
};
use rustix::{io::Errno, net::RecvFlags};
use socket2::SockRef;
use tokio::{
    runtime,
    time::{sleep, timeout},
};
use wire::{DATAGRAM_MAX_BYTES, OPENING_BYTES, QuicSettings, RendezvousRole, Role};

use super::{
    connection::{Driver, QuicConnection},
    socket::for_library,
    watched::{self, Held, Watched},
};
use crate::{
    Control, Task, TrialError,
    defaults::{
        DATAGRAMS_AT_ONCE, GRO_BUFFER_BYTES, QUIC_DATAGRAM_MIN_BYTES, QUIC_DATAGRAM_ROOM_BYTES, STOP_CHECK,
        SUBFLOW_CHECK,
    },
    threads::spawn_once,
    tls::{NAME, Secrets},
    udp::Stream,
};

/// Datagrams that the library hands to the kernel at once.
const SEGMENTS_AT_ONCE: u32 = 10;

/// Shakes hands on all sockets, all at once.
pub fn connections(
    task: &Task<'_, QuicSettings>,
    flows: Vec<(u32, Stream)>,
    control: &Control,
) -> Result<Vec<(u32, QuicConnection)>, TrialError> {
    let connects = matches!(task.rendezvous, RendezvousRole::Connect { .. });
    if !connects {
        answer_until_handshakes(task, &flows, control)?;
    }
    all_at_once(
        flows.into_iter().map(|(flow, stream)| (flow, move || shake_with_engine(task, flow, stream.socket, control))),
    )
}

/// Carries out the handshakes of flows, each in a thread of its own.
pub fn all_at_once<S>(handshakes: impl Iterator<Item = (u32, S)>) -> Result<Vec<(u32, QuicConnection)>, TrialError>
where
    S: FnOnce() -> Result<QuicConnection, TrialError> + Send,
{
    thread::scope(|scope| {
        let threads: Vec<_> = handshakes
            .map(|(flow, shake)| spawn_once(scope, shake).map(|thread| (flow, thread)))
            .collect::<Result<_, _>>()?;
        let shaken = threads.into_iter().map(|(flow, thread)| {
            let panicked = |_| TrialError::Thread(io::Error::other("the handshake's thread failed"));
            Ok((flow, thread.join().map_err(panicked)??))
        });
        shaken.collect()
    })
}

/// An answer may have been lost: an opening that is repeated is answered again, until a handshake comes.
fn answer_until_handshakes(
    task: &Task<'_, QuicSettings>,
    flows: &[(u32, Stream)],
    control: &Control,
) -> Result<(), TrialError> {
    let deadline = Instant::now() + Duration::from_micros(task.settings.connect_timeout_us);
    let mut begun = vec![false; flows.len()];
    while !begun.iter().all(|begun| *begun) && Instant::now() < deadline {
        if control.stopped() {
            return Err(TrialError::Stopped);
        }
        for ((_, stream), begun) in flows.iter().zip(&mut begun).filter(|(_, begun)| !**begun) {
            *begun = answer_openings(stream);
        }
        thread::sleep(SUBFLOW_CHECK);
    }
    Ok(())
}

/// Answers the openings that wait; whether something else comes after them. Those that come faster than they are answered
/// wait while the deadline is checked.
fn answer_openings(stream: &Stream) -> bool {
    for _ in 0..DATAGRAMS_AT_ONCE {
        match peeked(&stream.socket) {
            Some(OPENING_BYTES) => {
                let mut bytes = [0; OPENING_BYTES];
                if stream.socket.recv(&mut bytes).is_ok() {
                    stream.answer_again(&bytes);
                }
            }
            other => return other.is_some(),
        }
    }
    false
}

/// Length of the datagram that waits, if one does.
fn peeked(socket: &UdpSocket) -> Option<usize> {
    let mut bytes = [MaybeUninit::uninit(); OPENING_BYTES + 1];
    let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
    SockRef::from(socket).recv_with_flags(&mut bytes, flags.bits().cast_signed()).ok()
}

/// Shakes hands with the other engine of a trial.
pub fn shake_with_engine(
    task: &Task<'_, QuicSettings>,
    flow: u32,
    socket: UdpSocket,
    control: &Control,
) -> Result<QuicConnection, TrialError> {
    let secrets = Secrets { token: task.token, answer: task.answer };
    let tls = match task.rendezvous {
        RendezvousRole::Connect { .. } => secrets.client().map(Tls::Connects),
        RendezvousRole::Listen { .. } => secrets.server().map(Tls::Listens),
    };
    shake(task, flow, socket, tls, control)
}

/// Who an end is to the other one.
pub enum Tls {
    /// The one that connects.
    Connects(rustls::ClientConfig),
    /// The one that it connects to.
    Listens(rustls::ServerConfig),
}

/// One end of a handshake, on a socket between the two ends alone.
pub fn shake(
    task: &Task<'_, QuicSettings>,
    flow: u32,
    socket: UdpSocket,
    tls: Result<Tls, rustls::Error>,
    control: &Control,
) -> Result<QuicConnection, TrialError> {
    let failed = |source| TrialError::Socket { what: format!("flow {flow}: cannot use its socket"), source };
    let ends = (socket.local_addr().map_err(failed)?, socket.peer_addr().map_err(failed)?);
    let ipv6 = ends.1.is_ipv6();
    sys::disable_ancillary(&socket, sys::Ancillary::Arrival, ipv6).map_err(failed)?;
    let again = socket.try_clone().map_err(failed)?;
    let held = Arc::new(Held::default());
    let transport = Arc::new(transport(task.settings, task.role, &held)?);
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(TrialError::Thread)?;
    let longest = Duration::from_micros(task.settings.connect_timeout_us);
    let (endpoint, connection) = runtime.block_on(async {
        let tls = tls.map_err(|error| handshake(flow, ends.1, error.to_string()))?;
        let (endpoint, shaking) = begin(task, flow, socket, ends.1, transport, tls)?;
        let stopped = async {
            while !control.stopped() {
                sleep(LOOKS_EVERY).await;
            }
        };
        tokio::select! {
            connected = timeout(longest, shaking.connected(&endpoint)) => match connected {
                Ok(connected) => Ok((endpoint, connected.map_err(|reason| handshake(flow, ends.1, reason))?)),
                Err(_) => Err(handshake(flow, ends.1, format!("no handshake within {} s", longest.as_secs_f64()))),
            },
            () = stopped => Err(TrialError::Stopped),
        }
    })?;
    let gro = task.settings.gro && has_gro(&again);
    let driver = Driver { runtime, endpoint };
    QuicConnection::new(driver, connection, held, ends, task.settings.streams, gro).map_err(TrialError::Thread)
}

fn handshake(flow: u32, address: SocketAddr, reason: String) -> TrialError {
    TrialError::Handshake { flow, address: address.to_string(), reason }
}

/// A handshake that has begun.
enum Shaking {
    Connects(quinn::Connecting),
    Listens,
}

impl Shaking {
    async fn connected(self, endpoint: &Endpoint) -> Result<Connection, String> {
        match self {
            Self::Connects(connecting) => connecting.await.map_err(|error| error.to_string()),
            Self::Listens => match endpoint.accept().await {
                Some(incoming) => incoming.await.map_err(|error| error.to_string()),
                None => Err("the socket is gone".into()),
            },
        }
    }
}

fn begin(
    task: &Task<'_, QuicSettings>,
    flow: u32,
    socket: UdpSocket,
    remote: SocketAddr,
    transport: Arc<TransportConfig>,
    tls: Tls,
) -> Result<(Endpoint, Shaking), TrialError> {
    let refused = |reason: String| handshake(flow, remote, reason);
    let unusable = |source| TrialError::Socket { what: format!("flow {flow}: cannot use its socket"), source };
    let again = socket.try_clone().map_err(unusable)?;
    let mut config = EndpointConfig::default();
    let room_bytes = task.settings.datagram_bytes.unwrap_or_default().max(QUIC_DATAGRAM_ROOM_BYTES);
    config.max_udp_payload_size(room_bytes).map_err(|error| refused(error.to_string()))?;
    // The kernel puts no more together in one buffer, for however much the library has room.
    let read_bytes = if task.settings.gro { GRO_BUFFER_BYTES } else { room_bytes.into() };
    let socket = for_library(socket, task.settings, read_bytes).map_err(unusable)?;
    let endpoint =
        |server| Endpoint::new_with_abstract_socket(config, server, socket, Arc::new(TokioRuntime)).map_err(unusable);
    let (endpoint, shaking) = match tls {
        Tls::Listens(tls) => {
            let crypto = QuicServerConfig::try_from(tls).map_err(|error| refused(error.to_string()))?;
            let mut server = ServerConfig::with_crypto(Arc::new(crypto));
            server.transport_config(transport).migration(false);
            (endpoint(Some(server))?, Shaking::Listens)
        }
        Tls::Connects(tls) => {
            let crypto = QuicClientConfig::try_from(tls).map_err(|error| refused(error.to_string()))?;
            let mut client = ClientConfig::new(Arc::new(crypto));
            client.transport_config(transport);
            let endpoint = endpoint(None)?;
            let connecting = endpoint.connect_with(client, remote, NAME).map_err(|error| refused(error.to_string()))?;
            (endpoint, Shaking::Connects(connecting))
        }
    };
    if !task.settings.gro {
        // The library has just switched it on, for it has no setting for that; it reads what comes either way.
        without_gro(&again).map_err(unusable)?;
    }
    Ok((endpoint, shaking))
}

/// Has the kernel hand over datagrams one by one; one that does not know how to do otherwise does so anyway.
fn without_gro(socket: &impl AsRawFd) -> io::Result<()> {
    match sys::set_udp_gro(socket, false) {
        Err(error) if error.raw_os_error() == Some(Errno::NOPROTOOPT.raw_os_error()) => Ok(()),
        other => other,
    }
}

/// Whether the kernel hands over several datagrams at once, where the library has asked for it. Before Linux 5.12 it does
/// not tell, but whether it takes the request once more.
fn has_gro(socket: &impl AsRawFd) -> bool {
    sys::udp_gro(socket).unwrap_or_else(|_| sys::set_udp_gro(socket, true).is_ok())
}

/// Whether the kernel is to cut what is sent at once: not where that would be more than it takes.
pub fn cuts(settings: &QuicSettings) -> bool {
    let at_once = u32::from(settings.datagram_bytes.unwrap_or(QUIC_DATAGRAM_MIN_BYTES)) * SEGMENTS_AT_ONCE;
    settings.gso && at_once <= DATAGRAM_MAX_BYTES
}

/// What the library is asked for.
fn transport(settings: &QuicSettings, role: Role, held: &Arc<Held>) -> Result<TransportConfig, TrialError> {
    let mut transport = TransportConfig::default();
    let name = settings.congestion.as_deref().unwrap_or(watched::USUAL);
    let Some(inner) = watched::library_factory(name) else {
        let available = watched::NAMES.join(" ");
        return Err(TrialError::Settings(format!(
            "found the congestion control {name} of QUIC, expected one of {available}"
        )));
    };
    transport.congestion_controller_factory(Arc::new(Watched::new(inner, held.clone())));
    let idle = Duration::from_micros(settings.silence_timeout_us);
    transport.max_idle_timeout(IdleTimeout::try_from(idle).ok());
    transport.keep_alive_interval(Some(idle / 4));
    transport.max_concurrent_uni_streams(settings.streams.into());
    transport.max_concurrent_bidi_streams(1_u8.into());
    transport.enable_segmentation_offload(cuts(settings));
    if let Some(bytes) = settings.datagram_bytes {
        transport.initial_mtu(bytes).min_mtu(bytes).mtu_discovery_config(None);
    }
    match (role, settings.window_bytes) {
        (Role::Sink, Some(bytes)) => {
            transport.receive_window(size(bytes)?);
        }
        (Role::Source, Some(bytes)) => {
            transport.send_window(bytes);
        }
        (_, None) => {}
    }
    if let Some(bytes) = settings.stream_window_bytes {
        transport.stream_receive_window(size(bytes)?);
    }
    Ok(transport)
}

fn size(bytes: u64) -> Result<VarInt, TrialError> {
    VarInt::from_u64(bytes)
        .map_err(|_| TrialError::Settings(format!("found a window of {bytes} B, which QUIC has no number for")))
}

/// How often threads of connections look whether they are to stop.
pub const LOOKS_EVERY: Duration = STOP_CHECK;

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use wire::{Opening, Token};

    use super::*;
    use crate::udp::stream::Opened;

    const MORE: usize = 20;

    #[test]
    fn a_kernel_that_does_not_know_gro_needs_not_switch_it_off() {
        let unknown = TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(sys::set_udp_gro(&unknown, false).is_err(), "as of every socket before Linux 5.0");
        without_gro(&unknown).unwrap();
        assert!(!has_gro(&unknown));
        let known = UdpSocket::bind("127.0.0.1:0").unwrap();
        sys::set_udp_gro(&known, true).unwrap();
        assert!(has_gro(&known));
        without_gro(&known).unwrap();
        assert!(!has_gro(&known));
    }

    #[test]
    fn a_flood_of_openings_does_not_keep_the_deadline_from_being_looked_at() {
        let (near, far) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        near.connect(far.local_addr().unwrap()).unwrap();
        far.connect(near.local_addr().unwrap()).unwrap();
        SockRef::from(&near).set_recv_buffer_size(4 << 20).unwrap();
        let opened = Opened { token: Token([1; 16]), answer: Token([2; 16]), listening: true };
        let opening = Opening { token: opened.token, flow: 0 }.encode();
        for _ in 0..DATAGRAMS_AT_ONCE + MORE {
            far.send(&opening).unwrap();
        }
        far.send(&[7; 1200]).unwrap();
        let stream = Stream::new(near, 0, opened);
        assert!(!answer_openings(&stream), "it looks at its deadline before it has seen all");
        assert_eq!(peeked(&stream.socket), Some(OPENING_BYTES));
        assert!(answer_openings(&stream), "a handshake comes after the openings");
    }
}
