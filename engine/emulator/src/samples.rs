//! Packets for tests, made byte by byte, independently of what reads and cuts them.

use sys::VNET_HEADER_BYTES;

/// What a sample is made from.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub ipv6: bool,
    pub udp: bool,
    pub payload_bytes: usize,
    /// 0: one packet.
    pub gso_bytes: u16,
    pub tcp_flags: u8,
    pub tcp_option_bytes: usize,
}

pub const SEQUENCE: u32 = 0xffff_f000;
pub const IDENTIFICATION: u16 = 0xfffe;

impl Sample {
    pub fn tcp(payload_bytes: usize, gso_bytes: u16) -> Self {
        Self { ipv6: false, udp: false, payload_bytes, gso_bytes, tcp_flags: 0x10, tcp_option_bytes: 12 }
    }

    /// As a device gives it: virtio header, IP header, transport header with the sum over the pseudo-header, payload.
    pub fn read(self) -> Vec<u8> {
        let transport = self.transport_header();
        let length = transport.len() + self.payload_bytes;
        let ip = self.ip_header(length);
        let start = ip.len();
        let offset = if self.udp { 6 } else { 16 };
        let mut read = vec![0; VNET_HEADER_BYTES];
        read[0] = 1;
        read[1] = match (self.gso_bytes, self.udp, self.ipv6) {
            (0, _, _) => 0,
            (_, true, _) => 5,
            (_, false, ecn_and_version) => {
                let ecn = if self.tcp_flags & 0x80 == 0 { 0 } else { 0x80 };
                ecn | if ecn_and_version { 4 } else { 1 }
            }
        };
        let header_bytes = u16::try_from(start + transport.len()).unwrap();
        for (at, value) in [(2, header_bytes), (4, self.gso_bytes), (6, u16::try_from(start).unwrap()), (8, offset)] {
            read[at..at + 2].copy_from_slice(&value.to_ne_bytes());
        }
        read.extend(ip);
        read.extend(transport);
        read.extend((0..self.payload_bytes).map(|at| u8::try_from(at * 7 % 251).unwrap()));
        let sum = pseudo_header_sum(&read[VNET_HEADER_BYTES..], start, length);
        let at = VNET_HEADER_BYTES + start + usize::from(offset);
        read[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        read
    }

    fn ip_header(self, length: usize) -> Vec<u8> {
        let protocol = if self.udp { 17 } else { 6 };
        if self.ipv6 {
            let length = u16::try_from(length).unwrap().to_be_bytes();
            let mut header = vec![0x60, 0, 0, 0, length[0], length[1], protocol, 64];
            header.extend((0..32).map(|at| 0xa0 + at));
            return header;
        }
        let total = u16::try_from(20 + length).unwrap().to_be_bytes();
        let [a, b] = IDENTIFICATION.to_be_bytes();
        let mut header = vec![0x45, 0, total[0], total[1], a, b, 0x40, 0, 64, protocol, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2];
        let checksum = !sum(&header);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        header
    }

    fn transport_header(self) -> Vec<u8> {
        if self.udp {
            let length = u16::try_from(8 + self.payload_bytes).unwrap().to_be_bytes();
            return vec![0x14, 0xb4, 0x14, 0xb5, length[0], length[1], 0, 0];
        }
        let words = u8::try_from((20 + self.tcp_option_bytes) / 4).unwrap();
        let mut header = vec![0x14, 0xb4, 0x14, 0xb5];
        header.extend(SEQUENCE.to_be_bytes());
        header.extend([1, 2, 3, 4, words << 4, self.tcp_flags, 0xff, 0xff, 0, 0, 0, 0]);
        header.extend(vec![1; self.tcp_option_bytes]);
        header
    }
}

/// The ones' complement sum of RFC 1071, over 16-bit words.
pub fn sum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|word| u64::from(word[0]) << 8 | word.get(1).map_or(0, |byte| u64::from(*byte)));
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u16::try_from(sum).unwrap()
}

/// Addresses, protocol and length, as they stand in front of what a transport's checksum covers.
pub fn pseudo_header_sum(ip: &[u8], transport_start: usize, length: usize) -> u16 {
    let ipv6 = ip[0] >> 4 == 6;
    let (addresses, protocol) = if ipv6 { (&ip[8..40], ip[6]) } else { (&ip[12..20], ip[9]) };
    assert!(transport_start >= 20);
    let mut pseudo = addresses.to_vec();
    pseudo.extend(u32::try_from(length).unwrap().to_be_bytes());
    pseudo.extend([0, 0, 0, protocol]);
    sum(&pseudo)
}
