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
        let [flags, gso_type, a, b, c, d, e, f, g, h] = bytes;
        Self {
            flags,
            gso_type,
            header_bytes: u16::from_ne_bytes([a, b]),
            gso_bytes: u16::from_ne_bytes([c, d]),
            checksum_start: u16::from_ne_bytes([e, f]),
            checksum_offset: u16::from_ne_bytes([g, h]),
        }
    }

    pub fn write(self) -> [u8; VNET_HEADER_BYTES] {
        let [a, b] = self.header_bytes.to_ne_bytes();
        let [c, d] = self.gso_bytes.to_ne_bytes();
        let [e, f] = self.checksum_start.to_ne_bytes();
        let [g, h] = self.checksum_offset.to_ne_bytes();
        [self.flags, self.gso_type, a, b, c, d, e, f, g, h]
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
