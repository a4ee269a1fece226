//! A source's datagrams on their way to the kernel, many at once.

use std::{
    io::{self, IoSlice},
    net::UdpSocket,
};

use rustix::{
    io::Errno,
    net::{MMsgHdr, SendAncillaryBuffer, SendFlags, send, sendmmsg},
};

use crate::defaults::{BURST_MAX, MESSAGES_MAX_BYTES, SEGMENTS_MAX_BYTES};

/// The packet format of a flow: what is written into its datagrams.
pub trait PacketFormat {
    /// Writes what is the same in all of them.
    fn fill(&self, datagram: &mut [u8]);
    /// Writes numbers, counted from 0, and the time now to datagrams that go at once.
    fn number<'a>(&self, datagrams: impl Iterator<Item = (u64, &'a mut [u8])>);
}

/// The datagrams of one flow, as many as go at once, one behind the other.
pub struct Outgoing<F> {
    bytes: Vec<u8>,
    length: usize,
    format: F,
    /// Whether the kernel cuts them apart (`UDP_SEGMENT`).
    segmented: bool,
    /// Number of the next one.
    pub next: u64,
}

/// How many datagrams of a length go to the kernel at once.
pub fn together(length: usize, segmented: bool) -> usize {
    let most = if segmented { SEGMENTS_MAX_BYTES } else { MESSAGES_MAX_BYTES };
    (most / length.max(1)).clamp(1, usize::try_from(BURST_MAX).unwrap_or(1))
}

/// Whether the kernel has no room: nothing is lost, and the same datagrams may be sent later.
pub fn is_refusal(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
        || error.raw_os_error() == Some(Errno::NOBUFS.raw_os_error())
        || error.raw_os_error() == Some(Errno::NOMEM.raw_os_error())
}

impl<F: PacketFormat> Outgoing<F> {
    /// Datagrams of `length` bytes, all of them alike but for number and time. `segmented`: the socket has the kernel cut
    /// them apart after so many bytes.
    #[must_use]
    pub fn new(format: F, length: usize, segmented: bool) -> Self {
        let mut bytes = vec![0; together(length, segmented) * length];
        bytes.chunks_exact_mut(length).for_each(|datagram| format.fill(datagram));
        Self { bytes, length, format, segmented, next: 0 }
    }

    /// Bytes of a datagram.
    pub fn length(&self) -> usize {
        self.length
    }

    /// How many can be sent at once.
    #[must_use]
    pub fn together(&self) -> usize {
        self.bytes.len() / self.length
    }

    /// Whether the kernel cuts them apart: until it fails to once.
    pub fn segmented(&self) -> bool {
        self.segmented
    }

    /// Hands up to `count` datagrams to the kernel; returns how many it took. What it did not take is not numbered.
    ///
    /// # Errors
    /// The error of `sendmsg` for the first of them.
    pub fn send(&mut self, socket: &UdpSocket, count: usize, flags: SendFlags) -> io::Result<usize> {
        let count = count.min(self.together());
        self.format.number((self.next..).zip(self.bytes.chunks_exact_mut(self.length)).take(count));
        let mut handed = self.hand_over(socket, count, flags);
        if self.segmented && matches!(handed, Err(Errno::IO | Errno::INVAL | Errno::MSGSIZE)) {
            // A route that changed may lead to a device that cannot, or to packets that are too small even for one.
            self.segmented = false;
            let _ = sys::set_udp_segment(socket, 0);
            handed = self.hand_over(socket, count, flags);
        }
        if matches!(handed, Err(Errno::MSGSIZE)) {
            // A router reported a smaller MTU: the kernel fragments from now on, and reports that once.
            handed = self.hand_over(socket, count, flags);
        }
        let sent = handed?;
        self.next += sent as u64;
        Ok(sent)
    }

    fn hand_over(&self, socket: &UdpSocket, count: usize, flags: SendFlags) -> Result<usize, Errno> {
        if count == 1 {
            send(socket, &self.bytes[..self.length], flags).map(|_| 1)
        } else if self.segmented {
            // All or none.
            send(socket, &self.bytes[..count * self.length], flags).map(|_| count)
        } else {
            self.send_each(socket, count, flags)
        }
    }

    fn send_each(&self, socket: &UdpSocket, count: usize, flags: SendFlags) -> Result<usize, Errno> {
        let parts: Vec<[IoSlice<'_>; 1]> =
            self.bytes.chunks_exact(self.length).take(count).map(|datagram| [IoSlice::new(datagram)]).collect();
        let mut controls: Vec<_> = parts.iter().map(|_| SendAncillaryBuffer::default()).collect();
        let mut messages: Vec<_> =
            parts.iter().zip(&mut controls).map(|(part, control)| MMsgHdr::new(part, control)).collect();
        sendmmsg(socket, &mut messages, flags)
    }
}

#[cfg(test)]
mod tests {
    use wire::{DatagramHeader, DatagramKind};

    use super::*;
    use crate::{origin::Origin, udp::packet_format::Ours};

    fn sent_as(segmented: bool) {
        let (source, sink) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        source.connect(sink.local_addr().unwrap()).unwrap();
        if segmented {
            sys::set_udp_segment(&source, 100).unwrap();
        }
        let mut outgoing = Outgoing::new(Ours::new(7, 9, Origin::now()), 100, segmented);
        assert_eq!(outgoing.send(&source, 3, SendFlags::empty()).unwrap(), 3);
        assert_eq!(outgoing.send(&source, 1, SendFlags::empty()).unwrap(), 1);
        for sequence in 0..4 {
            let mut datagram = [0; 200];
            assert_eq!(sink.recv(&mut datagram).unwrap(), 100);
            let header = DatagramHeader::decode(&datagram).unwrap();
            assert_eq!((header.kind, header.flow, header.tag), (DatagramKind::Data, 7, 9));
            assert_eq!(header.sequence, sequence);
            assert!(header.sent_unix_ns > 0);
        }
    }

    #[test]
    fn datagrams_are_numbered_one_by_one_and_cut_apart_by_the_kernel() {
        sent_as(false);
        sent_as(true);
    }

    #[test]
    fn what_the_kernel_does_not_cut_is_sent_one_by_one_under_the_same_numbers() {
        let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
        let source = UdpSocket::bind("127.0.0.1:0").unwrap();
        source.connect(sink.local_addr().unwrap()).unwrap();
        // Without the socket option nothing is cut, and 64 of these are too large for one datagram.
        let mut outgoing =
            Outgoing { bytes: vec![0; 64 * 1400], ..Outgoing::new(Ours::new(0, 0, Origin::now()), 1400, true) };
        let sent = outgoing.send(&source, 64, SendFlags::empty()).unwrap();
        assert_eq!((sent, outgoing.next, outgoing.segmented), (64, 64, false));
        let mut datagram = [0; 2000];
        assert_eq!(sink.recv(&mut datagram).unwrap(), 1400);
    }

    #[test]
    fn what_is_sent_together_fits_one_buffer() {
        assert_eq!((together(1470, true), together(1470, false)), (44, 64));
        assert_eq!((together(64, true), together(65_507, true), together(65_507, false)), (64, 1, 4));
    }
}
