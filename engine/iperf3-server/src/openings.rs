//! Where streams of datagrams are opened: one port for all of them, and then for each a socket connected to its client.
//!
//! An opening says nothing of the test it belongs to. So one test of a client's address at a time has its streams opened;
//! only a client that has just requested streams over a control connection is answered, or sent anything.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::Duration,
};

use iperf3::{ErrorCode, Params, opens_stream};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use sys::{Ancillary, Datagram};
use traffic::datagrams::ways;

use crate::{
    defaults::{OPENINGS_AT_ONCE, UDP_WINDOW_BYTES},
    failure::Failure,
    settings::set_common,
};

/// Longer datagrams are no openings.
const ROOM_BYTES: usize = 16;

/// The port for openings.
pub struct Openings {
    /// Never waits.
    pub socket: UdpSocket,
    port: u16,
}

/// Tests whose streams are being opened, by the address of their clients.
#[derive(Default)]
pub struct SetUps(Mutex<HashMap<IpAddr, SetUp>>, Condvar);

struct SetUp {
    params: Params,
    missing: usize,
    standing: Vec<(SocketAddr, UdpSocket)>,
    arrivals: SyncSender<Result<UdpSocket, Failure>>,
}

/// The streams of a test are being opened; as long as this lives.
pub struct Opening<'a> {
    set_ups: &'a SetUps,
    peer: IpAddr,
    /// Where streams come.
    pub arrivals: Receiver<Result<UdpSocket, Failure>>,
}

impl Openings {
    /// Listens.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn listen(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        if address.is_ipv6() {
            socket.set_only_v6(!address.ip().is_unspecified())?;
        }
        socket.bind(&address.into())?;
        // Only once the port is its own: the sockets of the streams will share it.
        socket.set_reuse_address(true)?;
        sys::enable_ancillary(&socket, Ancillary::Destination, address.is_ipv6())?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket: socket.into(), port: address.port() })
    }

    /// Takes received openings, at most [`OPENINGS_AT_ONCE`]: a flood does not keep the acceptor from other clients.
    pub fn take(&self, set_ups: &SetUps) {
        let mut bytes = [0; ROOM_BYTES];
        for _ in 0..OPENINGS_AT_ONCE {
            let Ok(datagram) = sys::receive_datagram(&self.socket, &mut bytes) else { return };
            let Some((local, peer)) = ways(&datagram, self.port) else { continue };
            set_ups.take(local, peer, opening(&datagram, &bytes));
        }
    }
}

impl SetUps {
    /// Has the streams of a test opened, once no other test of this address does; nothing if it is not its turn within
    /// `longest`.
    pub fn begin(&self, peer: IpAddr, params: &Params, streams: usize, longest: Duration) -> Option<Opening<'_>> {
        let busy = |set_ups: &mut HashMap<IpAddr, SetUp>| set_ups.contains_key(&peer);
        let (mut set_ups, _) =
            self.1.wait_timeout_while(self.lock(), longest, busy).unwrap_or_else(PoisonError::into_inner);
        if set_ups.contains_key(&peer) {
            return None;
        }
        let (sender, arrivals) = sync_channel(streams);
        let set_up = SetUp { params: params.clone(), missing: streams, standing: Vec::new(), arrivals: sender };
        set_ups.insert(peer, set_up);
        drop(set_ups);
        Some(Opening { set_ups: self, peer, arrivals })
    }

    /// `reply`: what an opening is to be answered; nothing if it was none.
    fn take(&self, local: SocketAddr, peer: SocketAddr, reply: Option<[u8; 4]>) {
        let Some(reply) = reply else { return };
        let mut come = vec![(peer, reply)];
        let mut set_ups = self.lock();
        while let Some((peer, reply)) = come.pop() {
            if let Some(set_up) = set_ups.get_mut(&peer.ip()) {
                set_up.take(local, peer, reply, &mut come);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, SetUp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SetUp {
    fn take(&mut self, local: SocketAddr, peer: SocketAddr, reply: [u8; 4], come: &mut Vec<(SocketAddr, [u8; 4])>) {
        if let Some((_, socket)) = self.standing.iter().find(|(known, _)| *known == peer) {
            // The answer was lost, or is under way. One that cannot be sent is one that was lost.
            let _ = socket.send(&reply);
            return;
        }
        if self.missing == 0 {
            return;
        }
        self.missing -= 1;
        let made = connect(local, peer, &self.params, come).and_then(|socket| {
            let kept = socket.try_clone().map_err(|error| Failure::refused(ErrorCode::STREAM, &error))?;
            let _ = socket.send(&reply);
            self.standing.push((peer, kept));
            Ok(socket)
        });
        // The test may have given up.
        let _ = self.arrivals.try_send(made);
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        self.set_ups.lock().remove(&self.peer);
        self.set_ups.1.notify_all();
    }
}

/// Answers openings that come again to sockets which nobody reads yet.
pub fn answer_again<'a>(sockets: impl Iterator<Item = &'a UdpSocket>) {
    let mut bytes = [0; ROOM_BYTES];
    for socket in sockets {
        for _ in 0..OPENINGS_AT_ONCE {
            let Ok(datagram) = sys::receive_datagram(socket, &mut bytes) else { break };
            if let Some(reply) = opening(&datagram, &bytes) {
                let _ = socket.send(&reply);
            }
        }
    }
}

fn opening(datagram: &Datagram, bytes: &[u8]) -> Option<[u8; 4]> {
    opens_stream(bytes.get(..datagram.length)?)
}

/// A stream's own socket on the port that everybody knows. Between `bind` and `connect` it gets what is meant for the
/// port: openings among that are handed on through `come`.
fn connect(
    local: SocketAddr,
    peer: SocketAddr,
    params: &Params,
    come: &mut Vec<(SocketAddr, [u8; 4])>,
) -> Result<UdpSocket, Failure> {
    let make = || {
        let socket = Socket::new(Domain::for_address(peer), Type::DGRAM, Some(Protocol::UDP))?;
        sys::enable_ancillary(&socket, Ancillary::Arrival, peer.is_ipv6())?;
        socket.set_reuse_address(true)?;
        socket.bind(&local.into())?;
        socket.connect(&peer.into())?;
        if params.dont_fragment {
            sys::forbid_fragments(&socket, peer.is_ipv6())?;
        }
        // As much as the host allows: what it drops would count as lost on the way.
        socket.set_recv_buffer_size(UDP_WINDOW_BYTES)?;
        Ok(socket)
    };
    let socket = make().map_err(|error: io::Error| Failure::refused(ErrorCode::STREAM, &error))?;
    set_common(&SockRef::from(&socket), params, peer.is_ipv6())?;
    let mut bytes = [0; ROOM_BYTES];
    for _ in 0..OPENINGS_AT_ONCE {
        let Ok(datagram) = sys::receive_datagram(&socket, &mut bytes) else { break };
        let from = datagram.peer.filter(|from| *from != peer);
        come.extend(from.zip(opening(&datagram, &bytes)));
    }
    Ok(socket.into())
}
