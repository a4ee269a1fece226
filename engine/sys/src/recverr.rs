//! ICMP errors about datagrams that were sent, from the socket's error queue: no privilege is needed (`ip(7)`).

use std::{io, net::IpAddr, os::fd::AsRawFd};

use crate::{
    control_message::{at, control_messages, socket_address, time_unix_ns},
    datagram::{CONTROL_BYTES, receive_message},
};

/// Bytes of `struct sock_extended_err`, behind which the address stands of whom the error is from.
const EXTENDED_ERROR_BYTES: usize = 16;

/// An ICMP error about a datagram that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpError {
    /// How much of the datagram's payload it quotes, in bytes; all that fits is in the buffer.
    pub quoted: usize,
    /// What it says.
    pub kind: IcmpErrorKind,
    /// Whom it is from; absent if this host's kernel refused to send.
    pub from: Option<IpAddr>,
    /// When it arrived, in nanoseconds since 1970 UTC, after [`crate::Ancillary::Arrival`].
    pub arrived_unix_ns: Option<i64>,
}

/// What an ICMP error says of a datagram (RFC 792, RFC 4443).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpErrorKind {
    /// Its time to live was over.
    TimeExceeded,
    /// Nobody listens on its port.
    PortUnreachable,
    /// It is larger than the next link can carry.
    TooBig,
    /// It was not forwarded for another reason.
    Unreachable,
    /// Something else.
    Other,
}

/// Takes the next error from the queue of a socket with [`crate::Ancillary::Errors`], without waiting; the buffer gets what
/// it quotes of the datagram's payload.
///
/// # Errors
/// What `recvmsg` says: `WouldBlock` if there is none.
pub fn receive_icmp_error(socket: &impl AsRawFd, buffer: &mut [u8]) -> io::Result<IcmpError> {
    let mut control = [0; CONTROL_BYTES];
    let received = receive_message(socket.as_raw_fd(), buffer, &mut control, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT)?;
    Ok(read_control(received.length, &control[..received.control_length]))
}

fn read_control(quoted: usize, control: &[u8]) -> IcmpError {
    let mut error = IcmpError { quoted, kind: IcmpErrorKind::Other, from: None, arrived_unix_ns: None };
    for message in control_messages(control) {
        match (message.level, message.kind) {
            (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => error.arrived_unix_ns = time_unix_ns(message.data),
            (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR) => {
                let Some([origin, kind, code]) = at(message.data, 4) else { continue };
                error.kind = meaning(origin, kind, code);
                let from = message.data.get(EXTENDED_ERROR_BYTES..).and_then(socket_address);
                error.from = from.map(|address| address.ip().to_canonical());
            }
            _ => {}
        }
    }
    error
}

fn meaning(origin: u8, kind: u8, code: u8) -> IcmpErrorKind {
    match (origin, kind, code) {
        (libc::SO_EE_ORIGIN_ICMP, 11, 0) | (libc::SO_EE_ORIGIN_ICMP6, 3, 0) => IcmpErrorKind::TimeExceeded,
        (libc::SO_EE_ORIGIN_ICMP, 3, 3) | (libc::SO_EE_ORIGIN_ICMP6, 1, 4) => IcmpErrorKind::PortUnreachable,
        (libc::SO_EE_ORIGIN_ICMP, 3, 4) | (libc::SO_EE_ORIGIN_ICMP6, 2, _) => IcmpErrorKind::TooBig,
        (libc::SO_EE_ORIGIN_ICMP, 3, _) | (libc::SO_EE_ORIGIN_ICMP6, 1, _) => IcmpErrorKind::Unreachable,
        _ => IcmpErrorKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use std::{
        net::UdpSocket,
        time::{Duration, Instant},
    };

    use proptest::prelude::*;

    use super::*;
    use crate::{Ancillary, enable_ancillary};

    fn refused(address: &str, ipv6: bool) {
        let Ok(socket) = UdpSocket::bind((address, 0)) else { return };
        enable_ancillary(&socket, Ancillary::Errors, ipv6).unwrap();
        enable_ancillary(&socket, Ancillary::Arrival, ipv6).unwrap();
        let nobody = UdpSocket::bind((address, 0)).unwrap().local_addr().unwrap();
        socket.connect(nobody).unwrap();
        socket.send(b"is anybody there?").unwrap();
        let deadline = Instant::now() + Duration::from_secs(5);
        let mut quoted = [0; 100];
        let error = loop {
            match receive_icmp_error(&socket, &mut quoted) {
                Ok(error) => break error,
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
            assert!(Instant::now() < deadline);
        };
        assert_eq!((error.kind, error.from), (IcmpErrorKind::PortUnreachable, Some(nobody.ip())));
        assert_eq!(&quoted[..error.quoted], b"is anybody there?");
        assert!(error.arrived_unix_ns.is_some());
    }

    #[test]
    fn a_closed_port_is_told_over_ipv4() {
        refused("127.0.0.1", false);
    }

    #[test]
    fn a_closed_port_is_told_over_ipv6() {
        refused("::1", true);
    }

    proptest! {
        #[test]
        fn any_control_messages_are_read_to_an_end(quoted: usize, control: Vec<u8>) {
            prop_assert_eq!(read_control(quoted, &control).quoted, quoted);
        }

        #[test]
        fn no_error_is_without_a_meaning(origin: u8, kind: u8, code: u8) {
            let kind_read = meaning(origin, kind, code);
            prop_assert!(kind_read == IcmpErrorKind::Other || [2, 3].contains(&origin));
        }
    }
}
