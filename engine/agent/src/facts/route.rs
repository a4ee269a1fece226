//! How packets to a trial's other hosts leave this one.

use std::{
    collections::BTreeMap,
    net::{IpAddr, ToSocketAddrs},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::channel,
    },
    thread,
    time::{Duration, Instant},
};

use traffic::rtnetlink::{Link, route_to};
use wire::Route;

/// Most peers of one description: 256 hosts with four addresses each.
pub const PEERS_MAX: usize = 1024;
/// How long all names together may take to resolve.
const RESOLVE_TIMEOUT: Duration = Duration::from_secs(3);
/// Names that are looked up at once, in all descriptions together.
const LOOKUPS_MAX: usize = 8;

static LOOKUPS: Lookups = Lookups(AtomicUsize::new(0));

/// The route to each peer that has one, by the name it was asked for.
pub fn routes(peers: &[String], links: &[Link]) -> BTreeMap<String, Route> {
    let found = addresses(peers, &LOOKUPS).into_iter();
    found.filter_map(|(peer, address)| Some((peer, route(address, links)?))).collect()
}

fn route(address: IpAddr, links: &[Link]) -> Option<Route> {
    let hop = route_to(address).ok()??;
    let device = links.iter().find(|link| link.index == hop.link_index)?.name.clone();
    Some(Route { address, device, gateway: hop.gateway, source: hop.source, mtu_bytes: hop.mtu_bytes })
}

/// The first address of each; what is no address is looked up, all of them within [`RESOLVE_TIMEOUT`].
fn addresses(peers: &[String], lookups: &'static Lookups) -> Vec<(String, IpAddr)> {
    let is_address = |peer: &&String| peer.parse::<IpAddr>().is_ok();
    let (written, names): (Vec<&String>, Vec<&String>) = peers.iter().partition(is_address);
    let written = written.into_iter().filter_map(|peer| Some((peer.clone(), peer.parse().ok()?)));
    let mut known: Vec<(String, IpAddr)> = written.collect();
    let deadline = Instant::now() + RESOLVE_TIMEOUT;
    let (sender, answers) = channel();
    let threads = names.len().min(LOOKUPS_MAX);
    let left: Arc<Mutex<Vec<String>>> = Arc::new(Mutex::new(names.into_iter().cloned().collect()));
    for _ in 0..threads {
        let Some(lookup) = lookups.begin() else { break };
        let (left, sender) = (left.clone(), sender.clone());
        // A resolver cannot be hurried: its thread may stay behind, and counts as long. One that cannot be started finds
        // nothing.
        let _ = thread::Builder::new().name("resolve".into()).spawn(move || {
            let _lookup = lookup;
            while let Some(name) = next(&left) {
                let found = (name.as_str(), 0).to_socket_addrs().ok().and_then(|mut found| found.next());
                if sender.send((name, found)).is_err() {
                    return;
                }
            }
        });
    }
    drop(sender);
    while let Ok((name, found)) = answers.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        known.extend(found.map(|found| (name, found.ip())));
    }
    known
}

fn next(left: &Mutex<Vec<String>>) -> Option<String> {
    left.lock().unwrap_or_else(PoisonError::into_inner).pop()
}

/// How many threads look names up.
struct Lookups(AtomicUsize);

/// One of them, until it is dropped.
struct Lookup(&'static Lookups);

impl Lookups {
    /// One more, if there may be.
    fn begin(&'static self) -> Option<Lookup> {
        let more = |running| (running < LOOKUPS_MAX).then_some(running + 1);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Lookup(self))
    }
}

impl Drop for Lookup {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(peers: impl IntoIterator<Item = String>, lookups: &'static Lookups) -> BTreeMap<String, IpAddr> {
        addresses(&peers.into_iter().collect::<Vec<_>>(), lookups).into_iter().collect()
    }

    #[test]
    fn names_and_addresses_are_told_apart_and_what_cannot_be_found_is_left_out() {
        static OWN: Lookups = Lookups(AtomicUsize::new(0));
        let found = found(["::1", "localhost", "203.0.113.7", "name.invalid"].map(str::to_owned), &OWN);
        assert_eq!(found.get("203.0.113.7"), Some(&IpAddr::from([203, 0, 113, 7])));
        assert!(found.contains_key("::1"));
        assert!(found.get("localhost").is_none_or(IpAddr::is_loopback));
        assert!(!found.contains_key("name.invalid"));
    }

    #[test]
    fn lookups_that_stay_behind_count() {
        static OWN: Lookups = Lookups(AtomicUsize::new(0));
        let behind: Vec<Lookup> = std::iter::from_fn(|| OWN.begin()).collect();
        assert_eq!(behind.len(), LOOKUPS_MAX);
        // A name that every resolver takes for an address.
        let names = || (1..=3 * LOOKUPS_MAX).map(|number| format!("127.{number}"));
        assert_eq!(found(names(), &OWN).len(), 0);
        drop(behind);
        assert_eq!(found(names(), &OWN).len(), 3 * LOOKUPS_MAX, "a few threads look all of them up");
    }
}
