//! The rendezvous of two ends over datagrams: the connecting end sends the trial's token until the listening end answers
//! with the second secret. From then on each has a socket that receives from the other one alone.

use std::{
    io,
    net::{IpAddr, SocketAddr, SocketAddrV6, UdpSocket},
    os::fd::AsFd,
    thread,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, Protocol, Socket, Type};
use sys::{Ancillary, Datagram, enable_ancillary, receive_datagram};
use wire::{ANSWER_BYTES, Event, Listening, OPENING_BYTES, Opening, PortRange, RejectedConnections, RendezvousRole};

use crate::{
    Control, Outbox, Task, TrialError,
    address::{family_of, local_address, on_free_port, resolve, set_dscp},
    defaults::{BESIDE_ATTEMPTS, DATAGRAMS_AT_ONCE, OPENING_INTERVAL, PORT_RETRY, STOP_CHECK},
};

/// The parameters of a rendezvous.
pub struct RendezvousParameters {
    /// 4 or 6: the IP version to use; either if absent.
    pub family: Option<u8>,
    /// How packets are marked.
    pub dscp: Option<u8>,
    /// How long it may take.
    pub timeout: Duration,
}

/// The other end is there: a socket that is connected to it.
pub struct Rendezvous {
    /// Sends to the other end and takes from nobody else; never blocks, and the kernel tells when a datagram arrived.
    pub socket: UdpSocket,
    /// Where the other end is.
    pub peer: SocketAddr,
    /// Datagrams that were not this trial's.
    pub rejected: RejectedConnections,
    opening: Opening,
    answer: [u8; ANSWER_BYTES],
    listened: bool,
}

/// Finds the other end. Where this one listens, `beside` may open something on the same address and port.
///
/// # Errors
/// No opening or answer was received in time, the sockets cannot be made, or the trial was stopped.
pub fn meet<S, B>(
    task: &Task<'_, S>,
    parameters: &RendezvousParameters,
    control: &Control,
    outbox: &dyn Outbox,
    beside: impl Fn(SocketAddr) -> Result<B, TrialError>,
) -> Result<(Rendezvous, Option<B>), TrialError> {
    let opening = Opening { token: task.token, flow: 0 };
    let answer = opening.answer(task.answer);
    match task.rendezvous {
        RendezvousRole::Listen { bind, ports } => {
            let (listener, other) = open_listener(parameters, *bind, *ports, beside)?;
            let port = listener.local_addr().map_err(|source| failed("cannot read the port back", source))?.port();
            outbox.event(Event::Listening(Listening { trial: task.trial.into(), port }));
            Ok((wait_for_opening(listener, port, opening, answer, parameters, control)?, Some(other)))
        }
        RendezvousRole::Connect { address, port, bind, .. } => {
            let peer = resolve(address, *port, family_of(parameters.family, *bind))?;
            control.check_peer(peer.ip())?;
            let socket = connected_socket(bind.map(|local| SocketAddr::new(local, 0)), peer, parameters)?;
            let rejected = RejectedConnections::default();
            let mut rendezvous = Rendezvous { socket, peer, rejected, opening, answer, listened: false };
            rendezvous.ask_until_answered(parameters.timeout, control)?;
            Ok((rendezvous, None))
        }
    }
}

impl Rendezvous {
    /// A rendezvous that took place, for tests of what follows.
    #[cfg(test)]
    pub(crate) fn over(socket: UdpSocket, peer: SocketAddr, token: wire::Token, answer: wire::Token) -> Self {
        let opening = Opening { token, flow: 0 };
        let answer = opening.answer(answer);
        Self { socket, peer, rejected: RejectedConnections::default(), opening, answer, listened: true }
    }

    /// Waits for the start of a source. The end that listened answers openings meanwhile: its first answer may be lost.
    ///
    /// # Errors
    /// No start was received, or the trial was stopped.
    pub fn wait_for_start(&self, control: &Control) -> Result<(), TrialError> {
        let mut buffer = [0; OPENING_BYTES + 1];
        control.wait_until_started(|| {
            for _ in 0..DATAGRAMS_AT_ONCE {
                let Ok(datagram) = receive_datagram(&self.socket, &mut buffer) else { break };
                let _ = self.answer_opening(buffer.get(..datagram.length).unwrap_or(&buffer));
            }
        })
    }

    /// Answers the opening that was answered before; returns whether this is one.
    #[must_use]
    pub fn answer_opening(&self, bytes: &[u8]) -> bool {
        let again = self.listened && bytes == self.opening.encode();
        if again {
            // An answer that cannot be sent is as good as lost: the other end sends its opening again.
            let _ = self.socket.send(&self.answer);
        }
        again
    }

    fn ask_until_answered(&mut self, timeout: Duration, control: &Control) -> Result<(), TrialError> {
        let deadline = Instant::now() + timeout;
        let mut refusal = None;
        let mut buffer = [0; ANSWER_BYTES + 1];
        while Instant::now() < deadline {
            if control.stopped() {
                return Err(TrialError::Stopped);
            }
            // The first opening may arrive before the other end listens; then its host refuses it.
            refusal = self.socket.send(&self.opening.encode()).err().or(refusal);
            let again = Instant::now() + OPENING_INTERVAL;
            while wait_readable(&self.socket, again.saturating_duration_since(Instant::now())) {
                match receive_datagram(&self.socket, &mut buffer) {
                    Ok(datagram) if buffer.get(..datagram.length) == Some(&self.answer[..]) => return Ok(()),
                    Ok(_) => count(&mut self.rejected.not_an_engine),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => refusal = Some(error),
                }
            }
        }
        let address = self.peer.to_string();
        Err(match refusal {
            Some(source) => TrialError::Connect { flow: 0, address, source },
            None => TrialError::ConnectTimeout { missing: 1, flows: 1, address, timeout },
        })
    }
}

/// Waits until a socket has something to read, at most so long.
pub fn wait_readable(socket: &impl AsFd, longest: Duration) -> bool {
    if longest.is_zero() {
        return false;
    }
    let mut watched = [PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)];
    // An interrupted or failed poll only means looking once more: callers have deadlines of their own.
    poll(&mut watched, Timespec::try_from(longest).ok().as_ref()).is_ok_and(|ready| ready > 0)
}

/// Counts one more rejected datagram.
pub fn count(rejected: &mut u32) {
    *rejected = rejected.saturating_add(1);
}

fn open_listener<B>(
    parameters: &RendezvousParameters,
    bind: Option<IpAddr>,
    ports: Option<PortRange>,
    beside: impl Fn(SocketAddr) -> Result<B, TrialError>,
) -> Result<(UdpSocket, B), TrialError> {
    let local = local_address(bind, parameters.family)?;
    let open = |local: SocketAddr| {
        let listener = listening_socket(local, parameters)
            .map_err(|source| failed(format!("cannot listen on {local}"), source))?;
        let bound = listener.local_addr().map_err(|source| failed("cannot read the port back", source))?;
        Ok((listener, beside(bound)?))
    };
    let mut opened = on_free_port(local, ports, open);
    // A port that the kernel chose for datagrams may be another program's for connections.
    for _ in 1..BESIDE_ATTEMPTS {
        match opened {
            Err(error) if ports.is_none() && in_use(&error) => opened = open(local),
            other => return other,
        }
    }
    opened
}

fn listening_socket(local: SocketAddr, parameters: &RendezvousParameters) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
    if local.is_ipv6() {
        socket.set_only_v6(parameters.family == Some(6))?;
    }
    enable_ancillary(&socket, Ancillary::Destination, local.is_ipv6())?;
    socket.bind(&local.into())?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

fn wait_for_opening(
    listener: UdpSocket,
    port: u16,
    opening: Opening,
    answer: [u8; ANSWER_BYTES],
    parameters: &RendezvousParameters,
    control: &Control,
) -> Result<Rendezvous, TrialError> {
    let deadline = Instant::now() + parameters.timeout;
    let mut rejected = RejectedConnections::default();
    let mut buffer = [0; OPENING_BYTES + 1];
    loop {
        if control.stopped() {
            return Err(TrialError::Stopped);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(TrialError::AcceptTimeout { missing: 1, flows: 1, port, timeout: parameters.timeout });
        }
        if !wait_readable(&listener, left.min(STOP_CHECK)) {
            continue;
        }
        let Ok(datagram) = receive_datagram(&listener, &mut buffer) else { continue };
        let Some((local, peer)) = ways(&datagram, port) else { continue };
        match buffer.get(..datagram.length).and_then(|bytes| bytes.try_into().ok()).map(Opening::decode) {
            None | Some(Err(_)) => count(&mut rejected.not_an_engine),
            Some(Ok(other)) if other.token != opening.token => count(&mut rejected.wrong_token),
            Some(Ok(other)) if other != opening => count(&mut rejected.wrong_flow),
            Some(Ok(_)) => {
                control.check_peer(peer.ip())?;
                // From here on the port has one address and one peer. What arrives in between is refused; the peer,
                // which has no answer yet, sends its opening again.
                drop(listener);
                let socket = connected_once_free(local, peer, parameters, deadline, control)?;
                let rendezvous = Rendezvous { socket, peer, rejected, opening, answer, listened: true };
                let _ = rendezvous.answer_opening(&opening.encode());
                return Ok(rendezvous);
            }
        }
    }
}

/// A child process that is about to begin another program has all sockets for a moment, and so the port.
fn connected_once_free(
    local: SocketAddr,
    peer: SocketAddr,
    parameters: &RendezvousParameters,
    deadline: Instant,
    control: &Control,
) -> Result<UdpSocket, TrialError> {
    loop {
        match connected_socket(Some(local), peer, parameters) {
            Err(error) if in_use(&error) && control.stopped() => return Err(TrialError::Stopped),
            Err(error) if in_use(&error) && Instant::now() < deadline => thread::sleep(PORT_RETRY),
            other => return other,
        }
    }
}

fn in_use(error: &TrialError) -> bool {
    matches!(error, TrialError::Socket { source, .. } if source.kind() == io::ErrorKind::AddrInUse)
}

/// The address a datagram was sent to, with the port, and the one that it is from.
#[must_use]
pub fn ways(datagram: &Datagram, port: u16) -> Option<(SocketAddr, SocketAddr)> {
    let (local, peer) = (datagram.destination?.to_canonical(), datagram.peer?);
    let (IpAddr::V6(address), SocketAddr::V6(from)) = (local, peer) else {
        return Some((SocketAddr::new(local, port), SocketAddr::new(peer.ip().to_canonical(), peer.port())));
    };
    // A link-local address means nothing without its link.
    Some((SocketAddrV6::new(address, port, 0, from.scope_id()).into(), peer))
}

fn connected_socket(
    local: Option<SocketAddr>,
    peer: SocketAddr,
    parameters: &RendezvousParameters,
) -> Result<UdpSocket, TrialError> {
    let begin = || {
        let socket = Socket::new(Domain::for_address(peer), Type::DGRAM, Some(Protocol::UDP))?;
        enable_ancillary(&socket, Ancillary::Arrival, peer.is_ipv6())?;
        if let Some(local) = local {
            socket.bind(&local.into())?;
        }
        socket.connect(&peer.into())?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    };
    let socket = begin().map_err(|source| failed(format!("cannot make a socket towards {peer}"), source))?;
    if let Some(dscp) = parameters.dscp {
        set_dscp(&socket, peer, parameters.family, dscp)?;
    }
    Ok(socket.into())
}

fn failed(what: impl Into<String>, source: io::Error) -> TrialError {
    TrialError::Socket { what: what.into(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_another_process_has_for_a_moment_is_waited_for() {
        let timeout = Duration::from_secs(10);
        let parameters = RendezvousParameters { family: None, dscp: None, timeout };
        let opening = Opening { token: wire::Token([1; 16]), flow: 0 };
        let listener = listening_socket("127.0.0.1:0".parse().unwrap(), &parameters).unwrap();
        let address = listener.local_addr().unwrap();
        let source = UdpSocket::bind("127.0.0.1:0").unwrap();
        source.send_to(&opening.encode(), address).unwrap();
        let held = listener.try_clone().unwrap();
        let holding = thread::spawn(move || {
            thread::sleep(Duration::from_millis(50));
            drop(held);
        });
        let answer = opening.answer(wire::Token([2; 16]));
        let met = wait_for_opening(listener, address.port(), opening, answer, &parameters, &Control::default());
        assert_eq!(met.unwrap().peer, source.local_addr().unwrap());
        holding.join().unwrap();
    }
}
