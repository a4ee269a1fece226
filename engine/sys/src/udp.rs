//! What UDP sockets can beside sending and receiving one datagram at a time.

use std::{io, os::fd::AsRawFd, os::raw::c_int};

/// Where `SO_MEMINFO` says how many datagrams a socket has dropped (`SK_MEMINFO_DROPS` of `linux/sock_diag.h`).
const DROPS: usize = 8;
const MEMORY_FIGURES: usize = 9;

/// Makes the kernel cut what is sent at once into datagrams of `bytes` (`UDP_SEGMENT`, see `udp(7)`); 0 ends it.
///
/// # Errors
/// What `setsockopt` says: the kernel does not have it (before Linux 4.18).
pub fn set_udp_segment(socket: &impl AsRawFd, bytes: u16) -> io::Result<()> {
    set(socket, libc::UDP_SEGMENT, bytes.into())
}

/// Lets the kernel hand over several datagrams of one flow at once (`UDP_GRO`, see `udp(7)`).
///
/// # Errors
/// What `setsockopt` says: the kernel does not have it (before Linux 5.0).
pub fn set_udp_gro(socket: &impl AsRawFd, on: bool) -> io::Result<()> {
    set(socket, libc::UDP_GRO, on.into())
}

/// Whether the kernel does (`UDP_GRO`).
///
/// # Errors
/// What `getsockopt` says: the kernel does not have it, or does not tell (before Linux 5.12).
pub fn udp_gro(socket: &impl AsRawFd) -> io::Result<bool> {
    let mut on: c_int = 0;
    let mut length = libc::socklen_t::try_from(size_of_val(&on)).map_err(io::Error::other)?;
    // SAFETY: the pointers are to a live int and to its size in bytes.
    let result = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_UDP, libc::UDP_GRO, (&raw mut on).cast(), &raw mut length)
    };
    if result == 0 { Ok(on != 0) } else { Err(io::Error::last_os_error()) }
}

/// How many datagrams a socket has dropped so far, most often because its buffer was full (`SO_MEMINFO`). With `UDP_GRO`
/// several that were dropped together count once.
///
/// # Errors
/// What `getsockopt` says: the kernel does not have it (before Linux 4.12).
pub fn socket_drops(socket: &impl AsRawFd) -> io::Result<u32> {
    let mut figures = [0_u32; MEMORY_FIGURES];
    let mut length = libc::socklen_t::try_from(size_of_val(&figures)).map_err(io::Error::other)?;
    // SAFETY: the pointers are to live figures and their size in bytes.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            figures.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(figures[DROPS])
}

fn set(socket: &impl AsRawFd, name: c_int, value: c_int) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<c_int>()).map_err(io::Error::other)?;
    // SAFETY: the pointer is to a live int and the length is its size.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_UDP, name, (&raw const value).cast(), length) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    #[test]
    fn a_full_socket_tells_what_it_dropped() {
        let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(socket_drops(&sink).unwrap(), 0);
        let source = UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..2000 {
            source.send_to(&[0; 10_000], sink.local_addr().unwrap()).unwrap();
        }
        assert!(socket_drops(&sink).unwrap() > 0);
    }
}
