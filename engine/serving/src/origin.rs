use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
};

/// Bits of an IPv6 address that are a subscriber's network: whoever has one has all addresses in it (RFC 6177).
const SUBSCRIBER_BITS: u32 = 64;

/// From where somebody comes: an IPv4 address, or a /64 of IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin(IpAddr);

impl From<IpAddr> for Origin {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> SUBSCRIBER_BITS << SUBSCRIBER_BITS).into(),
            address @ IpAddr::V4(_) => address,
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => write!(formatter, "{address}"),
            IpAddr::V6(address) => write!(formatter, "{address}/{SUBSCRIBER_BITS}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(address: &str) -> Origin {
        address.parse::<IpAddr>().unwrap().into()
    }

    #[test]
    fn an_address_is_an_origin_and_so_is_a_subscribers_network() {
        assert_eq!(origin("192.0.2.1"), origin("::ffff:192.0.2.1"));
        assert_ne!(origin("192.0.2.1"), origin("192.0.2.2"));
        assert_eq!(origin("2001:db8::1"), origin("2001:db8::ffff:0:0:1"));
        assert_ne!(origin("2001:db8::1"), origin("2001:db8:0:1::1"));
        assert_eq!(origin("2001:db8::1").to_string(), "2001:db8::/64");
        assert_eq!(origin("192.0.2.1").to_string(), "192.0.2.1");
    }
}
