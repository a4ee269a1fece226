//! What rose while flows ran: the counters of the kernel's protocols, of its packet processing and of all devices.

use std::{collections::BTreeMap, fs};

use sys::Ethtool;

use super::rtnetlink;
use crate::defaults::DRIVER_COUNTERS_MAX;

/// All counters at a moment. Those of protocols and devices are of the engine's network namespace; those of packet
/// processing (`softnet`) of the whole host.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    named: BTreeMap<String, u64>,
    softnet: Vec<CoreLine>,
}

/// A line of `/proc/net/softnet_stat`: the number of its core, where the kernel tells it (since Linux 5.10), and what is
/// taken of it.
type CoreLine = (Option<u32>, Softnet);

/// Of one core: 32 bits each, which begin again at 0 when they are full.
type Softnet = [u32; SOFTNET.len()];

/// Where a line tells the number of its core.
const CORE_COLUMN: usize = 12;

/// Name and column of what is taken of `softnet_stat`.
const SOFTNET: [(&str, usize); 5] = [
    ("softnet.processed", 0),
    ("softnet.dropped", 1),
    ("softnet.time_squeeze", 2),
    ("softnet.received_rps", 9),
    ("softnet.flow_limit_count", 10),
];

/// Among the counters, and none: how many connections stand.
const GAUGES: [&str; 2] = ["Tcp.CurrEstab", "MPTcpExt.MPCurrEstab"];

impl Counters {
    /// Reads all of them; what cannot be read is left out.
    #[must_use]
    pub fn read() -> Self {
        // A thread's own, since it may be in another namespace than the process.
        let text = |name: &str| fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
        let mut named = BTreeMap::new();
        for file in ["snmp", "netstat"] {
            named.extend(pairs_of_lines(&text(file)));
        }
        named.extend(lines(&text("snmp6")));
        for gauge in GAUGES {
            named.remove(gauge);
        }
        named.extend(devices());
        Self { named, softnet: softnet(&text("softnet_stat")) }
    }

    /// How much each rose since an earlier moment. Those that did not, or were not there, are left out.
    #[must_use]
    pub fn risen_since(&self, earlier: &Self) -> BTreeMap<String, u64> {
        let cores = cores_of_both(&self.softnet, &earlier.softnet);
        let softnet = (0..).zip(SOFTNET).map(|(column, (name, _))| {
            let rise = |(now, before): &(Softnet, Softnet)| u64::from(now[column].wrapping_sub(before[column]));
            (name.to_owned(), cores.iter().map(rise).sum())
        });
        let named = self.named.iter().filter_map(|(name, now)| {
            let rise = now.checked_sub(*earlier.named.get(name)?)?;
            Some((name.clone(), rise))
        });
        named.chain(softnet).filter(|(_, rise)| *rise > 0).collect()
    }
}

/// `Tcp: A B` above `Tcp: 1 2`, as in `/proc/net/snmp` and `netstat`. A negative number is no count.
fn pairs_of_lines(text: &str) -> impl Iterator<Item = (String, u64)> {
    let mut lines = text.lines();
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?))).flat_map(|(names, values)| {
        let group = names.split(':').next().unwrap_or_default();
        let values = values.strip_prefix(group).and_then(|rest| rest.strip_prefix(':')).unwrap_or_default();
        let names = names.split_ascii_whitespace().skip(1);
        let both = names.zip(values.split_ascii_whitespace());
        both.filter_map(move |(name, value)| Some((format!("{group}.{name}"), value.parse().ok()?)))
    })
}

/// `Ip6InReceives 7`, as in `/proc/net/snmp6`.
fn lines(text: &str) -> impl Iterator<Item = (String, u64)> {
    text.lines().filter_map(|line| {
        let (name, value) = line.split_once(char::is_whitespace)?;
        Some((name.to_owned(), value.trim().parse().ok()?))
    })
}

fn softnet(text: &str) -> Vec<CoreLine> {
    let cores = text.lines().map(|line| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let word = |at: usize| words.get(at).and_then(|word| u32::from_str_radix(word, 16).ok());
        (word(CORE_COLUMN), SOFTNET.map(|(_, at)| word(at).unwrap_or(0)))
    });
    cores.collect()
}

/// The cores that were online both times. Only those have lines: without numbers, lines that became more or fewer do not
/// say whose they are.
fn cores_of_both(now: &[CoreLine], earlier: &[CoreLine]) -> Vec<(Softnet, Softnet)> {
    if now.iter().chain(earlier).all(|(core, _)| core.is_some()) {
        let before = |wanted| earlier.iter().find(|(core, _)| *core == wanted).map(|(_, before)| *before);
        return now.iter().filter_map(|(core, now)| Some((*now, before(*core)?))).collect();
    }
    if now.len() != earlier.len() {
        return Vec::new();
    }
    now.iter().zip(earlier).map(|((_, now), (_, before))| (*now, *before)).collect()
}

fn devices() -> BTreeMap<String, u64> {
    let ethtool = Ethtool::open().ok();
    let mut all = BTreeMap::new();
    for link in rtnetlink::links().unwrap_or_default() {
        all.extend(link.counters.iter().map(|(name, value)| (format!("{}.{name}", link.name), *value)));
        let own = ethtool.as_ref().and_then(|ethtool| ethtool.statistics(&link.name).ok()).unwrap_or_default();
        let own = own.into_iter().take(DRIVER_COUNTERS_MAX);
        all.extend(own.map(|(name, value)| (format!("{}.ethtool.{name}", link.name), value)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNMP: &str = "Tcp: RtoMin MaxConn OutSegs RetransSegs\nTcp: 200 -1 1000 7\nUdp: InErrors\nUdp: 3\n";

    fn counters(text: &str, softnet_text: &str) -> Counters {
        Counters { named: pairs_of_lines(text).collect(), softnet: softnet(softnet_text) }
    }

    #[test]
    fn a_counter_has_the_name_of_its_protocol_in_front() {
        let found: Vec<_> = pairs_of_lines(SNMP).map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(found, ["Tcp.RtoMin=200", "Tcp.OutSegs=1000", "Tcp.RetransSegs=7", "Udp.InErrors=3"]);
        let six: Vec<_> = lines("Ip6InReceives                   \t12\nodd\n").collect();
        assert_eq!(six, [("Ip6InReceives".to_owned(), 12)]);
    }

    #[test]
    fn lines_that_do_not_belong_together_give_nothing() {
        for text in ["Tcp: A B\nUdp: 1 2\n", "Tcp: A B\n", "Tcp: A\nTcp: x\n", "\n\n"] {
            assert_eq!(pairs_of_lines(text).count(), 0, "{text:?}");
        }
    }

    #[test]
    fn only_what_rose_is_told() {
        let before = counters(SNMP, "ffffffff 1 0\n00000010 0 0\n");
        let after = counters(
            "Tcp: RtoMin MaxConn OutSegs RetransSegs\nTcp: 200 -1 1500 6\nUdp: InErrors New\nUdp: 4 9\n",
            "00000001 1 0\n00000015 0 0\n",
        );
        let risen: Vec<_> = after.risen_since(&before).into_iter().collect();
        let expected = [("Tcp.OutSegs", 500), ("Udp.InErrors", 1), ("softnet.processed", 7)];
        assert_eq!(risen, expected.map(|(name, rise)| (name.to_owned(), rise)));
    }

    #[test]
    fn a_core_that_goes_or_comes_is_not_taken_for_another() {
        let line = |core: u32, processed: u32| format!("{processed:08x}{} {core:08x} 0 0\n", " 0".repeat(11));
        let before = line(0, 5) + &line(1, 900) + &line(0x1f, 7);
        let after = line(0, 6) + &line(2, 4000) + &line(0x1f, 9);
        let rise = |after: &str, before: &str| counters("", after).risen_since(&counters("", before));
        assert_eq!(rise(&after, &before).into_values().collect::<Vec<_>>(), [3]);
        assert!(rise("9 0 0\n9 0 0\n", "5 0 0\n").is_empty());
    }

    #[test]
    fn this_host_counts_segments_and_packets() {
        let now = Counters::read();
        for name in ["Tcp.OutSegs", "TcpExt.TCPTimeouts", "IpExt.InOctets", "lo.rx_packets"] {
            assert!(now.named.contains_key(name), "{name}");
        }
        assert!(!now.softnet.is_empty());
    }
}
