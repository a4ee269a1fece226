//! The responding end: sends requests back, accepts connections where their time is measured, and knows when to end.

use std::{
    io,
    net::SocketAddr,
    os::fd::AsFd,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, Protocol, Socket, Type};
use sys::receive_datagram;
use wire::{
    ECHO_ADDRESS_BYTES, ECHO_HEADER_BYTES, Echo, EchoMessage, RttSettings, address_asked, defaults::START_TIMEOUT,
};

use super::watch::Ran;
use crate::{
    Control, Task, TrialError,
    defaults::{DATAGRAMS_AT_ONCE, ECHO_BACKLOG, ECHO_MAX_BYTES, END_LINGER, SINK_SLACK, STOP_CHECK},
    rendezvous::{Rendezvous, count},
    samples::Log,
};

/// Listens on the port of the rendezvous for TCP, too, if the time of connecting is measured.
pub fn listen_for_connections(task: &Task<'_, RttSettings>, local: SocketAddr) -> Result<Option<Socket>, TrialError> {
    if task.settings.echo != Echo::TcpConnect {
        return Ok(None);
    }
    let begin = || {
        let socket = Socket::new(Domain::for_address(local), Type::STREAM, Some(Protocol::TCP))?;
        if local.is_ipv6() {
            socket.set_only_v6(task.settings.family == Some(6))?;
        }
        socket.set_reuse_address(true)?;
        socket.bind(&local.into())?;
        socket.listen(ECHO_BACKLOG)?;
        socket.set_nonblocking(true)?;
        Ok(Some(socket))
    };
    begin().map_err(|source| TrialError::Socket { what: format!("cannot listen on {local}"), source })
}

/// Responds until the source says that it sends no more probes, at the latest until it must have ended.
pub fn respond(
    task: &Task<'_, RttSettings>,
    rendezvous: &mut Rendezvous,
    connections: Option<&Socket>,
    control: &Control,
) -> Ran {
    let settings = task.settings;
    let length = Duration::from_micros(settings.duration_us.saturating_add(settings.timeout_us));
    let mut deadline = Instant::now() + START_TIMEOUT + length + SINK_SLACK;
    let mut responder =
        Responder { task, rendezvous, buffer: vec![0; ECHO_MAX_BYTES as usize], bytes: 0, ended: false };
    let mut lingering = false;
    let mut incomplete = None;
    while Instant::now() < deadline {
        // What is answered is as much as what comes.
        if control.stopped() || !control.may_carry(|| responder.bytes) {
            incomplete = Some(TrialError::Stopped);
            break;
        }
        responder.wait(connections, deadline.saturating_duration_since(Instant::now()).min(STOP_CHECK));
        responder.take_datagrams();
        if let Some(connections) = connections {
            responder.take_connections(connections);
        }
        if responder.ended && !lingering {
            lingering = true;
            deadline = Instant::now() + END_LINGER;
        }
    }
    Ran { bytes: responder.bytes, echoes: Log::new(), remarks: Vec::new(), incomplete }
}

struct Responder<'a> {
    task: &'a Task<'a, RttSettings>,
    rendezvous: &'a mut Rendezvous,
    buffer: Vec<u8>,
    /// Payload of the requests.
    bytes: u64,
    /// The source has said that it sends no more probes.
    ended: bool,
}

impl Responder<'_> {
    fn wait(&self, connections: Option<&Socket>, longest: Duration) {
        let mut watched = vec![PollFd::from_borrowed_fd(self.rendezvous.socket.as_fd(), PollFlags::IN)];
        watched.extend(connections.map(|socket| PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)));
        // An interrupted or failed poll only means looking once more: the caller has its own deadline.
        let _ = poll(&mut watched, Timespec::try_from(longest).ok().as_ref());
    }

    /// Receives from the other end alone: the socket is connected. Datagrams that arrive faster than they are answered
    /// wait while deadlines are checked.
    fn take_datagrams(&mut self) {
        // An ICMP error about an earlier response is reported here; datagrams may wait all the same.
        let waiting = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        for _ in 0..DATAGRAMS_AT_ONCE {
            let length = match receive_datagram(&self.rendezvous.socket, &mut self.buffer) {
                Ok(datagram) => datagram.length,
                Err(error) if waiting(&error) => continue,
                Err(_) => return,
            };
            let Some(datagram) = self.buffer.get_mut(..length) else {
                count(&mut self.rendezvous.rejected.not_an_engine);
                continue;
            };
            match EchoMessage::read(self.task.token, datagram) {
                // Whoever asks for connections alone is answered by connections alone.
                Some(EchoMessage::Request(number)) if self.task.settings.echo != Echo::TcpConnect => {
                    EchoMessage::Response(number).write(self.task.answer, datagram);
                    self.bytes += length as u64;
                }
                Some(EchoMessage::End) => {
                    EchoMessage::EndSeen.write(self.task.answer, datagram);
                    self.ended = true;
                }
                Some(EchoMessage::Whose) if length == ECHO_ADDRESS_BYTES => {
                    let own = self.rendezvous.socket.local_addr();
                    let own =
                        own.is_ok_and(|own| datagram[ECHO_HEADER_BYTES..] == address_asked(own.ip().to_canonical()));
                    EchoMessage::Own(own).write(self.task.answer, datagram);
                }
                _ => {
                    if !self.rendezvous.answer_opening(datagram) {
                        count(&mut self.rendezvous.rejected.wrong_token);
                    }
                    continue;
                }
            }
            // A response that cannot be sent is as good as lost: the source counts it.
            let _ = self.rendezvous.socket.send(datagram);
        }
    }

    /// Closes each connection at once; counts those that are not from the other end.
    fn take_connections(&mut self, connections: &Socket) {
        for _ in 0..ECHO_BACKLOG {
            let Ok((_, address)) = connections.accept() else { return };
            let from = address.as_socket().map(|address| address.ip().to_canonical());
            if from != Some(self.rendezvous.peer.ip()) {
                count(&mut self.rendezvous.rejected.not_an_engine);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use wire::{RendezvousRole, Role, Token};

    use super::*;

    const TOKEN: Token = Token([1; 16]);
    const ANSWER: Token = Token([2; 16]);
    const MORE: usize = 30;

    #[test]
    fn deadlines_are_looked_at_between_datagrams_that_wait() {
        let (sink, source) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let peer = source.local_addr().unwrap();
        sink.connect(peer).unwrap();
        socket2::SockRef::from(&sink).set_recv_buffer_size(4 << 20).unwrap();
        let mut request = [0; ECHO_HEADER_BYTES];
        EchoMessage::Request(7).write(TOKEN, &mut request);
        for _ in 0..DATAGRAMS_AT_ONCE + MORE {
            source.send_to(&request, sink.local_addr().unwrap()).unwrap();
        }
        let settings = RttSettings {
            echo: Echo::Udp,
            sizes_bytes: vec![64],
            every_us: 1000,
            poisson: false,
            seed: 1,
            duration_us: 1000,
            timeout_us: 1000,
            connect_timeout_us: 1000,
            dscp: None,
            family: None,
        };
        let rendezvous = RendezvousRole::Listen { bind: None, ports: None };
        let task = Task {
            trial: "t",
            role: Role::Sink,
            token: TOKEN,
            answer: ANSWER,
            rendezvous: &rendezvous,
            settings: &settings,
        };
        let mut rendezvous = Rendezvous::over(sink, peer, TOKEN, ANSWER);
        let buffer = vec![0; ECHO_MAX_BYTES as usize];
        let mut responder = Responder { task: &task, rendezvous: &mut rendezvous, buffer, bytes: 0, ended: false };
        responder.take_datagrams();
        assert_eq!(responder.bytes, (DATAGRAMS_AT_ONCE * ECHO_HEADER_BYTES) as u64);
        responder.take_datagrams();
        assert_eq!(responder.bytes, ((DATAGRAMS_AT_ONCE + MORE) * ECHO_HEADER_BYTES) as u64);
    }
}
