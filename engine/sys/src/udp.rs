use std::{io, os::fd::AsRawFd};

/// Makes the kernel cut what is sent at once into datagrams of `bytes` (`UDP_SEGMENT`, see `udp(7)`); 0 ends it.
///
/// # Errors
/// What `setsockopt` says: the kernel does not have it (before Linux 4.18).
pub fn set_udp_segment(socket: &impl AsRawFd, bytes: u16) -> io::Result<()> {
    let value = libc::c_int::from(bytes);
    let length = libc::socklen_t::try_from(size_of::<libc::c_int>()).map_err(io::Error::other)?;
    // SAFETY: the pointer is to a live int and the length is its size.
    let result = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_UDP, libc::UDP_SEGMENT, (&raw const value).cast(), length)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
