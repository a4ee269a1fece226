//! Networks whose hosts may come.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
};

use thiserror::Error;

/// An address and how many of its bits count, `192.0.2.0/24` or `2001:db8::/32`; without `/`, all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

/// What is no network.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?} is no network: expected an address, or one with a length, such as 192.0.2.0/24 or 2001:db8::/32")]
pub struct NetworkError(String);

impl Network {
    /// Whether an address lies in it. An IPv4 address within IPv6 is the IPv4 address.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        let (own, other) = (self.address, address.to_canonical());
        own.is_ipv4() == other.is_ipv4() && common_bits(own, other) >= self.bits
    }
}

/// Whether somebody may come at all: everybody where there are no networks.
#[must_use]
pub fn admits(networks: &[Network], peer: IpAddr) -> bool {
    networks.is_empty() || networks.iter().any(|network| network.contains(peer))
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError(text.to_owned());
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { Ipv6Addr::BITS };
        let bits = bits.unwrap_or(most);
        if bits > most { Err(wrong()) } else { Ok(Self { address, bits }) }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.bits)
    }
}

/// How many bits two addresses of one family have in common at their beginning.
fn common_bits(one: IpAddr, other: IpAddr) -> u32 {
    match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(network: &str, address: &str) -> bool {
        network.parse::<Network>().unwrap().contains(address.parse().unwrap())
    }

    #[test]
    fn the_bits_that_count_decide() {
        assert!(holds("192.0.2.0/24", "192.0.2.255") && !holds("192.0.2.0/24", "192.0.3.0"));
        assert!(holds("192.0.2.7", "192.0.2.7") && !holds("192.0.2.7", "192.0.2.6"));
        assert!(holds("0.0.0.0/0", "203.0.113.9") && !holds("0.0.0.0/0", "2001:db8::1"));
        assert!(holds("2001:db8::/32", "2001:db8:ffff::1") && !holds("2001:db8::/32", "2001:db9::1"));
        assert!(holds("192.0.2.0/24", "::ffff:192.0.2.9"));
    }

    #[test]
    fn one_of_the_networks_is_enough_and_none_is_no_bound() {
        let networks = ["203.0.113.0/24", "192.0.2.0/24"].map(|network| network.parse().unwrap());
        let (inside, outside) = ("192.0.2.1".parse().unwrap(), "198.51.100.1".parse().unwrap());
        assert!(admits(&networks, inside) && !admits(&networks, outside));
        assert!(admits(&[], outside));
    }

    #[test]
    fn what_is_no_network_is_named() {
        for wrong in ["", "192.0.2.0/33", "host", "192.0.2.0/-1", "::/129", "192.0.2.0/"] {
            assert_eq!(wrong.parse::<Network>(), Err(NetworkError(wrong.to_owned())));
        }
    }
}
