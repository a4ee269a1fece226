//! What a TUN device gave: one IP packet, or a super-packet that stands for many.

use sys::VNET_HEADER_BYTES;

use crate::defaults::SUPER_HEADER_MAX_BYTES;

// From `linux/virtio_net.h`.
pub const NEEDS_CHECKSUM: u8 = 1;
pub const GSO_NONE: u8 = 0;
pub const GSO_TCPV4: u8 = 1;
pub const GSO_TCPV6: u8 = 4;
pub const GSO_UDP_L4: u8 = 5;
/// Stands beside the type: the packet's first segment carries CWR (RFC 3168).
pub const GSO_ECN: u8 = 0x80;

const TCP_HEADER_BYTES: usize = 20;
const UDP_HEADER_BYTES: usize = 8;

/// `struct virtio_net_hdr`: what the kernel says about the packet behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VnetHeader {
    pub flags: u8,
    pub gso_type: u8,
    pub header_bytes: u16,
    pub gso_bytes: u16,
    /// From the start of the packet.
    pub checksum_start: u16,
    /// From `checksum_start`.
    pub checksum_offset: u16,
}

impl VnetHeader {
    pub fn read(bytes: [u8; VNET_HEADER_BYTES]) -> Self {
        let number = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        Self {
            flags: bytes[0],
            gso_type: bytes[1],
            header_bytes: number(2),
            gso_bytes: number(4),
            checksum_start: number(6),
            checksum_offset: number(8),
        }
    }

    pub fn write(self) -> [u8; VNET_HEADER_BYTES] {
        let mut bytes = [0; VNET_HEADER_BYTES];
        bytes[0] = self.flags;
        bytes[1] = self.gso_type;
        let numbers = [self.header_bytes, self.gso_bytes, self.checksum_start, self.checksum_offset];
        for (place, number) in bytes[2..].chunks_exact_mut(2).zip(numbers) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
        bytes
    }
}

/// Which transport repeats its header in every segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    Tcp,
    Udp,
}

/// How a super-packet divides into segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Super {
    pub transport: Transport,
    /// Where the transport's header begins.
    pub transport_start: u16,
    /// IP and transport headers, which each segment has.
    pub header_bytes: u16,
    /// Payload of each segment but the last, which may have less.
    pub segment_payload_bytes: u16,
}

/// The shape of a packet, without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Of what was read, without the virtio header.
    pub bytes: u32,
    /// Set if it stands for more than one IP packet.
    pub division: Option<Super>,
}

impl Packet {
    /// Understands what was read from a device: a virtio header and a packet.
    ///
    /// `None` if it is no whole IP packet, or a super-packet of a kind that was not asked for.
    pub fn parse(read: &[u8]) -> Option<Self> {
        let (header, ip) = read.split_first_chunk::<VNET_HEADER_BYTES>()?;
        let header = VnetHeader::read(*header);
        let bytes = u32::from(declared_bytes(ip)?);
        if usize::try_from(bytes).ok()? != ip.len() {
            return None;
        }
        let transport = match (header.gso_type & !GSO_ECN, ip[0] >> 4) {
            (GSO_NONE, _) => return Some(Self { bytes, division: None }),
            (GSO_TCPV4, 4) | (GSO_TCPV6, 6) => Transport::Tcp,
            (GSO_UDP_L4, _) => Transport::Udp,
            _ => return None,
        };
        let division = divide(header, ip, transport)?;
        let whole = ip.len() - usize::from(division.header_bytes) <= usize::from(division.segment_payload_bytes);
        Some(Self { bytes, division: (!whole).then_some(division) })
    }

    /// IP packets that this is.
    pub fn segments(&self) -> u32 {
        match self.division {
            None => 1,
            Some(parts) => self.payload_bytes(parts).div_ceil(u32::from(parts.segment_payload_bytes)),
        }
    }

    /// Bytes of one of its IP packets, with its own headers.
    pub fn segment_bytes(&self, index: u32) -> u32 {
        let Some(parts) = self.division else { return self.bytes };
        let each = u32::from(parts.segment_payload_bytes);
        let rest = self.payload_bytes(parts).saturating_sub(index * each);
        u32::from(parts.header_bytes) + rest.min(each)
    }

    fn payload_bytes(&self, parts: Super) -> u32 {
        self.bytes - u32::from(parts.header_bytes)
    }
}

/// What the IP header says the packet's length is.
fn declared_bytes(ip: &[u8]) -> Option<u16> {
    match ip.first()? >> 4 {
        4 if ip.len() >= 20 => Some(be16(ip, 2)),
        6 if ip.len() >= 40 => be16(ip, 4).checked_add(40),
        _ => None,
    }
}

fn divide(header: VnetHeader, ip: &[u8], transport: Transport) -> Option<Super> {
    let transport_start = usize::from(header.checksum_start);
    let (checksum_offset, least) = match transport {
        Transport::Tcp => (16, TCP_HEADER_BYTES),
        Transport::Udp => (6, UDP_HEADER_BYTES),
    };
    let ip_header = if ip[0] >> 4 == 4 { usize::from(ip[0] & 0xf) * 4 } else { 40 };
    let behind_ip = ip_header >= 20 && transport_start >= ip_header && transport_start + least < ip.len();
    let partial = header.flags & NEEDS_CHECKSUM != 0 && header.checksum_offset == checksum_offset;
    if !behind_ip || !partial || header.gso_bytes == 0 {
        return None;
    }
    let transport_header = match transport {
        Transport::Tcp => usize::from(ip[transport_start + 12] >> 4) * 4,
        Transport::Udp => UDP_HEADER_BYTES,
    };
    let header_bytes = transport_start + transport_header;
    let sound = transport_header >= least && header_bytes <= SUPER_HEADER_MAX_BYTES && header_bytes < ip.len();
    sound.then_some(Super {
        transport,
        transport_start: header.checksum_start,
        header_bytes: u16::try_from(header_bytes).ok()?,
        segment_payload_bytes: header.gso_bytes,
    })
}

pub fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Sample;

    #[test]
    fn a_super_packet_counts_as_what_it_stands_for() {
        let read = Sample::tcp(2 * 1448 + 100, 1448).read();
        let packet = Packet::parse(&read).unwrap();
        assert_eq!(packet.segments(), 3);
        assert_eq!([0, 1, 2].map(|index| packet.segment_bytes(index)), [1500, 1500, 152]);
    }

    #[test]
    fn what_fits_into_one_segment_is_one_packet() {
        let packet = Packet::parse(&Sample::tcp(100, 1448).read()).unwrap();
        assert_eq!(packet, Packet { bytes: 152, division: None });
        let udp = Sample { udp: true, ipv6: true, ..Sample::tcp(1200, 0) };
        assert_eq!(Packet::parse(&udp.read()), Some(Packet { bytes: 1248, division: None }));
    }

    #[test]
    fn what_is_no_whole_ip_packet_is_none() {
        let good = Sample::tcp(3000, 1448).read();
        for length in [0, 9, 10, 11, 29, 1000, good.len() - 1] {
            assert_eq!(Packet::parse(&good[..length]), None, "{length}");
        }
        for (at, byte, what) in [
            (10, 0x75, "version"),
            (1, 4, "type of another IP version"),
            (1, 3, "UDP fragmentation, which was not asked for"),
            (0, 0, "no partial checksum"),
            (8, 6, "checksum elsewhere"),
            (10 + 20 + 12, 0x10, "TCP header too short"),
        ] {
            let mut wrong = good.clone();
            wrong[at] = byte;
            assert_eq!(Packet::parse(&wrong), None, "{what}");
        }
        let nothing_to_divide_by = Sample { gso_bytes: 0, ..Sample::tcp(3000, 0) };
        let mut wrong = nothing_to_divide_by.read();
        wrong[1] = GSO_TCPV4;
        assert_eq!(Packet::parse(&wrong), None);
    }
}
