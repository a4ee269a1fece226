//! ICMP echo (RFC 792, RFC 4443): without privilege where the kernel lets this user's group (`net.ipv4.ping_group_range`,
//! `icmp(7)`), through a raw socket where the process may have one. It goes only to an address whose engine has met this
//! one.

use std::{
    io,
    net::SocketAddr,
    os::fd::{AsFd, BorrowedFd},
};

use rustix::event::{PollFd, PollFlags};
use socket2::{Domain, Protocol, Socket, Type};
use sys::{Ancillary, enable_ancillary, receive_datagram};
use wire::{ECHO_HEADER_BYTES, EchoMessage, RttSettings, Token};

use super::prober::{Prober, Response};
use crate::{
    Task,
    address::set_dscp,
    defaults::{DATAGRAMS_AT_ONCE, ECHO_MAX_BYTES},
    kernel_time::{KernelTime, Steps},
    rendezvous::Rendezvous,
};

/// Type, code, checksum, identifier, number.
const ICMP_HEADER_BYTES: usize = 8;
/// Longest header of an IPv4 packet, which a raw socket shows.
const IPV4_HEADER_MAX_BYTES: usize = 60;

/// Probes with ICMP echo requests, which the sink's kernel answers.
pub struct IcmpProber {
    socket: Socket,
    raw: bool,
    ipv6: bool,
    token: Token,
    packet: Vec<u8>,
    reply: Vec<u8>,
    kernel: KernelTime,
}

impl IcmpProber {
    /// A socket with the addresses of the rendezvous.
    ///
    /// # Errors
    /// This user may have neither kind of socket.
    pub fn open(task: &Task<'_, RttSettings>, rendezvous: &Rendezvous) -> io::Result<Self> {
        let ipv6 = rendezvous.peer.is_ipv6();
        let (domain, protocol) = if ipv6 { (Domain::IPV6, Protocol::ICMPV6) } else { (Domain::IPV4, Protocol::ICMPV4) };
        let make = |kind: Type| Socket::new(domain, kind, Some(protocol));
        let (socket, raw) = match make(Type::DGRAM) {
            Ok(socket) => (socket, false),
            Err(_) => (make(Type::RAW)?, true),
        };
        socket.bind(&without_port(rendezvous.socket.local_addr()?).into())?;
        socket.connect(&without_port(rendezvous.peer).into())?;
        socket.set_nonblocking(true)?;
        enable_ancillary(&socket, Ancillary::Arrival, ipv6)?;
        if let Some(dscp) = task.settings.dscp {
            // It carries one family only, whatever the trial was left to choose.
            let family = if ipv6 { 6 } else { 4 };
            set_dscp(&socket, rendezvous.peer, Some(family), dscp).map_err(io::Error::other)?;
        }
        let room = ICMP_HEADER_BYTES + ECHO_MAX_BYTES as usize;
        let (packet, reply) = (vec![0; room], vec![0; room + IPV4_HEADER_MAX_BYTES]);
        Ok(Self { socket, raw, ipv6, token: task.token, packet, reply, kernel: KernelTime::begin() })
    }
}

impl AsFd for IcmpProber {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Prober for IcmpProber {
    fn send(&mut self, sequence: u64, size_bytes: u32) -> io::Result<()> {
        let packet = &mut self.packet[..ICMP_HEADER_BYTES + size_bytes as usize];
        write_echo(packet, self.token, sequence, self.ipv6);
        self.socket.send(packet).map(drop)
    }

    fn receive(&mut self, _: u64, received: &mut dyn FnMut(Response)) {
        for _ in 0..DATAGRAMS_AT_ONCE {
            let datagram = match receive_datagram(&self.socket, &mut self.reply) {
                Ok(datagram) => datagram,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return self.kernel.drained(),
                // An ICMP error about a probe; the next datagram is another matter.
                Err(error) if error.raw_os_error().is_some() => continue,
                Err(_) => return,
            };
            self.kernel.look();
            let Some(bytes) = self.reply.get(..datagram.length) else { continue };
            if let Some(sequence) = read_reply(bytes, self.token, self.raw && !self.ipv6, self.ipv6) {
                received(Response::from_datagram(sequence, &datagram, &mut self.kernel));
            }
        }
    }

    fn steps(&self) -> Option<Steps> {
        Some(self.kernel.steps)
    }

    fn watch<'a>(&'a self, watched: &mut Vec<PollFd<'a>>) {
        watched.push(PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN));
    }
}

fn without_port(mut address: SocketAddr) -> SocketAddr {
    address.set_port(0);
    address
}

/// An echo request whose payload is a probe. The identifier is the kernel's to fill in, or stays a part of the secret;
/// for IPv6 the kernel computes the checksum.
fn write_echo(packet: &mut [u8], token: Token, sequence: u64, ipv6: bool) {
    let [.., low, lowest] = sequence.to_be_bytes();
    let [first, second, ..] = token.0;
    let header = [if ipv6 { 128 } else { 8 }, 0, 0, 0, first, second, low, lowest];
    packet[..ICMP_HEADER_BYTES].copy_from_slice(&header);
    EchoMessage::Request(sequence).write(token, &mut packet[ICMP_HEADER_BYTES..]);
    if !ipv6 {
        let sum = checksum(packet);
        packet[2..4].copy_from_slice(&sum.to_be_bytes());
    }
}

/// The number of the probe that an echo reply brings back.
fn read_reply(bytes: &[u8], token: Token, ip_header: bool, ipv6: bool) -> Option<u64> {
    let skipped = if ip_header { usize::from(bytes.first()? & 0xf) * 4 } else { 0 };
    let packet = bytes.get(skipped..)?;
    let is_reply = packet.first() == Some(if ipv6 { &129 } else { &0 });
    let payload = packet.get(ICMP_HEADER_BYTES..).filter(|payload| is_reply && payload.len() >= ECHO_HEADER_BYTES)?;
    match EchoMessage::read(token, payload) {
        Some(EchoMessage::Request(sequence)) => Some(sequence),
        _ => None,
    }
}

/// The Internet checksum (RFC 1071) of a packet in which its field is zero.
fn checksum(packet: &[u8]) -> u16 {
    let words =
        packet.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)])));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKEN: Token = Token([7; 16]);

    #[test]
    fn the_checksum_is_that_of_the_rfc() {
        // RFC 1071, section 3.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    #[test]
    fn a_request_that_is_answered_brings_its_number_back() {
        for (ipv6, reply) in [(false, 0), (true, 129)] {
            let mut packet = vec![0; ICMP_HEADER_BYTES + 101];
            write_echo(&mut packet, TOKEN, 1 << 40, ipv6);
            assert_eq!(read_reply(&packet, TOKEN, false, ipv6), None, "a request is no reply");
            assert!(ipv6 || checksum(&packet) == 0);
            packet[0] = reply;
            assert_eq!(read_reply(&packet, TOKEN, false, ipv6), Some(1 << 40));
            assert_eq!(read_reply(&packet, Token([8; 16]), false, ipv6), None, "it is somebody else's");
            let behind_header: Vec<u8> = std::iter::once(0x46).chain([0; 23]).chain(packet).collect();
            assert_eq!(read_reply(&behind_header, TOKEN, true, ipv6), Some(1 << 40));
        }
    }

    proptest! {
        #[test]
        fn any_packet_is_read_or_refused(bytes: Vec<u8>, ip_header: bool, ipv6: bool) {
            read_reply(&bytes, TOKEN, ip_header, ipv6);
        }
    }
}
