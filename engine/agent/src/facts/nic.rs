//! Network devices: what the kernel, its drivers and its queues say of them.

use sys::Ethtool;
use traffic::rtnetlink::{Link, Qdisc, qdiscs};
use wire::Nic;

use super::settings::one_line;

/// Qdiscs that are named of one device: a device of many queues has one for each, most often all alike.
const QDISCS_MAX: usize = 16;

/// All devices, as the engine's network namespace has them.
pub fn nics(links: &[Link]) -> Vec<Nic> {
    let ethtool = Ethtool::open().ok();
    let qdiscs = qdiscs().unwrap_or_default();
    links.iter().map(|link| nic(link, ethtool.as_ref(), &qdiscs)).collect()
}

fn nic(link: &Link, ethtool: Option<&Ethtool>, qdiscs: &[Qdisc]) -> Nic {
    let name = link.name.as_str();
    let speed = ethtool.and_then(|ethtool| ethtool.speed_mbps(name).ok().flatten());
    Nic {
        name: name.to_owned(),
        driver: ethtool.and_then(|ethtool| ethtool.driver(name).ok()),
        speed_mbps: speed.map(u64::from),
        mtu_bytes: link.mtu_bytes,
        numa_node: numa_node(link),
        rx_queues: link.rx_queues,
        tx_queues: link.tx_queues,
        qdiscs: kinds(qdiscs.iter().filter(|qdisc| qdisc.link_index == link.index)),
        offloads: ethtool
            .and_then(|ethtool| ethtool.features(name).ok())
            .unwrap_or_default()
            .into_iter()
            .filter(|(name, _)| !name.is_empty())
            .collect(),
    }
}

/// The root first; one that stands for many queues once.
fn kinds<'a>(qdiscs: impl Iterator<Item = &'a Qdisc>) -> Vec<String> {
    let (roots, inner): (Vec<&Qdisc>, Vec<&Qdisc>) = qdiscs.partition(|qdisc| qdisc.root);
    let mut kinds: Vec<String> = roots.into_iter().chain(inner).map(|qdisc| qdisc.kind.clone()).collect();
    kinds.dedup();
    kinds.truncate(QDISCS_MAX);
    kinds
}

fn numa_node(link: &Link) -> Option<u32> {
    let folder = format!("/sys/class/net/{}", link.name);
    // A /sys of another network namespace may have another device of that name. -1: the device belongs to no node.
    let same = one_line(&format!("{folder}/ifindex")).is_some_and(|index| index == link.index.to_string());
    one_line(&format!("{folder}/device/numa_node")).filter(|_| same)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn qdisc(kind: &str, root: bool) -> Qdisc {
        Qdisc { link_index: 1, kind: kind.into(), root }
    }

    #[test]
    fn the_root_comes_first_and_equal_queues_are_one() {
        let found = [qdisc("fq_codel", false), qdisc("fq_codel", false), qdisc("mq", true), qdisc("netem", false)];
        assert_eq!(kinds(found.iter()), ["mq", "fq_codel", "netem"]);
    }
}
