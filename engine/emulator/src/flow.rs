//! Which flow a packet belongs to, as routers see it that spread flows over paths.

use crate::packet::be16;

const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV6_HEADER_BYTES: usize = 40;

/// What all packets of a flow have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flow {
    /// Of addresses, protocol and, where every packet has them, ports.
    pub hash: u64,
    /// RFC 2474.
    pub dscp: u8,
}

/// Reads it from a packet. Fragments have no ports but the first, and what is behind IPv6 extension headers is not looked
/// for. What is no whole packet has the default.
pub fn flow_of(ip: &[u8]) -> Flow {
    let Some((addresses, protocol, transport)) = read(ip) else { return Flow::default() };
    let ports = match (protocol, transport) {
        (TCP | UDP, [a, b, c, d, ..]) => u32::from_be_bytes([*a, *b, *c, *d]),
        _ => 0,
    };
    let last = u64::from(protocol) << 32 | u64::from(ports);
    let hash = addresses.chunks(8).map(number).chain([last]).fold(0, |hash, part| mixed(hash ^ part));
    Flow { hash, dscp: dscp_of(ip) }
}

/// The traffic class lies across the first two bytes of IPv6; its upper six bits are the DSCP.
fn dscp_of(ip: &[u8]) -> u8 {
    let class = if ip[0] >> 4 == 4 { ip[1] } else { ip[0] << 4 | ip[1] >> 4 };
    class >> 2
}

/// The finalizer of `SplitMix64` (Steele, Lea and Flood 2014): every bit of the result depends on every bit.
pub fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// Addresses, protocol, and what is behind the header; of fragments nothing is.
fn read(ip: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    match ip.first()? >> 4 {
        4 if ip.len() >= 20 => {
            // All bits but "don't fragment": more fragments, and where this one lies.
            let is_fragment = be16(ip, 6) & 0xbfff != 0;
            let header = usize::from(ip[0] & 0xf) * 4;
            Some((&ip[12..20], ip[9], if is_fragment { &[] } else { ip.get(header..)? }))
        }
        6 if ip.len() >= IPV6_HEADER_BYTES => Some((&ip[8..40], ip[6], &ip[IPV6_HEADER_BYTES..])),
        _ => None,
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use sys::VNET_HEADER_BYTES;

    use super::*;
    use crate::samples::Sample;

    fn ip(sample: Sample) -> Vec<u8> {
        sample.read()[VNET_HEADER_BYTES..].to_vec()
    }

    #[test]
    fn what_a_packet_carries_is_no_matter() {
        for (ipv6, udp) in [(false, false), (false, true), (true, false), (true, true)] {
            let sample = Sample { ipv6, udp, ..Sample::tcp(100, 0) };
            let other = Sample { payload_bytes: 3000, gso_bytes: 1000, tcp_flags: 0x19, ..sample };
            assert_eq!(flow_of(&ip(sample)), flow_of(&ip(other)));
        }
    }

    #[test]
    fn each_part_of_the_five_tuple_makes_another_flow() {
        for (ipv6, parts) in [(false, [12, 15, 16, 19, 9, 20, 21, 22, 23]), (true, [8, 23, 24, 39, 6, 40, 41, 42, 43])]
        {
            let packet = ip(Sample { ipv6, udp: true, ..Sample::tcp(100, 0) });
            let mut flows = HashSet::from([flow_of(&packet)]);
            for at in parts {
                let mut other = packet.clone();
                // UDP becomes TCP, another number another one.
                other[at] ^= UDP ^ TCP;
                assert!(flows.insert(flow_of(&other)), "byte {at}");
            }
        }
    }

    #[test]
    fn the_dscp_is_read_and_makes_no_other_hash() {
        for (ipv6, bytes) in [(false, [0x45, 46 << 2 | 3]), (true, [0x6b, 0xb0])] {
            let mut packet = ip(Sample { ipv6, ..Sample::tcp(100, 0) });
            let Flow { hash, dscp } = flow_of(&packet);
            assert_eq!(dscp, 0);
            packet[..2].copy_from_slice(&bytes);
            assert_eq!(flow_of(&packet), Flow { hash, dscp: 46 });
        }
    }

    #[test]
    fn fragments_of_a_datagram_are_of_one_flow() {
        let mut fragments = [[0x20, 0], [0x20, 185], [0, 185]].map(|[high, low]| {
            let mut packet = ip(Sample { udp: true, ..Sample::tcp(100, 0) });
            (packet[6], packet[7]) = (high, low);
            packet
        });
        // Only the first begins with ports.
        fragments[1][20] = 99;
        fragments[2][23] = 99;
        assert_eq!(HashSet::from(fragments.map(|fragment| flow_of(&fragment))).len(), 1);
    }

    #[test]
    fn what_is_too_short_is_of_some_flow() {
        let packet = ip(Sample::tcp(100, 0));
        for length in 0..packet.len() {
            flow_of(&packet[..length]);
        }
        let long_header = [&[0x4f], &packet[1..20]].concat();
        assert_eq!(flow_of(&long_header), Flow::default());
    }
}
