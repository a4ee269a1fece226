//! What a connection's peer has not acknowledged yet.

use std::{ffi::c_int, io, os::fd::AsRawFd};

/// How many bytes were written to a TCP connection that its peer's kernel has not acknowledged (`SIOCOUTQ`, see `tcp(7)`):
/// `TCP_INFO` tells those that were not sent since Linux 4.6 only.
///
/// # Errors
/// What `ioctl` says.
pub fn unacknowledged_bytes(socket: &impl AsRawFd) -> io::Result<u64> {
    let mut bytes: c_int = 0;
    // SAFETY: the pointer is to a live int, which this request writes. It has the number that terminals have for theirs.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    u64::try_from(bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{TcpListener, TcpStream},
        time::{Duration, Instant},
    };

    use super::*;

    #[test]
    fn what_a_full_peer_has_no_room_for_is_not_acknowledged_until_it_reads() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut source = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut sink, _) = listener.accept().unwrap();
        assert_eq!(unacknowledged_bytes(&source).unwrap(), 0);
        source.set_nonblocking(true).unwrap();
        let (block, mut written) = (vec![0; 65_536], 0);
        while let Ok(count) = source.write(&block) {
            written += count;
        }
        assert!(unacknowledged_bytes(&source).unwrap() > 0);
        sink.read_exact(&mut vec![0; written]).unwrap();
        let until = Instant::now() + Duration::from_secs(5);
        while unacknowledged_bytes(&source).unwrap() > 0 {
            assert!(Instant::now() < until, "all was read");
        }
    }
}
