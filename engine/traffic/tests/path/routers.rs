//! A path through routers that are network namespaces: who answers, how often, and what a shaped link shows.

use std::{
    net::IpAddr,
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    time::Instant,
};

use sys::in_network_namespace;
use wire::{PathSettings, Role};

use crate::{
    ends::End,
    support::{Measured, carry_through, connect, listen, settings},
};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Source, two routers and sink in a row: link `n` is 10.88.n.0/24 and `fd88:n::/64`, 1 nearer to the source and 2
/// nearer to the sink.
struct Row([String; 4]);

const SINK: &str = "10.88.2.2";
const SINK_IPV6: &str = "fd88:2::2";

impl Row {
    /// `None`, with the reason printed, where namespaces are not permitted; in continuous integration that fails.
    fn new() -> Option<Self> {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let row = Self([0, 1, 2, 3].map(|place| format!("path-{}-{number}{place}", std::process::id())));
        for name in &row.0 {
            if let Err(reason) = ip(&format!("netns add {name}")) {
                println!("skipped: {reason}");
                let accepted = std::env::var_os("CI").is_none_or(|value| value.is_empty());
                assert!(accepted, "skipped, which continuous integration does not accept: {reason}");
                return None;
            }
        }
        for link in 0..3 {
            let [near, far] = [&row.0[link], &row.0[link + 1]];
            ip(&format!("-n {near} link add right type veth peer name left netns {far}")).unwrap();
            for (name, device, end) in [(near, "right", 1), (far, "left", 2)] {
                ip(&format!("-n {name} address add 10.88.{link}.{end}/24 dev {device}")).unwrap();
                ip(&format!("-n {name} address add fd88:{link}::{end}/64 dev {device} nodad")).unwrap();
                ip(&format!("-n {name} link set {device} up")).unwrap();
            }
        }
        for (place, name) in row.0.iter().enumerate() {
            let forward = || {
                std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
                std::fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "1").unwrap();
            };
            in_network_namespace(&row.path(place), forward).unwrap();
            for link in place + 1..3 {
                ip(&format!("-n {name} route add 10.88.{link}.0/24 via 10.88.{place}.2")).unwrap();
                ip(&format!("-n {name} route add fd88:{link}::/64 via fd88:{place}::2")).unwrap();
            }
            for link in 0..place.saturating_sub(1) {
                let near = place - 1;
                ip(&format!("-n {name} route add 10.88.{link}.0/24 via 10.88.{near}.1")).unwrap();
                ip(&format!("-n {name} route add fd88:{link}::/64 via fd88:{near}::1")).unwrap();
            }
        }
        Some(row)
    }

    fn path(&self, place: usize) -> PathBuf {
        PathBuf::from(format!("/run/netns/{}", self.0[place]))
    }

    fn measure(&self, address: &str, path: &PathSettings) -> Measured {
        let (source, sink) = self.ends(address, path);
        carry_through(source, sink)
    }

    fn ends(&self, address: &str, path: &PathSettings) -> (End, End) {
        let sink = End::begin_inside(listen(Role::Sink, path.clone()), inside(self.path(3)));
        let prepare = connect(Role::Source, address, sink.listening_port(), path.clone());
        (End::begin_inside(prepare, inside(self.path(0))), sink)
    }
}

impl Drop for Row {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = ip(&format!("netns del {name}"));
        }
    }
}

fn inside(namespace: PathBuf) -> impl FnOnce(&mut (dyn FnMut() + Send)) + Send + 'static {
    move |work| in_network_namespace(&namespace, work).unwrap()
}

fn ip(arguments: &str) -> Result<(), String> {
    run("ip", arguments)
}

fn run(program: &str, arguments: &str) -> Result<(), String> {
    let output = Command::new(program).args(arguments.split(' ')).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    output.status.success().then_some(()).ok_or(format!("{program} {arguments}: {said}"))
}

#[test]
fn every_hop_is_found_and_a_limit_of_answers_is_waited_out() {
    let Some(row) = Row::new() else { return };
    let sizes_bytes = vec![600, 1020, 1440];
    let path = PathSettings { ttl_max: 30, sizes_bytes: sizes_bytes.clone(), probes: 4, ..settings() };
    let measured = row.measure(SINK, &path);
    assert_eq!((&measured.source.incomplete, &measured.sink.incomplete), (&None, &None));
    for (ttl, address, answer) in
        [(1, "10.88.0.2", "time_exceeded"), (2, "10.88.1.2", "time_exceeded"), (3, SINK, "destination")]
    {
        let hops: Vec<_> = measured.hops.iter().filter(|hop| hop.ttl == ttl).collect();
        for size_bytes in sizes_bytes.iter().map(|size| i64::from(*size)) {
            assert_eq!(hops.iter().filter(|hop| hop.size_bytes == size_bytes).count(), 4, "{hops:#?}");
        }
        for hop in &hops {
            assert_eq!((hop.address.as_deref(), hop.answer.as_deref()), (Some(address), Some(answer)), "{hop:?}");
            // Microseconds by the link; the rest is the machine's.
            assert!(hop.rtt_ns.is_some_and(|rtt| (1..200_000_000).contains(&rtt)), "{hop:?}");
            assert!(hop.sent_ns > 0);
        }
        // Linux sends six errors at once and then one a second; the sink's engine answers all.
        let limited = hops.iter().any(|hop| hop.tries > 1);
        assert_eq!(limited, ttl < 3, "{hops:#?}");
        let slowed = hops.iter().any(|hop| hop.spacing_ns > 2_000_000);
        assert!(ttl < 3 || !slowed, "{hops:#?}");
    }
}

#[test]
fn every_hop_is_found_over_ipv6() {
    let Some(row) = Row::new() else { return };
    // Routers quote the first one whole: it is left out, which leaves too few.
    let sizes_bytes = vec![1231, 1232, 1440];
    let path = PathSettings { ttl_max: 30, sizes_bytes, probes: 4, family: Some(6), ..settings() };
    let (source, sink) = row.ends(SINK_IPV6, &path);
    let remarks = source.connected().granted.remarks;
    assert!(remarks.len() == 1 && remarks[0].contains("1232 B"), "{remarks:?}");
    sink.connected();
    source.control.start(Instant::now());
    let measured = Measured::of(source, sink);
    assert!(measured.hops.iter().all(|hop| hop.size_bytes >= 1232), "{:?}", measured.hops);
    assert_eq!((&measured.source.incomplete, &measured.sink.incomplete), (&None, &None));
    assert_eq!(measured.hops.len(), 3 * 2 * 4);
    for hop in &measured.hops {
        let expected = match hop.ttl {
            1 => ("fd88:0::2".parse().unwrap(), "time_exceeded"),
            2 => ("fd88:1::2".parse().unwrap(), "time_exceeded"),
            _ => (SINK_IPV6.parse::<IpAddr>().unwrap(), "destination"),
        };
        let address = hop.address.as_deref().and_then(|address| address.parse().ok());
        assert_eq!((address, hop.answer.as_deref()), (Some(expected.0), Some(expected.1)), "{hop:?}");
        assert!(hop.rtt_ns.is_some_and(|rtt| (1..200_000_000).contains(&rtt)), "{hop:?}");
    }
}

#[test]
fn a_packet_that_the_first_link_cannot_carry_is_left_out_and_said() {
    let Some(row) = Row::new() else { return };
    let path = PathSettings {
        ttl_max: 1,
        sizes_bytes: vec![600, 1501],
        probes: 1,
        trains: 1,
        train_packets: 10,
        ..settings()
    };
    let path = PathSettings { train_bytes: 9000, ..path };
    let (source, sink) = row.ends(SINK, &path);
    let remarks = source.connected().granted.remarks;
    assert_eq!(remarks.len(), 2, "{remarks:?}");
    assert!(remarks.iter().all(|remark| remark.contains("1500 B")), "{remarks:?}");
    sink.connected();
    source.control.start(Instant::now());
    let measured = Measured::of(source, sink);
    assert_eq!(measured.hops.iter().map(|hop| hop.size_bytes).collect::<Vec<_>>(), [600]);
    assert!(measured.packets.iter().all(|packet| packet.size_bytes == 1500));
}

#[test]
fn the_number_of_hops_can_be_less_than_there_are() {
    let Some(row) = Row::new() else { return };
    let path = PathSettings { ttl_max: 1, sizes_bytes: vec![600], probes: 3, ..settings() };
    let measured = row.measure(SINK, &path);
    assert_eq!(measured.hops.iter().map(|hop| hop.ttl).collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn trains_show_the_rate_of_a_token_bucket_behind_its_burst() {
    let Some(row) = Row::new() else { return };
    // In the first router towards the second: a burst of 40 packets passes at once.
    let bucket = "qdisc add dev right root tbf rate 50mbit burst 60000 limit 4000000";
    run("tc", &format!("-n {} {bucket}", row.0[1])).unwrap();
    let path = PathSettings { trains: 5, train_packets: 50, train_bytes: 1500, ..settings() };
    let measured = row.measure(SINK, &path);
    assert_eq!((&measured.source.incomplete, &measured.sink.incomplete), (&None, &None));
    let last = measured.packets.iter().map(|packet| packet.train).max().unwrap();
    let mut rates: Vec<f64> = (last - 4..=last)
        .map(|train| {
            let packets: Vec<_> = measured.packets.iter().filter(|packet| packet.train == train).collect();
            let half = &packets[packets.len() / 2..];
            let bits: i64 = half[1..].iter().map(|packet| packet.size_bytes * 8).sum();
            let lasted_ns = half.last().unwrap().received_ns - half[0].received_ns;
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
            let rate_bps = bits as f64 * 1e9 / lasted_ns as f64;
            rate_bps
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    // tbf counts the Ethernet header of 14 B with each packet.
    let due = 50e6 * 1500.0 / 1514.0;
    assert!((rates[2] / due - 1.0).abs() < 0.05, "{rates:?}");
}
