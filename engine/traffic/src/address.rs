//! Addresses and ports of sockets, and how their packets are marked.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs},
    sync::mpsc::channel,
    thread,
};

use socket2::Socket;
use wire::PortRange;

use crate::{TrialError, defaults::RESOLVE_TIMEOUT};

/// The first address of a name that has the family. The resolver knows no deadline: it runs on a thread, which is
/// left behind if no answer comes.
///
/// # Errors
/// [`TrialError::Resolve`]: there is none, or no answer.
pub fn resolve(address: &str, port: u16, family: Option<u8>) -> Result<SocketAddr, TrialError> {
    let failed = |reason: String| TrialError::Resolve { address: address.into(), reason };
    let (sender, answer) = channel();
    let name = address.to_owned();
    thread::Builder::new()
        .name("resolve".into())
        .spawn(move || sender.send((name.as_str(), port).to_socket_addrs()))
        .map_err(TrialError::Thread)?;
    answer
        .recv_timeout(RESOLVE_TIMEOUT)
        .map_err(|_| failed(format!("no answer within {} s", RESOLVE_TIMEOUT.as_secs())))?
        .map_err(|error| failed(error.to_string()))?
        .find(|found| match family {
            Some(4) => found.is_ipv4(),
            Some(_) => found.is_ipv6(),
            None => true,
        })
        .ok_or_else(|| failed(family.map_or("no address".into(), |version| format!("no IPv{version} address"))))
}

/// The family to look for: the one that was requested, otherwise that of the local address.
pub fn family_of(family: Option<u8>, bind: Option<IpAddr>) -> Option<u8> {
    family.or(bind.map(|local| if local.is_ipv4() { 4 } else { 6 }))
}

/// The address to listen on, without a port: of both families if the host can and none was requested.
pub fn local_address(bind: Option<IpAddr>, family: Option<u8>) -> Result<SocketAddr, TrialError> {
    let address = match (bind, family) {
        (Some(address), Some(4)) if address.is_ipv6() => {
            return Err(TrialError::Settings(format!("bind address {address} is not IPv4")));
        }
        (Some(address), Some(6)) if address.is_ipv4() => {
            return Err(TrialError::Settings(format!("bind address {address} is not IPv6")));
        }
        (Some(address), _) => address,
        (None, Some(4)) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        // A host without IPv6 cannot make an IPv6 socket, not even a dual-stack one.
        (None, None) if Socket::new(socket2::Domain::IPV6, socket2::Type::STREAM, None).is_err() => {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED)
        }
        (None, _) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    Ok(SocketAddr::new(address, 0))
}

/// Tries the ports of a range in turn, or lets the kernel choose, until `listen_on` finds one that is free.
pub fn on_free_port<L>(
    local: SocketAddr,
    ports: Option<PortRange>,
    listen_on: impl Fn(SocketAddr) -> Result<L, TrialError>,
) -> Result<L, TrialError> {
    let Some(PortRange { first, last }) = ports else {
        return listen_on(local);
    };
    for port in first..last {
        match listen_on(SocketAddr::new(local.ip(), port)) {
            Err(TrialError::Socket { source, .. }) if source.kind() == io::ErrorKind::AddrInUse => {}
            other => return other,
        }
    }
    listen_on(SocketAddr::new(local.ip(), last)).map_err(|error| match error {
        TrialError::Socket { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
            TrialError::NoFreePort { first, last, source }
        }
        other => other,
    })
}

/// Marks what a socket sends (DSCP). A dual-stack socket carries IPv4 too, whose packets take the IPv4 setting.
pub fn set_dscp(socket: &Socket, local: SocketAddr, family: Option<u8>, dscp: u8) -> Result<(), TrialError> {
    let traffic_class = u32::from(dscp) << 2;
    let set = || {
        if local.is_ipv6() {
            socket.set_tclass_v6(traffic_class)?;
        }
        if local.is_ipv4() || family != Some(6) {
            socket.set_tos_v4(traffic_class)?;
        }
        Ok(())
    };
    set().map_err(|source| TrialError::Socket { what: format!("cannot set DSCP {dscp}"), source })
}

#[cfg(test)]
mod tests {
    use socket2::{Domain, Type};

    use super::*;

    #[test]
    fn a_dual_stack_socket_marks_packets_of_both_families() {
        let Ok(socket) = Socket::new(Domain::IPV6, Type::STREAM, None) else { return };
        let any = SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), 0);
        set_dscp(&socket, any, None, 46).unwrap();
        assert_eq!((socket.tclass_v6().unwrap(), socket.tos_v4().unwrap()), (46 << 2, 46 << 2));
    }
}
