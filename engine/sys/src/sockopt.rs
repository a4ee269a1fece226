use std::{io, os::fd::AsRawFd};

/// Limits the rate the kernel sends at, in bytes per second (`SO_MAX_PACING_RATE`, see `socket(7)` and `tc-fq(8)`;
/// TCP paces by itself where the queueing discipline does not).
///
/// # Errors
/// What `setsockopt` says.
pub fn set_max_pacing_rate(socket: &impl AsRawFd, bytes_per_s: u64) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<u64>()).map_err(io::Error::other)?;
    // SAFETY: the pointer is to a live u64 and the length is its size.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const bytes_per_s).cast(),
            length,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
