//! What the kernel tells of devices and routes (`rtnetlink(7)`), in the network namespace of the calling thread: a
//! `/sys` that was mounted elsewhere shows another one's.

use std::{
    io,
    mem::MaybeUninit,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    os::fd::OwnedFd,
};

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::{
    RouteNetlinkMessage,
    link::{LinkAttribute, LinkMessage, Stats64},
    route::{RouteAddress, RouteAttribute, RouteMessage, RouteMetric},
    tc::{TcAttribute, TcHandle, TcMessage},
};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketType, recv, send, socket,
    sockopt::{Timeout, set_socket_timeout},
};

use crate::defaults::NETLINK_TIMEOUT;

/// Larger than any message of the kernel: it packs at most 32 KiB into one.
const ANSWER_BYTES: usize = 64 << 10;
/// Answers that are read to one request.
const ANSWERS_MAX: usize = 100_000;
const HEADER_BYTES: usize = 16;

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

/// Sends one request and reads all answers to it.
fn request(body: RouteNetlinkMessage, flags: u16) -> io::Result<Vec<RouteNetlinkMessage>> {
    // NETLINK_ROUTE is protocol 0, which is what a socket has without one.
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    set_socket_timeout(&socket, Timeout::Recv, Some(NETLINK_TIMEOUT))?;
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | flags;
    let mut message = NetlinkMessage::new(header, NetlinkPayload::from(body));
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    send(&socket, &bytes, SendFlags::empty())?;
    let mut answers = Vec::new();
    while answers.len() < ANSWERS_MAX {
        if take_answers(&receive(&socket)?, &mut answers)? || flags & NLM_F_DUMP == 0 {
            return Ok(answers);
        }
    }
    Err(io::Error::other(format!("more than {ANSWERS_MAX} answers of the kernel")))
}

fn receive(socket: &OwnedFd) -> io::Result<Vec<u8>> {
    let mut room = vec![MaybeUninit::uninit(); ANSWER_BYTES];
    let ((bytes, _), length) = recv(socket, &mut room[..], RecvFlags::TRUNC)?;
    if length > bytes.len() {
        return Err(io::Error::other(format!("an answer of {length} bytes")));
    }
    Ok(bytes.to_vec())
}

/// Adds what a datagram holds; says whether the last answer was among it. An answer that makes no sense is left out.
fn take_answers(mut datagram: &[u8], answers: &mut Vec<RouteNetlinkMessage>) -> io::Result<bool> {
    while let Some(length) = datagram.first_chunk().map(|length| u32::from_ne_bytes(*length) as usize) {
        if length < HEADER_BYTES || length > datagram.len() {
            return Err(io::Error::other("a torn answer of the kernel"));
        }
        match NetlinkMessage::deserialize(&datagram[..length]).map(|message| message.payload) {
            Ok(NetlinkPayload::Done(_)) => return Ok(true),
            Ok(NetlinkPayload::Error(error)) if error.code.is_some() => return Err(error.to_io()),
            Ok(NetlinkPayload::InnerMessage(message)) => answers.push(message),
            _ => {}
        }
        datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
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
    }

    #[test]
    fn what_the_kernel_refuses_is_its_error() {
        // A header of type NLMSG_ERROR, ENETUNREACH, and the header of the request.
        let mut refused = vec![0; 36];
        refused[..4].copy_from_slice(&36_u32.to_ne_bytes());
        refused[4..6].copy_from_slice(&2_u16.to_ne_bytes());
        refused[16..20].copy_from_slice(&(-101_i32).to_ne_bytes());
        refused[20..24].copy_from_slice(&16_u32.to_ne_bytes());
        let error = take_answers(&refused, &mut Vec::new()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(101));
    }

    #[test]
    fn torn_answers_are_errors_and_nonsense_is_left_out() {
        let mut answers = Vec::new();
        assert!(take_answers(&[255, 255, 0, 0, 1, 2], &mut answers).is_err());
        assert!(take_answers(&[0; 16], &mut answers).is_err());
        let mut nonsense = vec![0; 20];
        nonsense[..4].copy_from_slice(&20_u32.to_ne_bytes());
        nonsense[4..6].copy_from_slice(&999_u16.to_ne_bytes());
        assert!(!take_answers(&nonsense, &mut answers).unwrap());
        assert!(answers.is_empty());
    }
}
