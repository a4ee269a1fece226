//! Control messages: what the kernel says beside the bytes of a datagram (`cmsg(3)`).

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6},
    os::raw::c_int,
};

/// Bytes of `struct cmsghdr` as the kernel lays it out: its length as a word of the machine, level and type.
const HEADER_BYTES: usize = size_of::<usize>() + 2 * size_of::<c_int>();

/// One control message.
#[derive(Debug, PartialEq, Eq)]
pub struct ControlMessage<'a> {
    /// Which protocol it is of, `SOL_SOCKET` and the like.
    pub level: c_int,
    /// What it is, by the number of that protocol.
    pub kind: c_int,
    /// What it says.
    pub data: &'a [u8],
}

/// The control messages in a buffer that `recvmsg` has filled; ends at the first that is not whole.
pub fn control_messages(mut bytes: &[u8]) -> impl Iterator<Item = ControlMessage<'_>> {
    std::iter::from_fn(move || {
        let length = usize::from_ne_bytes(at(bytes, 0)?);
        let level = c_int::from_ne_bytes(at(bytes, size_of::<usize>())?);
        let kind = c_int::from_ne_bytes(at(bytes, size_of::<usize>() + size_of::<c_int>())?);
        let data = bytes.get(HEADER_BYTES..length)?;
        bytes = bytes.get(length.next_multiple_of(size_of::<usize>())..).unwrap_or(&[]);
        Some(ControlMessage { level, kind, data })
    })
}

/// The address in a `struct sockaddr_in` or `sockaddr_in6`; absent if it is another one, or not whole.
pub fn socket_address(bytes: &[u8]) -> Option<SocketAddr> {
    let port = u16::from_be_bytes(at(bytes, 2)?);
    match c_int::from(u16::from_ne_bytes(at(bytes, 0)?)) {
        libc::AF_INET => Some(SocketAddr::new(Ipv4Addr::from(at::<4>(bytes, 4)?).into(), port)),
        libc::AF_INET6 => {
            let flow_info = u32::from_ne_bytes(at(bytes, 4)?);
            let scope = u32::from_ne_bytes(at(bytes, 24)?);
            Some(SocketAddrV6::new(Ipv6Addr::from(at::<16>(bytes, 8)?), port, flow_info, scope).into())
        }
        _ => None,
    }
}

/// Nanoseconds since 1970 UTC of a `struct timespec`.
pub fn time_unix_ns(data: &[u8]) -> Option<i64> {
    let (seconds, nanoseconds) = (i64::from_ne_bytes(at(data, 0)?), i64::from_ne_bytes(at(data, 8)?));
    seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}

/// The time to live or hop limit, which the kernel tells as an `int`.
pub fn hop_limit(data: &[u8]) -> Option<u8> {
    u8::try_from(c_int::from_ne_bytes(at(data, 0)?)).ok()
}

/// The address a packet was sent to, of a `struct in_pktinfo` or `in6_pktinfo`.
pub fn packet_destination(level: c_int, data: &[u8]) -> Option<IpAddr> {
    if level == libc::SOL_IP {
        // Behind the index of the interface and the local address that a reply would have.
        Some(Ipv4Addr::from(at::<4>(data, 8)?).into())
    } else {
        Some(Ipv6Addr::from(at::<16>(data, 0)?).into())
    }
}

/// `N` bytes from an offset on; absent if they are not all there.
pub fn at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(level: c_int, kind: c_int, data: &[u8]) -> Vec<u8> {
        let mut bytes = (HEADER_BYTES + data.len()).to_ne_bytes().to_vec();
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(size_of::<usize>()), 0);
        bytes
    }

    proptest! {
        #[test]
        fn messages_come_back_as_they_were(written: Vec<(i32, i32, Vec<u8>)>) {
            let bytes: Vec<u8> = written.iter().flat_map(|(level, kind, data)| encoded(*level, *kind, data)).collect();
            let read: Vec<_> = control_messages(&bytes).map(|one| (one.level, one.kind, one.data.to_vec())).collect();
            prop_assert_eq!(read, written);
        }

        #[test]
        fn any_bytes_are_read_to_an_end(bytes: Vec<u8>) {
            let read: usize = control_messages(&bytes).map(|message| HEADER_BYTES + message.data.len()).sum();
            prop_assert!(read <= bytes.len());
            socket_address(&bytes);
            time_unix_ns(&bytes);
            hop_limit(&bytes);
            packet_destination(libc::SOL_IP, &bytes);
            packet_destination(libc::SOL_IPV6, &bytes);
        }
    }

    #[test]
    fn a_length_below_the_header_ends_the_list() {
        assert_eq!(control_messages(&[0; 64]).next(), None);
    }

    #[test]
    fn addresses_are_read_in_network_order() {
        let mut bytes = vec![2, 0, 0x14, 0xb4, 192, 0, 2, 7];
        bytes[..2].copy_from_slice(&2_u16.to_ne_bytes());
        assert_eq!(socket_address(&bytes), Some("192.0.2.7:5300".parse().unwrap()));
        assert_eq!(socket_address(&bytes[..7]), None);
    }
}
