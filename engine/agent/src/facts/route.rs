//! How packets to a trial's other hosts leave this one.

use std::{
    collections::BTreeMap,
    net::{IpAddr, ToSocketAddrs},
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

use traffic::rtnetlink::{Link, route_to};
use wire::Route;

/// How long all names together may take to resolve.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(3);

/// The route to each peer that has one, by the name it was asked for.
pub fn routes(peers: &[String], links: &[Link]) -> BTreeMap<String, Route> {
    let found = addresses(peers).into_iter();
    found.filter_map(|(peer, address)| Some((peer, route(address, links)?))).collect()
}

fn route(address: IpAddr, links: &[Link]) -> Option<Route> {
    let hop = route_to(address).ok()??;
    let device = links.iter().find(|link| link.index == hop.link_index)?.name.clone();
    Some(Route { address, device, gateway: hop.gateway, source: hop.source, mtu_bytes: hop.mtu_bytes })
}

/// The first address of each; what is no address is looked up, all of them within [`RESOLVE_TIMEOUT`].
fn addresses(peers: &[String]) -> Vec<(String, IpAddr)> {
    let is_address = |peer: &&String| peer.parse::<IpAddr>().is_ok();
    let (written, names): (Vec<&String>, Vec<&String>) = peers.iter().partition(is_address);
    let written = written.into_iter().filter_map(|peer| Some((peer.clone(), peer.parse().ok()?)));
    let mut known: Vec<(String, IpAddr)> = written.collect();
    let deadline = Instant::now() + RESOLVE_TIMEOUT;
    let (sender, answers) = channel();
    for name in names {
        let (name, sender) = (name.clone(), sender.clone());
        // A resolver cannot be hurried: its thread may stay behind. One that cannot be started finds nothing.
        let _ = thread::Builder::new().name("resolve".into()).spawn(move || {
            let found = (name.as_str(), 0).to_socket_addrs().ok().and_then(|mut found| found.next());
            sender.send((name, found))
        });
    }
    drop(sender);
    while let Ok((name, found)) = answers.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        known.extend(found.map(|found| (name, found.ip())));
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_told_apart_and_what_cannot_be_found_is_left_out() {
        let peers = ["::1", "localhost", "203.0.113.7", "name.invalid"].map(str::to_owned);
        let found: BTreeMap<String, IpAddr> = addresses(&peers).into_iter().collect();
        assert_eq!(found.get("203.0.113.7"), Some(&IpAddr::from([203, 0, 113, 7])));
        assert!(found.contains_key("::1"));
        assert!(found.get("localhost").is_none_or(IpAddr::is_loopback));
        assert!(!found.contains_key("name.invalid"));
    }
}
