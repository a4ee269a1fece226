//! Many datagrams with one system call (`recvmmsg(2)`), with what the kernel says of each.

use std::{
    error::Error,
    io,
    mem::MaybeUninit,
    os::{
        fd::{AsRawFd, RawFd},
        raw::{c_int, c_uint, c_void},
    },
    ptr,
};

use crate::{
    control_message::{at, control_messages, time_unix_ns},
    touch,
};

/// Room for the time of arrival and the size of segments, in bytes.
const CONTROL_BYTES: usize = 128;

/// Buffers for datagrams of a connected socket. Memory that no datagram has reached is not used, unless it was touched.
pub struct ReceiveBatch {
    bytes: Vec<u8>,
    room: usize,
    controls: Vec<[u8; CONTROL_BYTES]>,
    lengths: Vec<(usize, usize)>,
}

/// What one buffer of a [`ReceiveBatch`] holds.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// One datagram, or several that the kernel put together; cut off at the room that there was.
    pub bytes: &'a [u8],
    /// Size of each of several datagrams, the last of which may be shorter; absent if it is one.
    pub segment_bytes: Option<usize>,
    /// When the kernel got it, in nanoseconds since 1970 UTC, after [`crate::Ancillary::Arrival`].
    pub arrived_unix_ns: Option<i64>,
}

impl ReceiveBatch {
    /// Room for `count` buffers of `room` bytes.
    #[must_use]
    pub fn new(count: usize, room: usize) -> Self {
        let (controls, lengths) = (vec![[0; CONTROL_BYTES]; count], Vec::with_capacity(count));
        Self { bytes: vec![0; count * room], room, controls, lengths }
    }

    /// Of all buffers together.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Has the kernel find the memory of all buffers now: [`touch`].
    pub fn touch(&mut self) {
        touch(&mut self.bytes);
    }

    /// Waits for a datagram as long as the socket's timeout says, and takes those that are there with it.
    ///
    /// # Errors
    /// What `recvmmsg` says: `WouldBlock` if none arrived in time; what an ICMP message said of an earlier datagram.
    pub fn receive(&mut self, socket: &impl AsRawFd) -> io::Result<impl Iterator<Item = Received<'_>>> {
        self.lengths.clear();
        let count = self.fill(socket.as_raw_fd())?;
        debug_assert_eq!(count, self.lengths.len());
        let buffers = self.bytes.chunks_exact(self.room).zip(&self.controls).zip(&self.lengths);
        Ok(buffers.map(|((bytes, control), &(length, control_length))| {
            let mut received =
                Received { bytes: &bytes[..length.min(bytes.len())], segment_bytes: None, arrived_unix_ns: None };
            for message in control_messages(&control[..control_length.min(CONTROL_BYTES)]) {
                match (message.level, message.kind) {
                    (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) => received.arrived_unix_ns = time_unix_ns(message.data),
                    (libc::SOL_UDP, libc::UDP_GRO) => {
                        let size = at(message.data, 0).map(c_int::from_ne_bytes);
                        received.segment_bytes =
                            size.and_then(|size| usize::try_from(size).ok()).filter(|&size| size > 0);
                    }
                    _ => {}
                }
            }
            received
        }))
    }

    fn fill(&mut self, socket: RawFd) -> io::Result<usize> {
        let control_bytes = converted(CONTROL_BYTES)?;
        let mut parts: [MaybeUninit<libc::iovec>; RECEIVE_BATCH_MAX] =
            [const { MaybeUninit::uninit() }; RECEIVE_BATCH_MAX];
        let mut messages: [MaybeUninit<libc::mmsghdr>; RECEIVE_BATCH_MAX] =
            [const { MaybeUninit::uninit() }; RECEIVE_BATCH_MAX];
        let mut ready: c_uint = 0;
        let buffers = self.bytes.chunks_exact_mut(self.room).zip(&mut self.controls);
        for ((bytes, control), (part, message)) in buffers.zip(parts.iter_mut().zip(&mut messages)) {
            let part = part.write(libc::iovec { iov_base: bytes.as_mut_ptr().cast::<c_void>(), iov_len: bytes.len() });
            // SAFETY: a mmsghdr of zeroes is a valid one that refers to nothing.
            let message = message.write(unsafe { MaybeUninit::zeroed().assume_init() });
            message.msg_hdr.msg_iov = part;
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_control = control.as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = control_bytes;
            ready += 1;
        }
        // SAFETY: the first `ready` headers are initialised, and each points to live memory of the length beside it, which
        // nobody else uses meanwhile. The system call itself: the C library's may not hand over more than one at once.
        let count = unsafe {
            libc::syscall(
                libc::SYS_recvmmsg,
                socket,
                messages.as_mut_ptr(),
                ready,
                libc::MSG_WAITFORONE,
                ptr::null_mut::<libc::timespec>(),
            )
        };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        for message in messages.iter().take(count) {
            // SAFETY: the kernel fills only headers that it was given, all of which are initialised.
            let message = unsafe { message.assume_init_ref() };
            self.lengths.push((converted(message.msg_len)?, converted(message.msg_hdr.msg_controllen)?));
        }
        Ok(count)
    }
}

/// Most buffers of a batch.
pub const RECEIVE_BATCH_MAX: usize = 64;

/// A length in the type that this C library has for it.
fn converted<A, B: TryFrom<A, Error: Error + Send + Sync + 'static>>(length: A) -> io::Result<B> {
    B::try_from(length).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::{net::UdpSocket, time::Duration};

    use super::*;
    use crate::{Ancillary, enable_ancillary, set_udp_gro, set_udp_segment};

    fn pair() -> (UdpSocket, UdpSocket) {
        let (source, sink) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        source.connect(sink.local_addr().unwrap()).unwrap();
        sink.connect(source.local_addr().unwrap()).unwrap();
        sink.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        (source, sink)
    }

    #[test]
    fn several_datagrams_come_at_once_and_what_is_too_long_is_cut() {
        let (source, sink) = pair();
        enable_ancillary(&sink, Ancillary::Arrival, false).unwrap();
        for length in [1, 40, 50] {
            source.send(&vec![7; length]).unwrap();
        }
        let mut batch = ReceiveBatch::new(8, 41);
        let received: Vec<_> =
            batch.receive(&sink).unwrap().map(|one| (one.bytes.len(), one.arrived_unix_ns)).collect();
        assert_eq!(received.iter().map(|one| one.0).collect::<Vec<_>>(), [1, 40, 41]);
        assert!(received.iter().all(|one| one.1.is_some_and(|time| time > 0)));
    }

    #[test]
    fn what_the_kernel_put_together_comes_with_its_segments() {
        let (source, sink) = pair();
        set_udp_segment(&source, 100).unwrap();
        set_udp_gro(&sink, true).unwrap();
        source.send(&[7; 450]).unwrap();
        let mut batch = ReceiveBatch::new(2, 1 << 16);
        let received: Vec<_> = batch.receive(&sink).unwrap().map(|one| (one.bytes.len(), one.segment_bytes)).collect();
        assert_eq!(received, [(450, Some(100))]);
    }

    #[test]
    fn nothing_that_comes_is_an_error_in_time() {
        let (_source, sink) = pair();
        sink.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let error = ReceiveBatch::new(1, 10).receive(&sink).map(Iterator::count).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
}
