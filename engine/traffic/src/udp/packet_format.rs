//! Packet formats of test datagrams: ours, and that of iperf3.

use iperf3::Counter;
use rustix::time::{ClockId, clock_gettime};
use wire::{DATAGRAM_HEADER_BYTES, DatagramHeader, DatagramKind};

use super::outgoing::PacketFormat;
use crate::origin::Origin;

/// Where our header has the number and the time of sending.
const CHANGING: std::ops::Range<usize> = 16..DATAGRAM_HEADER_BYTES;

/// The format between two engines.
pub struct Ours {
    header: DatagramHeader,
    origin: Origin,
}

/// iperf3's format: numbers from 1, the time of sending by the monotonic clock, and a payload.
pub struct Iperf3<P> {
    /// How wide the numbers are.
    pub counter: Counter,
    /// What follows the header in each datagram; zeros beyond its end.
    pub payload: P,
}

impl Ours {
    /// That of a flow. Times of sending are those of the wall clock as it goes on from the origin, whatever it is set to.
    pub fn new(flow: u32, tag: u64, origin: Origin) -> Self {
        let header = DatagramHeader { kind: DatagramKind::Data, flow, tag, sequence: 0, sent_unix_ns: 0 };
        Self { header, origin }
    }
}

impl PacketFormat for Ours {
    fn fill(&self, datagram: &mut [u8]) {
        datagram[..DATAGRAM_HEADER_BYTES].copy_from_slice(&self.header.encode());
    }

    fn number<'a>(&self, datagrams: impl Iterator<Item = (u64, &'a mut [u8])>) {
        let sent_unix_ns = self.origin.steady_unix_ns();
        for (sequence, datagram) in datagrams {
            let header = DatagramHeader { sequence, sent_unix_ns, ..self.header };
            datagram[CHANGING].copy_from_slice(&header.encode()[CHANGING]);
        }
    }
}

impl<P: AsRef<[u8]>> PacketFormat for Iperf3<P> {
    fn fill(&self, datagram: &mut [u8]) {
        let length = self.payload.as_ref().len().min(datagram.len());
        datagram[..length].copy_from_slice(&self.payload.as_ref()[..length]);
    }

    fn number<'a>(&self, datagrams: impl Iterator<Item = (u64, &'a mut [u8])>) {
        let sent_us = monotonic_us();
        for (number, datagram) in datagrams {
            iperf3::DatagramHeader { sent_us, sequence: number + 1 }.write(self.counter, datagram);
        }
    }
}

fn monotonic_us() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_of_iperf3_are_numbered_from_1_in_front_of_their_payload() {
        for counter in [Counter::Narrow, Counter::Wide] {
            let format = Iperf3 { counter, payload: [7; 40] };
            let mut bytes = [0; 3 * 50];
            bytes.chunks_exact_mut(50).for_each(|datagram| format.fill(datagram));
            format.number((10..).zip(bytes.chunks_exact_mut(50)));
            let headers: Vec<_> = bytes
                .chunks_exact(50)
                .map(|datagram| iperf3::DatagramHeader::read(counter, datagram).unwrap())
                .collect();
            assert_eq!(headers.iter().map(|header| header.sequence).collect::<Vec<_>>(), [11, 12, 13]);
            assert!(headers.iter().all(|header| header.sent_us > 0 && header.sent_us == headers[0].sent_us));
            assert!(bytes.chunks_exact(50).all(|datagram| datagram[16..40] == [7; 24] && datagram[40..] == [0; 10]));
        }
    }
}
