//! What the kernel tells of devices and routes (`rtnetlink(7)`), in the network namespace of the calling thread: a
//! `/sys` that was mounted elsewhere shows another one's.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::{
    RouteNetlinkMessage,
    address::{AddressAttribute, AddressMessage},
    link::{LinkAttribute, LinkMessage, Stats64},
    route::{RouteAddress, RouteAttribute, RouteMessage, RouteMetric},
    tc::{TcAttribute, TcHandle, TcMessage},
};

use crate::netlink::{self, Protocol};

/// A network device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The kernel's number for it.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Largest packet, in bytes.
    pub mtu_bytes: Option<u32>,
    /// Receive queues.
    pub rx_queues: u32,
    /// Transmit queues.
    pub tx_queues: u32,
    /// Its counters, named as in `/sys/class/net/*/statistics`.
    pub counters: Vec<(&'static str, u64)>,
}

/// A queueing discipline of the transmit side of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qdisc {
    /// The device's number.
    pub link_index: u32,
    /// Such as `fq_codel`.
    pub kind: String,
    /// The device's own, not one inside another.
    pub root: bool,
}

/// Where packets to an address go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The device's number.
    pub link_index: u32,
    /// First router.
    pub gateway: Option<IpAddr>,
    /// Address they are sent from.
    pub source: Option<IpAddr>,
    /// Largest packet, where the route sets one, in bytes.
    pub mtu_bytes: Option<u32>,
}

/// All devices.
///
/// # Errors
/// What the kernel says.
pub fn links() -> io::Result<Vec<Link>> {
    let answers = request(RouteNetlinkMessage::GetLink(LinkMessage::default()), NLM_F_DUMP)?;
    Ok(answers.into_iter().filter_map(link).collect())
}

/// The queueing disciplines of all devices' transmit sides.
///
/// # Errors
/// What the kernel says.
pub fn qdiscs() -> io::Result<Vec<Qdisc>> {
    let answers = request(RouteNetlinkMessage::GetQueueDiscipline(TcMessage::default()), NLM_F_DUMP)?;
    Ok(answers.into_iter().filter_map(qdisc).collect())
}

/// The route to an address; `None` if the kernel's answer has no device.
///
/// # Errors
/// What the kernel says, such as that the network is unreachable.
pub fn route_to(address: IpAddr) -> io::Result<Option<NextHop>> {
    let mut message = RouteMessage::default();
    message.header.address_family = match address {
        IpAddr::V4(_) => netlink_packet_route::AddressFamily::Inet,
        IpAddr::V6(_) => netlink_packet_route::AddressFamily::Inet6,
    };
    message.header.destination_prefix_length = if address.is_ipv4() { 32 } else { 128 };
    message.attributes.push(RouteAttribute::Destination(address.into()));
    Ok(request(RouteNetlinkMessage::GetRoute(message), 0)?.into_iter().find_map(next_hop))
}

/// The number of the device that has an address; `None` if this host has no such address.
///
/// # Errors
/// What the kernel says.
pub fn device_of(address: IpAddr) -> io::Result<Option<u32>> {
    let answers = request(RouteNetlinkMessage::GetAddress(AddressMessage::default()), NLM_F_DUMP)?;
    Ok(answers.into_iter().find_map(|answer| {
        let RouteNetlinkMessage::NewAddress(message) = answer else { return None };
        let attributes = message.attributes;
        // On a link between two points, `Address` is the other end's.
        let own = attributes.iter().find_map(|one| match one {
            AddressAttribute::Local(own) => Some(*own),
            _ => None,
        });
        let own = own.or_else(|| {
            attributes.iter().find_map(|one| match one {
                AddressAttribute::Address(own) => Some(*own),
                _ => None,
            })
        });
        (own == Some(address)).then_some(message.header.index)
    }))
}

fn link(answer: RouteNetlinkMessage) -> Option<Link> {
    let RouteNetlinkMessage::NewLink(message) = answer else { return None };
    let mut link = Link {
        index: message.header.index,
        name: String::new(),
        mtu_bytes: None,
        rx_queues: 0,
        tx_queues: 0,
        counters: Vec::new(),
    };
    for attribute in message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => link.name = name,
            LinkAttribute::Mtu(mtu_bytes) => link.mtu_bytes = Some(mtu_bytes),
            LinkAttribute::NumRxQueues(queues) => link.rx_queues = queues,
            LinkAttribute::NumTxQueues(queues) => link.tx_queues = queues,
            LinkAttribute::Stats64(counters) => link.counters = named(&counters),
            _ => {}
        }
    }
    (!link.name.is_empty()).then_some(link)
}

fn named(counters: &Stats64) -> Vec<(&'static str, u64)> {
    vec![
        ("rx_packets", counters.rx_packets),
        ("tx_packets", counters.tx_packets),
        ("rx_bytes", counters.rx_bytes),
        ("tx_bytes", counters.tx_bytes),
        ("rx_errors", counters.rx_errors),
        ("tx_errors", counters.tx_errors),
        ("rx_dropped", counters.rx_dropped),
        ("tx_dropped", counters.tx_dropped),
        ("multicast", counters.multicast),
        ("collisions", counters.collisions),
        ("rx_length_errors", counters.rx_length_errors),
        ("rx_over_errors", counters.rx_over_errors),
        ("rx_crc_errors", counters.rx_crc_errors),
        ("rx_frame_errors", counters.rx_frame_errors),
        ("rx_fifo_errors", counters.rx_fifo_errors),
        ("rx_missed_errors", counters.rx_missed_errors),
        ("tx_aborted_errors", counters.tx_aborted_errors),
        ("tx_carrier_errors", counters.tx_carrier_errors),
        ("tx_fifo_errors", counters.tx_fifo_errors),
        ("tx_heartbeat_errors", counters.tx_heartbeat_errors),
        ("tx_window_errors", counters.tx_window_errors),
        ("rx_nohandler", counters.rx_nohandler),
    ]
}

fn qdisc(answer: RouteNetlinkMessage) -> Option<Qdisc> {
    let RouteNetlinkMessage::NewQueueDiscipline(message) = answer else { return None };
    let kind = message.attributes.into_iter().find_map(|attribute| match attribute {
        TcAttribute::Kind(kind) => Some(kind),
        _ => None,
    })?;
    let link_index = u32::try_from(message.header.index).ok()?;
    let transmits = message.header.parent != TcHandle::INGRESS;
    transmits.then_some(Qdisc { link_index, kind, root: message.header.parent == TcHandle::ROOT })
}

fn next_hop(answer: RouteNetlinkMessage) -> Option<NextHop> {
    let RouteNetlinkMessage::NewRoute(message) = answer else { return None };
    let mut hop = NextHop { link_index: 0, gateway: None, source: None, mtu_bytes: None };
    for attribute in message.attributes {
        match attribute {
            RouteAttribute::Oif(index) => hop.link_index = index,
            RouteAttribute::Gateway(address) => hop.gateway = ip_address(&address),
            RouteAttribute::PrefSource(address) => hop.source = ip_address(&address),
            RouteAttribute::Metrics(metrics) => {
                hop.mtu_bytes = metrics.iter().find_map(|metric| match metric {
                    RouteMetric::Mtu(mtu_bytes) => Some(*mtu_bytes),
                    _ => None,
                });
            }
            _ => {}
        }
    }
    (hop.link_index != 0).then_some(hop)
}

fn ip_address(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(address) => Some(IpAddr::V4(*address)),
        RouteAddress::Inet6(address) => Some(IpAddr::V6(*address)),
        _ => None,
    }
    .filter(|address| *address != IpAddr::V4(Ipv4Addr::UNSPECIFIED) && *address != IpAddr::V6(Ipv6Addr::UNSPECIFIED))
}

fn request(body: RouteNetlinkMessage, flags: u16) -> io::Result<Vec<RouteNetlinkMessage>> {
    netlink::request(Protocol::Route, body, flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_a_link_with_counters() {
        let links = links().unwrap();
        let lo = links.iter().find(|link| link.name == "lo").unwrap();
        assert!(lo.mtu_bytes.is_some_and(|mtu_bytes| mtu_bytes >= 1500));
        assert!(lo.counters.iter().any(|(name, _)| *name == "rx_dropped"));
        assert!(lo.tx_queues >= 1);
        assert!(qdiscs().unwrap().iter().all(|qdisc| links.iter().any(|link| link.index == qdisc.link_index)));
    }

    #[test]
    fn the_way_to_this_host_is_loopback() {
        for address in ["127.0.0.1", "127.1.2.3"] {
            let hop = route_to(address.parse().unwrap()).unwrap().unwrap();
            assert_eq!(links().unwrap().iter().find(|link| link.name == "lo").unwrap().index, hop.link_index);
            assert_eq!(hop.gateway, None);
        }
        let lo = links().unwrap().iter().find(|link| link.name == "lo").map(|link| link.index);
        assert_eq!(device_of("127.0.0.1".parse().unwrap()).unwrap(), lo);
        assert_eq!(device_of("192.0.2.1".parse().unwrap()).unwrap(), None);
    }
}
