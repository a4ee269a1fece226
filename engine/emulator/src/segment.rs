//! Cuts a part out of a super-packet: headers as the sender's kernel would have written them (RFC 791, RFC 8200,
//! RFC 9293, RFC 768), payload left where it is.

use std::ops::Range;

use sys::VNET_HEADER_BYTES;

use crate::{
    defaults::SUPER_HEADER_MAX_BYTES,
    packet::{GSO_ECN, GSO_NONE, Packet, Super, Transport, VnetHeader, be16},
};

const TCP_FIN: u8 = 0x01;
const TCP_PSH: u8 = 0x08;
const TCP_CWR: u8 = 0x80;

/// New headers of a part; its payload is a range of the whole.
pub struct Cut {
    head: [u8; VNET_HEADER_BYTES + SUPER_HEADER_MAX_BYTES],
    head_bytes: usize,
    /// Within what was read.
    pub payload: Range<usize>,
}

impl Cut {
    /// Virtio, IP and transport header.
    pub fn head(&self) -> &[u8] {
        &self.head[..self.head_bytes]
    }
}

/// Cuts the segments `first..end` out of `read`, which [`Packet::parse`] has understood as `packet` with `parts`.
pub fn cut(read: &[u8], packet: &Packet, parts: Super, segments: Range<u32>) -> Cut {
    let header_bytes = usize::from(parts.header_bytes);
    let each = usize::from(parts.segment_payload_bytes);
    let [first, end] = [segments.start, segments.end].map(|index| index as usize);
    let head_bytes = VNET_HEADER_BYTES + header_bytes;
    let payload = head_bytes + first * each..read.len().min(head_bytes + end * each);

    let mut head = [0; VNET_HEADER_BYTES + SUPER_HEADER_MAX_BYTES];
    head[..head_bytes].copy_from_slice(&read[..head_bytes]);
    let (vnet, headers) = head[..head_bytes].split_at_mut(VNET_HEADER_BYTES);
    let place = Place {
        first: segments.start,
        is_last: segments.end == packet.segments(),
        skipped_bytes: segments.start * u32::from(parts.segment_payload_bytes),
        bytes: header_bytes + payload.len(),
    };
    write_ip(headers, &place);
    write_transport(headers, parts, &place, packet);
    let mut virtio = read.first_chunk().map_or_else(VnetHeader::default, |bytes| VnetHeader::read(*bytes));
    virtio.header_bytes = parts.header_bytes;
    if first > 0 {
        virtio.gso_type &= !GSO_ECN;
    }
    if end - first == 1 {
        virtio.gso_type = GSO_NONE;
        virtio.gso_bytes = 0;
    }
    vnet.copy_from_slice(&virtio.write());
    Cut { head, head_bytes, payload }
}

/// Where in the super-packet a part lies.
struct Place {
    first: u32,
    is_last: bool,
    skipped_bytes: u32,
    /// Of the part, with its headers.
    bytes: usize,
}

fn write_ip(headers: &mut [u8], place: &Place) {
    let bytes = low16(place.bytes);
    if headers[0] >> 4 == 6 {
        put16(headers, 4, bytes - 40);
        return;
    }
    put16(headers, 2, bytes);
    let identification = be16(headers, 4).wrapping_add(low16(place.first as usize));
    put16(headers, 4, identification);
    put16(headers, 10, 0);
    let header = usize::from(headers[0] & 0xf) * 4;
    let sum = (0..header).step_by(2).fold(0, |sum, at| ones_complement_sum(sum, be16(headers, at)));
    put16(headers, 10, !sum);
}

/// The checksum field holds the sum over the pseudo-header (`NEEDS_CSUM`), so only the length in it changes.
fn write_transport(headers: &mut [u8], parts: Super, place: &Place, packet: &Packet) {
    let start = usize::from(parts.transport_start);
    let was = low16(packet.bytes as usize - start);
    let now = low16(place.bytes - start);
    let checksum = start
        + match parts.transport {
            Transport::Tcp => 16,
            Transport::Udp => 6,
        };
    let sum = ones_complement_sum(ones_complement_sum(be16(headers, checksum), !was), now);
    put16(headers, checksum, sum);
    match parts.transport {
        Transport::Udp => put16(headers, start + 4, now),
        Transport::Tcp => {
            let sequence = [0, 1, 2, 3].map(|at| headers[start + 4 + at]);
            let sequence = u32::from_be_bytes(sequence).wrapping_add(place.skipped_bytes);
            headers[start + 4..start + 8].copy_from_slice(&sequence.to_be_bytes());
            if !place.is_last {
                headers[start + 13] &= !(TCP_FIN | TCP_PSH);
            }
            if place.first > 0 {
                headers[start + 13] &= !TCP_CWR;
            }
        }
    }
}

/// RFC 1071.
fn ones_complement_sum(a: u16, b: u16) -> u16 {
    let (sum, carried) = a.overflowing_add(b);
    sum + u16::from(carried)
}

fn put16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// No packet is longer than 65 535 bytes.
fn low16(value: usize) -> u16 {
    u16::try_from(value & 0xffff).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::samples::{IDENTIFICATION, SEQUENCE, Sample, pseudo_header_sum};

    fn part(read: &[u8], segments: Range<u32>) -> Vec<u8> {
        let packet = Packet::parse(read).unwrap();
        let cut = cut(read, &packet, packet.division.unwrap(), segments);
        [cut.head(), &read[cut.payload.clone()]].concat()
    }

    fn any_super() -> impl Strategy<Value = Sample> {
        let shape = (any::<bool>(), any::<bool>(), 1..2000_u16, 2..30_usize, 0..2000_usize, any::<u8>(), 0..=10_usize);
        shape.prop_map(|(ipv6, udp, gso_bytes, segments, less, tcp_flags, option_words)| {
            let gso = usize::from(gso_bytes);
            let payload_bytes = gso * segments - less % gso;
            Sample { ipv6, udp, payload_bytes, gso_bytes, tcp_flags, tcp_option_bytes: option_words * 4 }
        })
    }

    proptest! {
        #[test]
        fn parts_have_all_of_the_payload_in_order(sample in any_super(), at in any::<(u32, u32)>()) {
            let read = sample.read();
            let packet = Packet::parse(&read).unwrap();
            prop_assume!(packet.division.is_some());
            let all = packet.segments();
            let [a, b] = { let mut at = [at.0 % (all + 1), at.1 % (all + 1)]; at.sort_unstable(); at };
            let header = VNET_HEADER_BYTES + usize::from(packet.division.unwrap().header_bytes);
            let mut payload: Vec<u8> = Vec::new();
            for segments in [0..a, a..b, b..all].into_iter().filter(|segments| !segments.is_empty()) {
                let bytes = part(&read, segments.clone());
                let shape = Packet::parse(&bytes).unwrap();
                prop_assert_eq!(shape.segments(), segments.end - segments.start);
                for (index, of_whole) in segments.enumerate() {
                    let index = u32::try_from(index).unwrap();
                    prop_assert_eq!(shape.segment_bytes(index), packet.segment_bytes(of_whole));
                    if shape.segments() > 1 {
                        // Cut from a part or from the whole, a segment is the same.
                        prop_assert_eq!(part(&bytes, index..index + 1), part(&read, of_whole..of_whole + 1));
                    }
                }
                payload.extend(&bytes[header..]);
            }
            prop_assert_eq!(&payload[..], &read[header..]);
        }

        #[test]
        fn every_segment_has_the_headers_it_would_have_had_alone(sample in any_super()) {
            let read = sample.read();
            let packet = Packet::parse(&read).unwrap();
            prop_assume!(packet.division.is_some());
            let start = usize::from(packet.division.unwrap().transport_start);
            for index in 0..packet.segments() {
                let bytes = part(&read, index..index + 1);
                let (virtio, ip) = bytes.split_at(VNET_HEADER_BYTES);
                let virtio = VnetHeader::read(virtio.try_into().unwrap());
                prop_assert_eq!((virtio.flags, virtio.gso_type, virtio.gso_bytes), (1, GSO_NONE, 0));
                let checksum = start + usize::from(virtio.checksum_offset);
                let length = ip.len() - start;
                // Two representations of zero: 0xffff is what a sum that is not empty gives.
                let kept = be16(ip, checksum) % 0xffff;
                prop_assert_eq!(kept, pseudo_header_sum(ip, start, length) % 0xffff);
                if sample.ipv6 {
                    prop_assert_eq!(usize::from(be16(ip, 4)), ip.len() - 40);
                } else {
                    prop_assert_eq!(usize::from(be16(ip, 2)), ip.len());
                    prop_assert_eq!(be16(ip, 4), IDENTIFICATION.wrapping_add(low16(index as usize)));
                    prop_assert_eq!(crate::samples::sum(&ip[..20]), 0xffff);
                }
                if sample.udp {
                    prop_assert_eq!(usize::from(be16(ip, start + 4)), length);
                } else {
                    let sequence = u32::from_be_bytes(ip[start + 4..start + 8].try_into().unwrap());
                    prop_assert_eq!(sequence, SEQUENCE.wrapping_add(index * u32::from(sample.gso_bytes)));
                    let is_last = index + 1 == packet.segments();
                    let dropped = if is_last { 0 } else { 0x09 } | if index > 0 { 0x80 } else { 0 };
                    prop_assert_eq!(ip[start + 13], sample.tcp_flags & !dropped);
                }
            }
        }
    }

    #[test]
    fn only_the_part_with_the_first_segment_says_that_it_carries_cwr() {
        let read = Sample { tcp_flags: 0x90, ..Sample::tcp(4000, 1000) }.read();
        let kind = |segments| part(&read, segments)[1];
        assert_eq!(kind(0..2), 0x81);
        assert_eq!(kind(2..4), 0x01);
    }
}
