//! The socket between the two ends of a measurement of a path, from their rendezvous on.

use std::{io, os::fd::AsFd, time::Duration};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use socket2::SockRef;
use sys::{Ancillary, Datagram, IcmpError};
use wire::{OPENING_BYTES, Opening, RejectedConnections};

use crate::{
    Control, TrialError,
    defaults::{HOP_PROBE_LEAST_IPV6_BYTES, PATH_BUFFER_BYTES, PATH_HOP_LIMIT, STOP_CHECK},
    rendezvous::{Rendezvous, count, wait_readable},
};

/// Bytes of the IPv4 and UDP headers.
const IPV4_HEADERS_BYTES: u32 = 20 + 8;
/// Bytes of the IPv6 and UDP headers.
const IPV6_HEADERS_BYTES: u32 = 40 + 8;
/// How often a datagram is tried again: each failure may be what an ICMP message said of an earlier one.
const SEND_TRIES: usize = 4;

/// A socket that also reports the hop limit of datagrams and ICMP errors, and counts datagrams that are not of the trial.
pub struct Line {
    rendezvous: Rendezvous,
    ipv6: bool,
}

/// What was taken from the socket.
pub enum Taken<T> {
    /// A datagram of the trial, with what the kernel knows of it.
    Ours(T, Datagram),
    /// Something else. There may be more.
    Other,
    /// Nothing waits.
    Nothing,
}

impl Line {
    /// Sets up the socket of a rendezvous.
    pub fn new(rendezvous: Rendezvous) -> Result<Self, TrialError> {
        let ipv6 = rendezvous.peer.is_ipv6();
        let line = Self { rendezvous, ipv6 };
        let socket = SockRef::from(&line.rendezvous.socket);
        // Best effort: short trains fit into any buffer.
        let _ = socket.set_recv_buffer_size(PATH_BUFFER_BYTES);
        let _ = socket.set_send_buffer_size(PATH_BUFFER_BYTES);
        let set_up = sys::enable_ancillary(&line.rendezvous.socket, Ancillary::HopLimit, ipv6)
            .and_then(|()| sys::enable_ancillary(&line.rendezvous.socket, Ancillary::Errors, ipv6))
            .and_then(|()| sys::forbid_fragments(&line.rendezvous.socket, ipv6))
            .and_then(|()| line.set_hop_limit(PATH_HOP_LIMIT));
        let failed =
            |source| TrialError::Socket { what: format!("cannot set up a socket to {}", line.rendezvous.peer), source };
        set_up.map_err(failed)?;
        Ok(line)
    }

    /// Waits for the start of a source.
    pub fn wait_for_start(&self, control: &Control) -> Result<(), TrialError> {
        self.rendezvous.wait_for_start(control)
    }

    /// How far the next datagrams may go.
    pub fn set_hop_limit(&self, hops: u8) -> io::Result<()> {
        let socket = SockRef::from(&self.rendezvous.socket);
        if self.ipv6 { socket.set_unicast_hops_v6(hops.into()) } else { socket.set_ttl_v4(hops.into()) }
    }

    /// Bytes of the headers of each packet.
    pub fn headers_bytes(&self) -> u32 {
        if self.ipv6 { IPV6_HEADERS_BYTES } else { IPV4_HEADERS_BYTES }
    }

    /// Smallest IP packet of a probe whose response is no longer than those of larger ones.
    pub fn probe_least_bytes(&self) -> u32 {
        if self.ipv6 { HOP_PROBE_LEAST_IPV6_BYTES } else { 0 }
    }

    /// Largest IP packet that this host's kernel would send, in bytes; absent if it does not say.
    pub fn path_mtu(&self) -> Option<u32> {
        sys::path_mtu(&self.rendezvous.socket, self.ipv6).ok()
    }

    /// Datagrams that were not this trial's.
    pub fn rejected(&self) -> RejectedConnections {
        self.rendezvous.rejected
    }

    /// Sends a datagram whole; where the host's own device is slow, waits a moment for it.
    pub fn send(&self, payload: &[u8]) -> io::Result<()> {
        let mut tried = self.rendezvous.socket.send(payload);
        for _ in 1..SEND_TRIES {
            match &tried {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait_for(PollFlags::OUT, STOP_CHECK),
                Err(error) if is_of_earlier(error) => {}
                _ => break,
            }
            tried = self.rendezvous.socket.send(payload);
        }
        tried.map(drop)
    }

    /// Waits until there may be something to read, but not longer than `timeout`.
    pub fn wait(&self, timeout: Duration) {
        wait_readable(&self.rendezvous.socket, timeout);
    }

    /// The next datagram, if one is there. One that `read` does not know as this trial's is counted as rejected.
    pub fn receive<T>(&mut self, buffer: &mut [u8], read: impl Fn(&[u8]) -> Option<T>) -> Taken<T> {
        let datagram = match sys::receive_datagram(&self.rendezvous.socket, buffer) {
            Ok(datagram) => datagram,
            Err(error) if is_of_earlier(&error) => return Taken::Other,
            Err(_) => return Taken::Nothing,
        };
        let payload = &buffer[..datagram.length.min(buffer.len())];
        let said = read(payload);
        if said.is_none() {
            self.turn_away(payload);
        }
        said.map_or(Taken::Other, |said| Taken::Ours(said, datagram))
    }

    /// The next ICMP error about what was sent, if one is there.
    pub fn receive_error(&self, buffer: &mut [u8]) -> Option<IcmpError> {
        sys::receive_icmp_error(&self.rendezvous.socket, buffer).ok()
    }

    fn turn_away(&mut self, payload: &[u8]) {
        if self.rendezvous.answer_opening(payload) {
            return;
        }
        let rejected = &mut self.rendezvous.rejected;
        match <&[u8; OPENING_BYTES]>::try_from(payload).map(Opening::decode) {
            Ok(Ok(_)) => count(&mut rejected.wrong_token),
            _ => count(&mut rejected.not_an_engine),
        }
    }

    fn wait_for(&self, events: PollFlags, timeout: Duration) {
        let mut watched = [PollFd::from_borrowed_fd(self.rendezvous.socket.as_fd(), events)];
        // An interrupted or failed poll only means trying once more.
        let _ = poll(&mut watched, Timespec::try_from(timeout).ok().as_ref());
    }
}

/// Whether a call failed for what an ICMP message said of an earlier datagram.
fn is_of_earlier(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::Interrupted
    ) || error.raw_os_error() == Some(Errno::PROTO.raw_os_error())
}
