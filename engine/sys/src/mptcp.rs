//! `MPTCP_FULL_INFO`: what the kernel says of a connection over several paths and of each of its subflows, at one moment.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::fd::AsRawFd,
};

use crate::{TCP_INFO_BYTES, TcpInfo};

const SOL_MPTCP: libc::c_int = 284;
const MPTCP_INFO: libc::c_int = 1;
const MPTCP_FULL_INFO: libc::c_int = 4;
/// Of `struct mptcp_info` (`include/uapi/linux/mptcp.h`, Linux 6.18).
const CONNECTION_BYTES: usize = 96;
/// Of `struct mptcp_subflow_info`: an id, and two `sockaddr_storage`.
const SUBFLOW_BYTES: usize = 264;
const LOCAL_AT: usize = 8;
const REMOTE_AT: usize = LOCAL_AT + 128;
/// More than the kernel makes of one connection.
const SUBFLOWS_MAX: usize = 16;
const FELL_BACK: u32 = 1;

/// A connection over several paths, and its subflows.
#[derive(Clone, Debug)]
pub struct MptcpInfo {
    /// It has become plain TCP.
    pub fell_back: bool,
    /// By what the host's path manager knows the connection.
    pub token: u32,
    /// Payload bytes sent to the peer, each counted once.
    pub bytes_sent: u64,
    /// Payload bytes received from the peer, in order.
    pub bytes_received: u64,
    /// Payload bytes that MPTCP itself sent once more, on any subflow, since the first one lost or delayed them.
    pub bytes_reinjected: u64,
    /// Payload bytes that the peer has acknowledged for the whole connection.
    pub bytes_acked: u64,
    /// Its subflows, as many as there are at this moment.
    pub subflows: Vec<Subflow>,
}

/// One of the TCP connections that a connection over several paths consists of.
#[derive(Clone, Copy, Debug)]
pub struct Subflow {
    /// Unique within its connection: 1 is the first one.
    pub id: u32,
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// What the kernel says of it.
    pub tcp_info: TcpInfo,
}

#[repr(C)]
struct FullInfo {
    size_tcpinfo_kernel: u32,
    size_tcpinfo_user: u32,
    size_sfinfo_kernel: u32,
    size_sfinfo_user: u32,
    num_subflows: u32,
    size_arrays_user: u32,
    subflow_info: u64,
    tcp_info: u64,
    connection: [u8; CONNECTION_BYTES],
}

/// Reads all of a connection; `None` of one that was plain TCP from the start, or has become it.
///
/// # Errors
/// What `getsockopt` says; [`io::ErrorKind::Unsupported`] of a kernel before 6.5, which tells no subflows so.
pub fn mptcp_info(socket: &impl AsRawFd) -> io::Result<Option<MptcpInfo>> {
    let mut tcp_infos = [0; TCP_INFO_BYTES * SUBFLOWS_MAX];
    let mut subflows = [0; SUBFLOW_BYTES * SUBFLOWS_MAX];
    let full = match full_info(socket, &mut tcp_infos, &mut subflows) {
        Ok(full) => full,
        Err(error) if is_unknown(&error) => return unknown(socket),
        Err(error) => return Err(error),
    };
    let count = full.num_subflows as usize;
    let found = elements(&subflows, full.size_sfinfo_user, count);
    let found = found.zip(elements(&tcp_infos, full.size_tcpinfo_user, count));
    Ok(Some(connection(&full.connection, found.filter_map(|(ends, info)| subflow(ends, info)).collect())))
}

/// Has the kernel fill two arrays, of [`SUBFLOWS_MAX`] elements each.
fn full_info(socket: &impl AsRawFd, tcp_infos: &mut [u8], subflows: &mut [u8]) -> io::Result<FullInfo> {
    let mut full = FullInfo {
        size_tcpinfo_kernel: 0,
        size_tcpinfo_user: size(tcp_infos.len() / SUBFLOWS_MAX)?,
        size_sfinfo_kernel: 0,
        size_sfinfo_user: size(subflows.len() / SUBFLOWS_MAX)?,
        num_subflows: 0,
        size_arrays_user: size(SUBFLOWS_MAX)?,
        subflow_info: subflows.as_mut_ptr() as u64,
        tcp_info: tcp_infos.as_mut_ptr() as u64,
        connection: [0; CONNECTION_BYTES],
    };
    // SAFETY: `full` says where both arrays are, of how many elements and of which size; all of it outlives the call.
    unsafe { get(socket, MPTCP_FULL_INFO, (&raw mut full).cast(), size_of::<FullInfo>()) }?;
    Ok(full)
}

/// The elements of an array as the kernel has filled it. It says how far apart they are: of a kernel whose structure is
/// shorter than the room for it, no further than that is long.
fn elements(array: &[u8], apart: u32, count: usize) -> impl Iterator<Item = &[u8]> {
    array.chunks_exact((apart as usize).max(1)).take(count)
}

/// A connection without subflows that can be told: plain TCP, or of an older kernel.
fn unknown(socket: &impl AsRawFd) -> io::Result<Option<MptcpInfo>> {
    let mut bytes = [0; CONNECTION_BYTES];
    // SAFETY: the pointer is to so many writable bytes.
    match unsafe { get(socket, MPTCP_INFO, bytes.as_mut_ptr().cast(), bytes.len()) } {
        Ok(_) => {
            Err(io::Error::new(io::ErrorKind::Unsupported, "the kernel tells no subflows; Linux 6.5 and later do"))
        }
        Err(error) if is_unknown(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// # Safety
/// `value` must point to `length` writable bytes, of the form that the option has.
unsafe fn get(
    socket: &impl AsRawFd,
    option: libc::c_int,
    value: *mut libc::c_void,
    length: usize,
) -> io::Result<libc::socklen_t> {
    let mut length = size(length)?;
    // SAFETY: as the caller promises; the kernel writes at most `length` bytes there.
    let result = unsafe { libc::getsockopt(socket.as_raw_fd(), SOL_MPTCP, option, value, &raw mut length) };
    if result == 0 { Ok(length) } else { Err(io::Error::last_os_error()) }
}

fn size(value: usize) -> io::Result<u32> {
    u32::try_from(value).map_err(io::Error::other)
}

fn is_unknown(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOPROTOOPT))
}

fn connection(bytes: &[u8; CONNECTION_BYTES], subflows: Vec<Subflow>) -> MptcpInfo {
    MptcpInfo {
        token: u32::from_ne_bytes(at(bytes, 12)),
        fell_back: u32::from_ne_bytes(at(bytes, 8)) & FELL_BACK != 0,
        bytes_reinjected: u64::from_ne_bytes(at(bytes, 48)),
        bytes_sent: u64::from_ne_bytes(at(bytes, 56)),
        bytes_received: u64::from_ne_bytes(at(bytes, 64)),
        bytes_acked: u64::from_ne_bytes(at(bytes, 72)),
        subflows,
    }
}

fn subflow(ends: &[u8], info: &[u8]) -> Option<Subflow> {
    let ends: &[u8; SUBFLOW_BYTES] = ends.first_chunk()?;
    let id = u32::from_ne_bytes(at(ends, 0));
    let (local, remote) = (socket_address(ends, LOCAL_AT)?, socket_address(ends, REMOTE_AT)?);
    Some(Subflow { id, local, remote, tcp_info: TcpInfo::from_bytes(info) })
}

/// From a `sockaddr_storage`; an IPv4 address within an IPv6 one is an IPv4 address.
fn socket_address(bytes: &[u8; SUBFLOW_BYTES], begin: usize) -> Option<SocketAddr> {
    let port = u16::from_be_bytes(at(bytes, begin + 2));
    let address: IpAddr = match i32::from(u16::from_ne_bytes(at(bytes, begin))) {
        libc::AF_INET => Ipv4Addr::from(at::<4>(bytes, begin + 4)).into(),
        libc::AF_INET6 => Ipv6Addr::from(at::<16>(bytes, begin + 8)).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

fn at<const N: usize>(bytes: &[u8], begin: usize) -> [u8; N] {
    let mut taken = [0; N];
    taken.copy_from_slice(&bytes[begin..begin + N]);
    taken
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{TcpListener, TcpStream},
        os::fd::OwnedFd,
    };

    use rustix::net::{AddressFamily, SocketType, connect, ipproto, listen, socket};

    use super::*;

    fn made() -> OwnedFd {
        socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::MPTCP)).unwrap()
    }

    fn connected(listener: &TcpListener) -> TcpStream {
        let stream = TcpStream::from(made());
        let address = listener.local_addr().unwrap();
        let to = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port());
        connect(&stream, &to).unwrap();
        stream
    }

    #[test]
    fn a_connection_has_one_subflow_and_counts_what_it_sent() {
        let socket = made();
        listen(&socket, 1).unwrap();
        let listener = TcpListener::from(socket);
        let mut source = connected(&listener);
        let (mut sink, _) = listener.accept().unwrap();
        source.write_all(&[7; 1000]).unwrap();
        sink.read_exact(&mut [0; 1000]).unwrap();
        let info = mptcp_info(&source).unwrap().unwrap();
        assert!(!info.fell_back);
        assert_eq!((info.bytes_sent, info.bytes_reinjected), (1000, 0));
        assert_ne!(info.token, 0);
        let [subflow] = &info.subflows[..] else { panic!("{info:?}") };
        assert_eq!(subflow.local, source.local_addr().unwrap());
        assert_eq!(subflow.remote, source.peer_addr().unwrap());
        assert_eq!(subflow.tcp_info.get("bytes_sent"), Some(1000));
        let received = mptcp_info(&sink).unwrap().unwrap();
        assert_eq!(received.bytes_received, 1000);
        assert_eq!(received.subflows[0].remote, source.local_addr().unwrap());
    }

    #[test]
    fn elements_are_as_far_apart_as_the_kernel_says() {
        let mut array = [0; TCP_INFO_BYTES * SUBFLOWS_MAX];
        array[..248].fill(1);
        array[248..496].fill(2);
        let found: Vec<&[u8]> = elements(&array, 248, 2).collect();
        assert_eq!(found, [&[1; 248][..], &[2; 248]]);
        assert_eq!(elements(&array, 276, 99).count(), SUBFLOWS_MAX);
    }

    #[test]
    fn a_kernel_says_how_far_apart_elements_are_where_there_is_room_for_more() {
        let socket = made();
        listen(&socket, 1).unwrap();
        let listener = TcpListener::from(socket);
        let source = connected(&listener);
        let (mut tcp_infos, mut subflows) = ([0; 1024 * SUBFLOWS_MAX], [0; SUBFLOW_BYTES * SUBFLOWS_MAX]);
        let full = full_info(&source, &mut tcp_infos, &mut subflows).unwrap();
        assert!(full.size_tcpinfo_kernel < 1024);
        assert_eq!(full.size_tcpinfo_user, full.size_tcpinfo_kernel);
        assert_eq!((full.size_sfinfo_user as usize, full.num_subflows), (SUBFLOW_BYTES, 1));
    }

    #[test]
    fn with_plain_tcp_at_the_other_end_it_has_fallen_back() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let source = connected(&listener);
        assert!(mptcp_info(&source).unwrap().is_none_or(|info| info.fell_back));
    }
}
