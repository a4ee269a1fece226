use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use socket2::{Domain, Socket, Type};

/// All addresses of both families; of IPv4 alone on a host without IPv6.
#[must_use]
pub fn everywhere() -> IpAddr {
    match Socket::new(Domain::IPV6, Type::STREAM, None) {
        Ok(_) => Ipv6Addr::UNSPECIFIED.into(),
        Err(_) => Ipv4Addr::UNSPECIFIED.into(),
    }
}
