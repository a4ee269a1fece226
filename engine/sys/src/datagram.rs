//! Datagrams with what the kernel knows of them: when they arrived, from and to where, how far they have been forwarded.

use std::{
    error::Error,
    io,
    mem::MaybeUninit,
    net::{IpAddr, SocketAddr},
    os::{
        fd::{AsRawFd, RawFd},
        raw::{c_int, c_void},
    },
};

use crate::control_message::{control_messages, hop_limit, packet_destination, socket_address, time_unix_ns};

/// Room for the control messages of one datagram, in bytes: time, time to live, destination, and an error with the
/// address of whom it is from.
pub const CONTROL_BYTES: usize = 256;

/// What the kernel is to report of datagrams that arrive, as ancillary data; each is a socket option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ancillary {
    /// When the kernel took it from the network device (`SO_TIMESTAMPNS`).
    Arrival,
    /// Its time to live, or hop limit (`IP_RECVTTL`, `IPV6_RECVHOPLIMIT`).
    HopLimit,
    /// The local address it was sent to (`IP_PKTINFO`, `IPV6_RECVPKTINFO`).
    Destination,
    /// ICMP errors about what was sent, see [`crate::receive_icmp_error`] (`IP_RECVERR`, `IPV6_RECVERR`).
    Errors,
}

/// A datagram that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Its length; longer than the buffer if it did not fit.
    pub length: usize,
    /// Whom it is from.
    pub peer: Option<SocketAddr>,
    /// The local address it was sent to, after [`Ancillary::Destination`].
    pub destination: Option<IpAddr>,
    /// When it arrived, in nanoseconds since 1970 UTC, after [`Ancillary::Arrival`].
    pub arrived_unix_ns: Option<i64>,
    /// How many more hops it could have gone, this one included, after [`Ancillary::HopLimit`].
    pub hop_limit: Option<u8>,
}

/// Has the kernel report this of what arrives from now on. A socket of both families has it for both.
///
/// # Errors
/// What `setsockopt` says.
pub fn enable_ancillary(socket: &impl AsRawFd, what: Ancillary, ipv6: bool) -> io::Result<()> {
    switch_ancillary(socket, what, ipv6, 1)
}

/// Has the kernel tell it no more.
///
/// # Errors
/// What `setsockopt` says.
pub fn disable_ancillary(socket: &impl AsRawFd, what: Ancillary, ipv6: bool) -> io::Result<()> {
    switch_ancillary(socket, what, ipv6, 0)
}

fn switch_ancillary(socket: &impl AsRawFd, what: Ancillary, ipv6: bool, on: c_int) -> io::Result<()> {
    let (level, name) = match (what, ipv6) {
        (Ancillary::Arrival, _) => (libc::SOL_SOCKET, libc::SO_TIMESTAMPNS),
        (Ancillary::HopLimit, false) => (libc::SOL_IP, libc::IP_RECVTTL),
        (Ancillary::HopLimit, true) => (libc::SOL_IPV6, libc::IPV6_RECVHOPLIMIT),
        (Ancillary::Destination, false) => (libc::SOL_IP, libc::IP_PKTINFO),
        (Ancillary::Destination, true) => (libc::SOL_IPV6, libc::IPV6_RECVPKTINFO),
        (Ancillary::Errors, false) => (libc::SOL_IP, libc::IP_RECVERR),
        (Ancillary::Errors, true) => (libc::SOL_IPV6, libc::IPV6_RECVERR),
    };
    set(socket, level, name, on)
}

/// Has packets that are too large for the path refused or reported, never cut (`IP_PMTUDISC_DO`).
///
/// # Errors
/// What `setsockopt` says.
pub fn forbid_fragments(socket: &impl AsRawFd, ipv6: bool) -> io::Result<()> {
    if ipv6 {
        set(socket, libc::SOL_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_DO)
    } else {
        set(socket, libc::SOL_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DO)
    }
}

/// The largest packet that a connected socket may send as far as the kernel knows, in bytes with the IP header.
///
/// # Errors
/// What `getsockopt` says: the socket is not connected.
pub fn path_mtu(socket: &impl AsRawFd, ipv6: bool) -> io::Result<u32> {
    let (level, name) = if ipv6 { (libc::SOL_IPV6, libc::IPV6_MTU) } else { (libc::SOL_IP, libc::IP_MTU) };
    let mut value: c_int = 0;
    let mut length = libc::socklen_t::try_from(size_of::<c_int>()).map_err(io::Error::other)?;
    // SAFETY: the pointers are to a live int and its size.
    let result = unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, (&raw mut value).cast(), &raw mut length) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    u32::try_from(value).map_err(io::Error::other)
}

/// Takes the next datagram, without waiting.
///
/// # Errors
/// What `recvmsg` says: `WouldBlock` if there is none; what an ICMP message said of an earlier datagram.
pub fn receive_datagram(socket: &impl AsRawFd, buffer: &mut [u8]) -> io::Result<Datagram> {
    let mut control = [0; CONTROL_BYTES];
    let received = receive_message(socket.as_raw_fd(), buffer, &mut control, libc::MSG_DONTWAIT | libc::MSG_TRUNC)?;
    let mut datagram = Datagram {
        length: received.length,
        peer: socket_address(&received.name),
        destination: None,
        arrived_unix_ns: None,
        hop_limit: None,
    };
    for message in control_messages(&control[..received.control_length]) {
        match (message.level, message.kind) {
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => datagram.arrived_unix_ns = time_unix_ns(message.data),
            (libc::SOL_IP, libc::IP_TTL) | (libc::SOL_IPV6, libc::IPV6_HOPLIMIT) => {
                datagram.hop_limit = hop_limit(message.data);
            }
            (libc::SOL_IP, libc::IP_PKTINFO) | (libc::SOL_IPV6, libc::IPV6_PKTINFO) => {
                datagram.destination = packet_destination(message.level, message.data);
            }
            _ => {}
        }
    }
    Ok(datagram)
}

/// What `recvmsg` has filled in.
pub struct ReceivedMessage {
    /// Length of the datagram.
    pub length: usize,
    /// The socket address beside it.
    pub name: [u8; size_of::<libc::sockaddr_storage>()],
    /// How much of the buffer for control messages is filled.
    pub control_length: usize,
}

/// `recvmsg(2)` of one datagram.
pub fn receive_message(
    socket: RawFd,
    buffer: &mut [u8],
    control: &mut [u8],
    flags: c_int,
) -> io::Result<ReceivedMessage> {
    let mut name = [0; size_of::<libc::sockaddr_storage>()];
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast::<c_void>(), iov_len: buffer.len() };
    // SAFETY: a msghdr of zeroes is a valid one that refers to nothing.
    let mut header: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    header.msg_name = name.as_mut_ptr().cast();
    header.msg_namelen = libc::socklen_t::try_from(name.len()).map_err(io::Error::other)?;
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = converted(control.len())?;
    // SAFETY: every pointer of the header is to live memory of the length beside it, which nobody else uses meanwhile.
    let length = unsafe { libc::recvmsg(socket, &raw mut header, flags) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    Ok(ReceivedMessage { length, name, control_length: converted(header.msg_controllen)? })
}

/// A length in the type that this C library has for it.
fn converted<A, B: TryFrom<A, Error: Error + Send + Sync + 'static>>(length: A) -> io::Result<B> {
    B::try_from(length).map_err(io::Error::other)
}

fn set(socket: &impl AsRawFd, level: c_int, name: c_int, value: c_int) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<c_int>()).map_err(io::Error::other)?;
    // SAFETY: the pointer is to a live int and the length is its size.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    fn arrives(address: &str, ipv6: bool) {
        let Ok(sink) = UdpSocket::bind((address, 0)) else { return };
        for what in [Ancillary::Arrival, Ancillary::HopLimit, Ancillary::Destination] {
            enable_ancillary(&sink, what, ipv6).unwrap();
        }
        let mut buffer = [0; 100];
        assert_eq!(receive_datagram(&sink, &mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let source = UdpSocket::bind((address, 0)).unwrap();
        source.set_ttl(9).unwrap();
        source.connect(sink.local_addr().unwrap()).unwrap();
        source.send(&[7; 120]).unwrap();
        let datagram = receive_datagram(&sink, &mut buffer).unwrap();
        assert_eq!((datagram.length, buffer), (120, [7; 100]));
        assert_eq!(datagram.peer, Some(source.local_addr().unwrap()));
        assert_eq!(datagram.destination, Some(address.parse().unwrap()));
        assert!(datagram.hop_limit.is_some_and(|limit| ipv6 || limit == 9));
        assert!(datagram.arrived_unix_ns.is_some_and(|time| time > 0));
        assert!(path_mtu(&source, ipv6).unwrap() >= 1280);
    }

    #[test]
    fn the_kernel_tells_of_a_datagram_over_ipv4() {
        arrives("127.0.0.1", false);
    }

    #[test]
    fn the_kernel_tells_of_a_datagram_over_ipv6() {
        arrives("::1", true);
    }

    #[test]
    fn a_packet_above_the_mtu_is_refused_where_fragments_are_forbidden() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(socket.local_addr().unwrap()).unwrap();
        forbid_fragments(&socket, false).unwrap();
        let mtu = path_mtu(&socket, false).unwrap() as usize;
        if mtu < 65_000 {
            assert_eq!(socket.send(&vec![0; mtu]).unwrap_err().raw_os_error(), Some(libc::EMSGSIZE));
        }
    }
}
