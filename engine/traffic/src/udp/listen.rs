//! The listening side: gives each flow of the trial a socket of its own, and counts everybody else.

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use socket2::{SockRef, Socket, Type};
use sys::{Ancillary, Datagram};
use wire::{Granted, OPENING_BYTES, Opening, PortRange, RejectedConnections, UdpSettings};

use super::{
    drops::Drops,
    established::{Established, MissingFlow},
    socket,
    stream::{Opened, Stream},
};
use crate::{
    Control, Task, TrialError,
    address::{local_address, on_free_port},
    defaults::{DATAGRAM_WINDOW_BYTES, DATAGRAMS_AT_ONCE, REJECTED_PAUSE, STOP_CHECK},
    rendezvous::{count, wait_readable, ways},
};

/// What any datagram takes of a socket's buffer, at least: the kernel's bookkeeping counts (`truesize`).
const BUFFERED_LEAST_BYTES: usize = 256;

/// A socket that listens for one trial's flows, and counts the datagrams of others as long as the trial lasts.
pub struct Listener {
    socket: UdpSocket,
    /// The port it listens on.
    pub port: u16,
}

/// Binds.
pub fn listen(
    task: &Task<'_, UdpSettings>,
    bind: Option<IpAddr>,
    ports: Option<PortRange>,
) -> Result<Listener, TrialError> {
    let family = task.settings.family;
    on_free_port(local_address(bind, family)?, ports, |local| listen_on(local, family))
}

fn listen_on(local: SocketAddr, family: Option<u8>) -> Result<Listener, TrialError> {
    let begin = || {
        let socket = Socket::new(socket2::Domain::for_address(local), Type::DGRAM, None)?;
        if local.is_ipv6() {
            socket.set_only_v6(family == Some(6))?;
        }
        socket.bind(&local.into())?;
        // Only once the port is its own: the sockets of the flows will share it.
        socket.set_reuse_address(true)?;
        sys::enable_ancillary(&socket, Ancillary::Destination, local.is_ipv6())?;
        // A flood of other datagrams is counted, not left to overflow.
        socket.set_recv_buffer_size(usize::try_from(DATAGRAM_WINDOW_BYTES).unwrap_or(usize::MAX))?;
        socket.set_nonblocking(true)?;
        let port = socket.local_addr()?.as_socket().map_or(0, |address| address.port());
        Ok(Listener { socket: socket.into(), port })
    };
    begin().map_err(|source| TrialError::Socket { what: format!("cannot listen on {local}"), source })
}

impl Listener {
    /// Waits until every flow of the trial is there. Those that do not come in time do not stand; it fails if none does.
    pub fn accept_flows(&self, task: &Task<'_, UdpSettings>, control: &Control) -> Result<Established, TrialError> {
        let timeout = Duration::from_micros(task.settings.connect_timeout_us);
        let deadline = Instant::now() + timeout;
        let mut accepted = Accepted::new(task);
        while accepted.missing() > 0 && Instant::now() < deadline {
            if control.stopped() {
                return Err(TrialError::Stopped);
            }
            wait_readable(&self.socket, STOP_CHECK);
            for (datagram, bytes) in self.waiting() {
                accepted.take(datagram, &bytes, self.port, task, control)?;
            }
            accepted.answer_again();
        }
        let (flows, missing) = (task.settings.flows, accepted.missing());
        if missing == flows as usize {
            return Err(TrialError::AcceptTimeout { missing, flows, port: self.port, timeout });
        }
        Ok(accepted.into_established(self, timeout))
    }

    /// Counts datagrams of others, until `over` says so. The kernel counts those that arrive faster than they are read.
    pub fn count_rejected(&self, over: impl Fn() -> bool) -> RejectedConnections {
        let mut rejected = RejectedConnections::default();
        let mut drops = Drops::default();
        let dropped_before = drops.read(&self.socket).unwrap_or(0);
        while !over() {
            wait_readable(&self.socket, STOP_CHECK);
            let _ = drops.read(&self.socket);
            let mut any = false;
            for (datagram, bytes) in self.waiting() {
                count_rejected_datagram(opening_of(datagram, &bytes), None, &mut rejected);
                any = true;
            }
            if any {
                // Whoever comes in a crowd must not cost the flows their CPU.
                thread::sleep(REJECTED_PAUSE);
            }
        }
        let dropped = drops.read(&self.socket).unwrap_or(dropped_before);
        rejected.crowded_out = u32::try_from(dropped - dropped_before).unwrap_or(u32::MAX);
        rejected
    }

    fn dropped(&self) -> u32 {
        sys::socket_drops(&self.socket).unwrap_or(0)
    }

    /// What has come, at most [`DATAGRAMS_AT_ONCE`]: a flood cannot keep the caller from its deadline.
    fn waiting(&self) -> impl Iterator<Item = (Datagram, [u8; OPENING_BYTES])> {
        (0..DATAGRAMS_AT_ONCE).map_while(|_| {
            let mut bytes = [0; OPENING_BYTES];
            sys::receive_datagram(&self.socket, &mut bytes).ok().map(|datagram| (datagram, bytes))
        })
    }
}

fn opening_of(datagram: Datagram, bytes: &[u8; OPENING_BYTES]) -> Option<Opening> {
    Opening::decode(bytes).ok().filter(|_| datagram.length == OPENING_BYTES)
}

/// `task`: of the trial that takes flows; nothing once it takes no more.
fn count_rejected_datagram(
    opening: Option<Opening>,
    task: Option<&Task<'_, UdpSettings>>,
    rejected: &mut RejectedConnections,
) {
    count(match (opening, task) {
        (None, _) => &mut rejected.not_an_engine,
        (Some(opening), Some(task)) if opening.token == task.token => &mut rejected.wrong_flow,
        (Some(_), _) => &mut rejected.wrong_token,
    });
}

/// The flows that were accepted so far.
struct Accepted {
    flows: Vec<Option<Stream>>,
    granted: Granted,
    rejected: RejectedConnections,
    opened: Opened,
}

impl Accepted {
    fn new(task: &Task<'_, UdpSettings>) -> Self {
        Self {
            flows: (0..task.settings.flows).map(|_| None).collect(),
            granted: Granted::default(),
            rejected: RejectedConnections::default(),
            opened: Opened { token: task.token, answer: task.answer, listening: true },
        }
    }

    fn missing(&self) -> usize {
        self.flows.iter().filter(|flow| flow.is_none()).count()
    }

    fn take(
        &mut self,
        datagram: Datagram,
        bytes: &[u8; OPENING_BYTES],
        port: u16,
        task: &Task<'_, UdpSettings>,
        control: &Control,
    ) -> Result<(), TrialError> {
        let opening = opening_of(datagram, bytes);
        let Some((local, peer)) = ways(&datagram, port) else { return Ok(()) };
        let ours = opening.filter(|opening| opening.token == task.token);
        let Some(place) = ours.and_then(|opening| self.flows.get_mut(opening.flow as usize)) else {
            count_rejected_datagram(opening, Some(task), &mut self.rejected);
            return Ok(());
        };
        if let Some(stream) = place {
            // The opening was repeated before it was answered.
            if stream.socket.peer_addr().is_ok_and(|known| known == peer) {
                stream.answer_again(bytes);
            } else {
                count(&mut self.rejected.wrong_flow);
            }
            return Ok(());
        }
        let flow = ours.map_or(0, |opening| opening.flow);
        control.check_peer(peer.ip())?;
        let (socket, granted) = socket::make(peer, task)?;
        let failed = |source| TrialError::Connect { flow, address: peer.to_string(), source };
        let stream = Stream::new(connect(socket, local, peer).map_err(failed)?, flow, self.opened);
        stream.answer_again(bytes);
        self.granted = granted;
        *place = Some(stream);
        Ok(())
    }

    /// An answer may be lost: the other end repeats its opening, which then arrives at the flow's own socket.
    fn answer_again(&self) {
        for stream in self.flows.iter().flatten() {
            answer_openings(stream);
        }
    }

    fn into_established(self, listener: &Listener, timeout: Duration) -> Established {
        let (mut flows, mut missing) = (Vec::new(), Vec::new());
        for (flow, stream) in (0..).zip(self.flows) {
            match stream {
                Some(stream) => flows.push((flow, stream)),
                None => missing.push(MissingFlow {
                    flow,
                    heard: None,
                    reason: format!(
                        "did not arrive on port {} within {} s: is a firewall in the way?",
                        listener.port,
                        timeout.as_secs_f64()
                    ),
                }),
            }
        }
        let rejected = RejectedConnections { crowded_out: listener.dropped(), ..self.rejected };
        Established { flows, missing, granted: self.granted, rejected }
    }
}

/// Answers repeated openings of a flow's peer, while its socket does not wait.
pub fn answer_openings(stream: &Stream) {
    let mut bytes = [0; OPENING_BYTES + 1];
    for _ in 0..DATAGRAMS_AT_ONCE {
        let Ok(length) = stream.socket.recv(&mut bytes) else { return };
        stream.answer_again(&bytes[..length]);
    }
}

/// A flow's own socket on the port that everybody knows.
fn connect(socket: Socket, local: SocketAddr, peer: SocketAddr) -> io::Result<UdpSocket> {
    socket.set_reuse_address(true)?;
    socket.bind(&local.into())?;
    socket.connect(&peer.into())?;
    socket.set_nonblocking(true)?;
    discard_waiting(&socket)?;
    Ok(socket.into())
}

/// Between bind and connect the new socket receives anybody's datagrams. A flow of the trial that so lost its opening
/// repeats it; nothing else may stay in the socket.
fn discard_waiting(socket: &Socket) -> io::Result<()> {
    let most = SockRef::from(socket).recv_buffer_size()? / BUFFERED_LEAST_BYTES;
    for _ in 0..=most {
        if sys::receive_datagram(socket, &mut [0; OPENING_BYTES]).is_err() {
            break;
        }
    }
    Ok(())
}
