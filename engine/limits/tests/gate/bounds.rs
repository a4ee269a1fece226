//! What an end may carry while it runs.

use std::time::Duration;

use wire::{Echo, PathSettings, Role, RttSettings, TcpSettings, Test};

use crate::{
    refusals::{BYTES, RULES, with},
    support::{CONTROLLER, PEER, Point, admit, connect, listen, path, prepare, rtt, tcp, to_peer},
};

#[test]
fn what_comes_to_a_sink_is_bounded() {
    let point = Point::new("", RULES);
    let gate = point.session("alice", Some(CONTROLLER));
    let settings = TcpSettings { rate_bps: Some(1_000_000), ..tcp() };
    let sink = admit(&gate, &prepare(Role::Sink, listen(), Test::Tcp(settings))).ok().unwrap();
    assert_eq!(sink.bytes_max(), Some(BYTES));
    let first_block = u64::from(tcp().length_bytes);
    assert!(!sink.is_too_much(250_000 + first_block, Duration::ZERO));
    assert!(sink.is_too_much(250_001 + first_block, Duration::ZERO), "it is faster than was asked for");
    assert!(!sink.is_too_much(BYTES, Duration::from_secs(9)));
    assert!(sink.is_too_much(BYTES + 1, Duration::from_secs(9)), "it is more than was asked for");
    sink.finish("ok", None, Some(0));
    let source = admit(&gate, &with(|_| ())).ok().unwrap();
    assert_eq!(source.bytes_max(), None);
}

#[test]
fn what_a_kernel_that_paces_sends_later_counts() {
    let point = Point::new("", &RULES.replace("376KB", "376MB"));
    let gate = point.session("alice", Some(CONTROLLER));
    // 1 s, 2 s beyond, and 1 s of drain where the application writes faster than the kernel sends.
    for (rate_bps, pacing_rate_bps, bytes) in [
        (None, Some(800_000), 400_000),
        (Some(1_000_000), Some(800_000), 401_000),
        (Some(800_000), Some(800_000), 301_000),
        (Some(800_000), Some(900_000), 301_000),
        (Some(800_000), None, 301_000),
    ] {
        let settings = TcpSettings { rate_bps, pacing_rate_bps, ..tcp() };
        let sink = admit(&gate, &prepare(Role::Sink, listen(), Test::Tcp(settings))).ok().unwrap();
        assert_eq!(sink.bytes_max(), Some(bytes), "{rate_bps:?} {pacing_rate_bps:?}");
        assert!(!sink.is_too_much(bytes, Duration::from_secs(9)));
        sink.finish("ok", None, Some(0));
    }
}

#[test]
fn a_source_sends_no_more_than_was_reserved_of_a_day() {
    let asked = with(|own| own.rate_bps = Some(1_000_000));
    for (rules, ends) in [(RULES.to_owned(), true), (RULES.replace("bytes_per_day = \"376KB\"", ""), false)] {
        let point = Point::new("", &rules);
        let source = admit(&point.session("alice", Some(CONTROLLER)), &asked).ok().unwrap();
        assert!(!source.is_too_much(BYTES, Duration::ZERO), "the kernel takes it as fast as it likes");
        assert_eq!(source.is_too_much(BYTES + 1, Duration::from_secs(9)), ends, "{rules}");
    }
}

#[test]
fn probes_that_come_to_a_sink_are_no_faster_than_was_asked_for() {
    let rules = RULES.replace("376KB", "376MB").replace("1Mbit/s", "2Mbit/s");
    let point = Point::new("", &rules);
    let gate = point.session("alice", Some(CONTROLLER));
    // 10 probes of 100 B a second, of which twice as many may come by chance, and some more at first.
    let settings = RttSettings { duration_us: 2_000_000, ..rtt() };
    let sink = admit(&gate, &prepare(Role::Sink, connect(PEER), Test::Rtt(settings))).ok().unwrap();
    assert_eq!(sink.bytes_max(), Some(28_000), "with the answers");
    assert!(!sink.is_too_much(14_000, Duration::ZERO));
    sink.finish("ok", None, Some(0));
    let settings = RttSettings { duration_us: 2_000_000, every_us: 1000, sizes_bytes: vec![64], ..rtt() };
    let sink = admit(&gate, &prepare(Role::Sink, connect(PEER), Test::Rtt(settings))).ok().unwrap();
    let at_once = 2 * 2000 * 64 + 100 * 64;
    assert_eq!(sink.bytes_max(), Some(2 * at_once));
    assert!(!sink.is_too_much(at_once, Duration::ZERO));
    sink.finish("ok", None, Some(0));
    let long = rules.replace("duration = \"2s\"", "duration = \"60s\"");
    let point = Point::new("", &long);
    let gate = point.session("alice", Some(CONTROLLER));
    let settings = RttSettings { duration_us: 60_000_000, every_us: 1000, sizes_bytes: vec![64], ..rtt() };
    let sink = admit(&gate, &prepare(Role::Sink, connect(PEER), Test::Rtt(settings))).ok().unwrap();
    assert!(!sink.is_too_much(at_once, Duration::ZERO));
    assert!(sink.is_too_much(at_once + 1, Duration::ZERO), "all of it at once");
    assert!(!sink.is_too_much(at_once + 1, Duration::from_secs(1)));
}

#[test]
fn answers_to_probes_count_as_what_is_asked_does() {
    let point = Point::new("", &RULES.replace("376KB", "376MB"));
    let gate = point.session("alice", Some(CONTROLLER));
    for (echo, factor) in [(Echo::Udp, 2), (Echo::Icmp, 2), (Echo::Auto, 2), (Echo::TcpConnect, 1)] {
        // 10 probes of 100 B a second, twice as many that may be drawn, and 100.
        let asked = prepare(Role::Source, connect(PEER), Test::Rtt(RttSettings { echo, ..rtt() }));
        admit(&gate, &asked).ok().unwrap().finish("ok", None, Some(1000));
        let audited = point.audited();
        let [begun, ended] = &audited[audited.len() - 2..] else { panic!("two lines") };
        assert_eq!(begun["reserved_bytes"], factor * 100 * (20 + 100), "{echo:?}");
        assert_eq!(ended["bytes"], factor * 1000, "{echo:?}");
    }
}

#[test]
fn a_first_block_may_come_at_once() {
    let point = Point::new("", &RULES.replace("376KB", "376MB"));
    let gate = point.session("alice", Some(CONTROLLER));
    let settings = TcpSettings { rate_bps: Some(500_000), length_bytes: 262_144, ..tcp() };
    let sink = admit(&gate, &prepare(Role::Sink, listen(), Test::Tcp(settings))).ok().unwrap();
    let in_two_seconds = 125_000;
    assert!(!sink.is_too_much(262_144 + in_two_seconds, Duration::ZERO));
    assert!(sink.is_too_much(262_144 + in_two_seconds + 1, Duration::ZERO));
}

#[test]
fn a_path_as_a_plan_has_it_where_nothing_is_said_takes_what_the_guide_says() {
    let settings = PathSettings {
        ttl_max: 30,
        sizes_bytes: vec![600, 680, 760, 840, 1240, 1280, 1320, 1360, 1400, 1440, 1480, 1500],
        probes: 64,
        trains: 20,
        train_packets: 100,
        train_bytes: 1440,
        streams: 5,
        stream_packets: 100,
        stream_rates: 10,
        deadline_us: 180_000_000,
        ..path()
    };
    let asked = to_peer(Test::Path(settings));
    let admits = |more: &str| {
        let point = Point::new("", &format!("[[rule]]\nname = \"any\"\npeers = [\"192.0.2.0/24\"]\n{more}\n"));
        admit(&point.session("alice", Some(CONTROLLER)), &asked).is_ok()
    };
    assert!(admits("duration = \"3min\"\nbytes_per_day = \"262242KB\""));
    assert!(!admits("duration = \"3min\"\nbytes_per_day = \"262241KB\""));
    assert!(!admits("bytes_per_day = \"1GB\""), "60 s are what a rule without `duration` allows");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/standing-points.md");
    let said = std::fs::read_to_string(page).unwrap();
    assert!(said.contains("reserves 262 MB") && said.contains("`duration = \"3min\"`"), "{page}");
}
