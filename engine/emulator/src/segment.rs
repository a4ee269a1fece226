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
