//! Every rule, at its limit and over it by one.

use limits::Refusal;
use wire::{
    Cache, Content, Echo, FileSettings, Iperf3, MptcpSettings, Part, PathSettings, Prepare, QuicSettings,
    RendezvousRole, Role, RttSettings, Sync, TcpSettings, Test, UdpSettings, Verify,
};

use crate::support::{CONTROLLER, PEER, Point, admit, connect, listen, path, prepare, quic, rtt, tcp, to_peer, udp};

/// 1 s at 1 Mbit/s, 2 s that are reserved beyond, and the first block.
pub const BYTES: u64 = 376_000;

/// Two rules for controllers of one network.
pub const RULES: &str = r#"
[[rule]]
name = "lab"
peers = ["192.0.2.0/25", "2001:db8::/64"]
controllers = ["198.51.100.0/31"]
rate = "1Mbit/s"
duration = "2s"
flows = 4
bytes_per_day = "376KB"
[[rule]]
name = "rtt-only"
peers = ["192.0.2.128/25"]
controllers = ["198.51.100.0/31"]
tests = ["rtt"]
bytes_per_day = "10MB"
"#;

/// A source of TCP with other settings.
pub fn with(change: impl FnOnce(&mut TcpSettings)) -> Prepare {
    let mut settings = tcp();
    change(&mut settings);
    to_peer(Test::Tcp(settings))
}

fn udp_with(change: impl FnOnce(&mut UdpSettings)) -> Prepare {
    let mut settings = udp();
    change(&mut settings);
    to_peer(Test::Udp(settings))
}

fn quic_with(change: impl FnOnce(&mut QuicSettings)) -> Prepare {
    let mut settings = quic();
    change(&mut settings);
    to_peer(Test::Quic(settings))
}

fn rtt_with(change: impl FnOnce(&mut RttSettings)) -> Prepare {
    let mut settings = rtt();
    change(&mut settings);
    to_peer(Test::Rtt(settings))
}

fn path_with(change: impl FnOnce(&mut PathSettings)) -> Prepare {
    let mut settings = path();
    change(&mut settings);
    to_peer(Test::Path(settings))
}

fn to(address: &str) -> Prepare {
    prepare(Role::Source, connect(address), Test::Tcp(tcp()))
}

fn added() -> Test {
    serde_json::from_str(r#"{"type": "added", "name": "noop", "settings": null}"#).unwrap()
}

fn file() -> Test {
    Test::File(Box::new(FileSettings {
        tcp: tcp(),
        folder: "/".into(),
        files: 1,
        file_bytes: 1,
        existing: Some("/etc/shadow".into()),
        content: Content::Random,
        part: Part::Whole,
        cache: Cache::Dropped,
        sync: Sync::None,
        sendfile: false,
        verify: Verify::None,
    }))
}

/// What is asked for, and what is said.
fn refused() -> Vec<(Prepare, &'static str)> {
    let sink = |rendezvous, test| prepare(Role::Sink, rendezvous, test);
    let listening = |test| prepare(Role::Source, listen(), test);
    let open = TcpSettings { rate_bps: None, ..tcp() };
    vec![
        (with(|own| own.flows = 5), "asked for 5 flows at once, allowed at most 4 (`flows`)"),
        (udp_with(|own| own.flows = 5), "asked for 5 flows at once"),
        (quic_with(|own| own.flows = 5), "asked for 5 flows at once"),
        (with(|own| own.duration_us = 2_000_001), "asked for a trial of 2.000001 s, allowed at most 2 s (`duration`)"),
        (udp_with(|own| own.duration_us = 2_000_001), "(`duration`)"),
        (quic_with(|own| own.duration_us = 2_000_001), "(`duration`)"),
        (rtt_with(|own| own.duration_us = 2_000_001), "(`duration`)"),
        (path_with(|own| own.deadline_us = 2_000_001), "(`duration`)"),
        (
            with(|own| own.rate_bps = Some(1_000_001)),
            "asked for 1.000001 Mbit/s of all flows, allowed at most 1 Mbit/s",
        ),
        (with(|own| (own.rate_bps, own.flows) = (Some(250_001), 4)), "asked for 1.000004 Mbit/s of all flows"),
        (with(|own| (own.rate_bps, own.pacing_rate_bps) = (None, Some(1_000_001))), "(`rate`)"),
        (with(|own| (own.rate_bps, own.flows) = (Some(u64::MAX), 4)), "(`rate`)"),
        (udp_with(|own| own.rate_bps = Some(1_000_001)), "(`rate`)"),
        (udp_with(|own| (own.rate_bps, own.spacing_ns) = (None, Some(7_999_999))), "(`rate`)"),
        (udp_with(|own| own.spacing_ns = Some(7_999_999)), "(`rate`)"),
        (udp_with(|own| (own.rate_bps, own.spacing_ns) = (Some(1_000_001), Some(u64::MAX))), "(`rate`)"),
        (udp_with(|own| own.rate_bps = None), "asked for udp as fast as it can be sent"),
        (quic_with(|own| own.rate_bps = Some(1_000_001)), "(`rate`)"),
        (rtt_with(|own| (own.sizes_bytes, own.every_us) = (vec![64, 1250], 19_999)), "(`rate`)"),
        (
            rtt_with(|own| (own.sizes_bytes, own.every_us, own.echo) = (vec![64, 1250], 9_999, Echo::TcpConnect)),
            "(`rate`)",
        ),
        (path_with(|own| (own.trains, own.train_packets) = (1, 2)), "asked for path as fast as it can be sent"),
        (path_with(|own| (own.streams, own.stream_packets, own.stream_rates) = (1, 2, 1)), "no trains and no streams"),
        (sink(connect(PEER), Test::Tcp(open)), "asked for no rate, where this end receives"),
        (to("192.0.3.0"), "192.0.3.0 is none of them for a controller that comes from 198.51.100.1"),
        (to("192.0.1.255"), "192.0.1.255 is none of them"),
        (to("2001:db8:0:1::"), "2001:db8:0:1:: is none of them"),
        (to("::ffff:192.0.3.0"), "192.0.3.0 is none of them"),
        (to("elsewhere.example"), "203.0.113.9 is none of them"),
        (to("nowhere.example"), "nowhere.example has no address"),
        (to("192.0.2.128"), "rule rtt-only of this standing point: asked for tcp, allowed rtt (`tests`)"),
        (
            to_peer(Test::Mptcp(MptcpSettings { tcp: tcp(), subflows: None })),
            "does not carry out mptcp: the kernel makes",
        ),
        (to_peer(file()), "does not carry out file: it would read and write files of this host"),
        (to_peer(added()), "\"noop\""),
        (quic_with(|own| own.perf = true), "QUIC's perf servers: it measures with other engines only"),
        (Prepare { iperf3: Some(Iperf3::default()), ..with(|_| ()) }, "iperf3's servers"),
        (
            listening(Test::Udp(udp())),
            "udp as a source that listens: whoever opens with a datagram may say any address",
        ),
        (listening(Test::Rtt(rtt())), "rtt as a source that listens"),
        (listening(Test::Path(path())), "path as a source that listens"),
        (with(|own| own.connect_timeout_us = 119_000_001), "trials that take 120 s beyond their duration"),
        (
            sink(listen(), Test::Tcp(TcpSettings { flows: 5, ..tcp() })),
            "rule lab of this standing point: asked for 5 flows",
        ),
    ]
}

#[test]
fn what_is_over_a_limit_by_one_is_refused_in_words() {
    let point = Point::new("", RULES);
    let gate = point.session("alice", Some(CONTROLLER));
    let mut count = 0;
    for (request, said) in refused() {
        let refusal = admit(&gate, &request).err().unwrap_or_else(|| panic!("admitted: {request:?}"));
        assert!(refusal.to_string().contains(said), "{said}: {refusal}");
        assert_eq!(refusal.kind(), "point_refused");
        count += 1;
    }
    assert!(count >= 30, "{count}");
    let audited = point.audited();
    assert_eq!(audited.len(), count);
    assert!(audited.iter().all(|line| line["event"] == "refused" && line["controller"] == "alice"));
    assert!(audited.iter().all(|line| line["reason"].as_str().is_some_and(|reason| !reason.is_empty())));
    let names: Vec<_> = std::fs::read_dir(point.state()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| name == "lock"), "nothing is left: {names:?}");
}

#[test]
fn what_is_just_within_the_limits_is_admitted() {
    for request in [
        with(|own| (own.flows, own.rate_bps) = (4, Some(1000))),
        with(|own| own.duration_us = 2_000_000),
        with(|own| own.rate_bps = Some(1_000_000)),
        with(|own| (own.rate_bps, own.flows) = (Some(250_000), 4)),
        with(|own| own.connect_timeout_us = 119_000_000),
        udp_with(|own| (own.rate_bps, own.spacing_ns) = (None, Some(8_000_000))),
        rtt_with(|own| (own.sizes_bytes, own.every_us, own.duration_us) = (vec![64, 1250], 20_000, 500_000)),
        rtt_with(|own| (own.sizes_bytes, own.every_us, own.echo) = (vec![64, 1250], 10_000, Echo::TcpConnect)),
        quic_with(|own| own.rate_bps = Some(1_000_000)),
        path_with(|_| ()),
        to("192.0.2.0"),
        to("192.0.2.127"),
        to("::ffff:192.0.2.1"),
        to("2001:db8::ffff"),
        prepare(Role::Sink, listen(), Test::Udp(udp())),
        prepare(Role::Source, listen(), Test::Tcp(tcp())),
    ] {
        // With a block of each of four flows.
        let point = Point::new("", &RULES.replace("376KB", "379KB"));
        let admitted = admit(&point.session("alice", Some(CONTROLLER)), &request);
        assert!(admitted.is_ok(), "{request:?}: {}", admitted.err().map_or(String::new(), |error| error.to_string()));
    }
}

#[test]
fn controllers_from_elsewhere_are_refused() {
    let point = Point::new("", RULES);
    for (address, said) in [
        (Some("198.51.100.2"), "has no rule for controllers that come from 198.51.100.2"),
        (Some("198.51.99.255"), "has no rule for controllers that come from 198.51.99.255"),
        (None, "has no rule for controllers of which it is not known where they come from"),
    ] {
        let gate = point.session("mallory", address);
        let listening = prepare(Role::Sink, listen(), Test::Tcp(tcp()));
        assert!(admit(&gate, &listening).err().unwrap().to_string().contains(said));
        assert!(matches!(admit(&gate, &with(|_| ())).err(), Some(Refusal::Peer { .. })));
    }
}

#[test]
fn a_source_without_a_rate_is_held_to_what_is_allowed() {
    let point = Point::new("", &RULES.replace("376KB", "375MB"));
    let gate = point.session("alice", Some(CONTROLLER));
    let admitted = admit(&gate, &with(|own| (own.rate_bps, own.flows) = (None, 3))).ok().unwrap();
    let Test::Tcp(settings) = &admitted.prepare.test else { panic!("tcp") };
    assert_eq!(settings.pacing_rate_bps, Some(333_333));
    assert!(admitted.remarks[0].contains("(rule lab) holds each flow to 333.333 kbit/s"), "{:?}", admitted.remarks);
    drop(admitted);
    let admitted = admit(&gate, &quic_with(|own| own.rate_bps = None)).ok().unwrap();
    let Test::Quic(settings) = &admitted.prepare.test else { panic!("quic") };
    assert_eq!(settings.rate_bps, Some(1_000_000));
}

#[test]
fn a_stated_rate_holds_the_first_block_too() {
    let point = Point::new("", &RULES.replace("376KB", "376MB"));
    let gate = point.session("alice", Some(CONTROLLER));
    let paced = |role, rate_bps, pacing_rate_bps| {
        let settings = TcpSettings { rate_bps, pacing_rate_bps, length_bytes: 1 << 20, flows: 2, ..tcp() };
        let admitted = admit(&gate, &prepare(role, connect(PEER), Test::Tcp(settings))).ok().unwrap();
        let Test::Tcp(settings) = &admitted.prepare.test else { panic!("tcp") };
        assert!(admitted.remarks.is_empty());
        settings.pacing_rate_bps
    };
    assert_eq!(paced(Role::Source, Some(400_000), None), Some(400_000));
    assert_eq!(paced(Role::Source, Some(400_000), Some(300_000)), Some(300_000));
    assert_eq!(paced(Role::Source, Some(300_000), Some(400_000)), Some(300_000));
    assert_eq!(paced(Role::Source, Some(1), None), Some(8), "the kernel counts bytes");
    assert_eq!(paced(Role::Sink, Some(400_000), None), None);
    let audited = point.audited();
    let reserved = audited.iter().find(|line| line["event"] == "begun").map(|line| line["reserved_bytes"].clone());
    assert_eq!(reserved, Some((2 * (400_000 / 8 * 3 + (1 << 20))).into()), "3 s, and a block of each flow");
    let free = Point::new("", &RULES.replace("rate = \"1Mbit/s\"", ""));
    let gate = free.session("alice", Some(CONTROLLER));
    let admitted = admit(&gate, &with(|_| ())).ok().unwrap();
    let Test::Tcp(settings) = &admitted.prepare.test else { panic!("tcp") };
    assert_eq!(settings.pacing_rate_bps, None, "no rule has a rate");
}

#[test]
fn trains_count_as_long_as_they_may_grow() {
    let rule = "[[rule]]\nname = \"all\"\npeers = [\"0.0.0.0/0\"]\nbytes_per_day = \"1GB\"";
    for (trains, train_packets, packets) in [(20, 100, 22 * 4096), (1, 4096, 3 * 4096), (0, 100, 0)] {
        let point = Point::new("", rule);
        let gate = point.session("alice", None);
        let asked = path_with(|own| (own.trains, own.train_packets, own.train_bytes) = (trains, train_packets, 1440));
        let _held = admit(&gate, &asked).ok().unwrap();
        // Three tries of the one probe of a hop.
        assert_eq!(point.audited()[0]["reserved_bytes"], packets * 1440 + 300);
    }
}

#[test]
fn flows_and_rates_of_all_ends_of_a_controller_count_together() {
    let point = Point::new("", &RULES.replace("376KB", "375MB"));
    let gate = point.session("alice", Some(CONTROLLER));
    let two = with(|own| (own.flows, own.rate_bps) = (2, Some(250_000)));
    let (first, _second) = (admit(&gate, &two).ok().unwrap(), admit(&gate, &two).ok().unwrap());
    assert!(admit(&gate, &two).err().unwrap().to_string().contains("asked for 6 flows at once"));
    first.finish("ok", None, Some(0));
    let faster = with(|own| own.rate_bps = Some(500_001));
    assert!(admit(&gate, &faster).err().unwrap().to_string().contains("asked for 1.000001 Mbit/s of all flows"));
    assert!(admit(&gate, &with(|own| own.rate_bps = Some(500_000))).is_ok());
}

#[test]
fn bytes_of_a_day_are_refused_before_they_flow() {
    let point = Point::new("", RULES);
    let gate = point.session("alice", Some(CONTROLLER));
    let all = with(|own| own.rate_bps = Some(1_000_000));
    let first = admit(&gate, &all).ok().unwrap();
    first.finish("ok", None, Some(1));
    let refusal = admit(&gate, &all).err().unwrap().to_string();
    let said =
        "asked for up to 376 KB, allowed at most 375.999 KB: of 376 KB a day that is left (`bytes_per_day`); again at";
    assert!(refusal.contains(said) && refusal.ends_with("T00:00:00Z"), "{refusal}");
    // A byte less, without the first block.
    let one_less = with(|own| own.rate_bps = Some(8 * (BYTES - 1001) / 3));
    assert!(admit(&gate, &one_less).is_ok());
}

#[test]
fn a_listening_end_takes_peers_of_the_rules_that_allow_its_request() {
    let point = Point::new("", RULES);
    let gate = point.session("alice", Some(CONTROLLER));
    let admitted = admit(&gate, &prepare(Role::Sink, listen(), Test::Tcp(tcp()))).ok().unwrap();
    let said = |peer: &str| admitted.check_peer(peer.parse().unwrap()).map_err(|refusal| refusal.to_string());
    assert_eq!(said("192.0.2.127"), Ok(()));
    assert_eq!(said("::ffff:192.0.2.127"), Ok(()));
    assert!(said("192.0.2.128").unwrap_err().contains("asked for tcp, allowed rtt"));
    assert!(said("192.0.3.0").unwrap_err().contains("192.0.3.0 is none of them"));
}

#[test]
fn an_address_that_was_looked_up_is_the_one_that_is_gone_to() {
    let point = Point::new("", &RULES.replace("192.0.2.0/25", "203.0.113.9/32"));
    let gate = point.session("alice", Some(CONTROLLER));
    let admitted = admit(&gate, &to("elsewhere.example")).ok().unwrap();
    let RendezvousRole::Connect { address, .. } = &admitted.prepare.rendezvous else { panic!("it connects") };
    assert_eq!(address, "203.0.113.9");
}

#[test]
fn without_limits_that_can_be_read_everything_is_refused() {
    let point = Point::new("", "[[rule]]\nname = 5");
    let gate = point.session("alice", Some(CONTROLLER));
    let refusal = admit(&gate, &with(|_| ())).err().unwrap();
    assert_eq!(refusal.kind(), "point_broken");
    assert!(refusal.to_string().contains("rule 1, key `name`: found 5, expected 1 to 64 letters"), "{refusal}");
    std::fs::remove_file(point.path("limits.toml")).unwrap();
    let refusal = admit(&point.session("alice", Some(CONTROLLER)), &with(|_| ())).err().unwrap();
    assert!(refusal.to_string().contains("limits.toml: cannot be read"), "{refusal}");
}

#[test]
fn times_of_the_day_are_kept() {
    // The hour that begins in two hours: now is not within it, whenever the test runs.
    let hour = (std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() / 3600 + 2) % 24;
    let between = format!("flows = 4\nbetween = [\"{hour:02}:00-{:02}:00\"]", (hour + 1) % 24);
    let point = Point::new("", &RULES.replace("flows = 4", &between));
    let refusal = admit(&point.session("alice", Some(CONTROLLER)), &with(|_| ())).err().unwrap().to_string();
    assert!(
        refusal.contains("allowed trials that lie within") && refusal.contains("(`between`); again at"),
        "{refusal}"
    );
    assert!(refusal.ends_with(&format!("T{hour:02}:00:00Z")), "{refusal}");
}
