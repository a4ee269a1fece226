//! Measurements that must not begin.

use std::{net::UdpSocket, time::Duration};

use wire::{Echo, Phase, Role, RttSettings};

use crate::{
    ends::End,
    support::{connect, listen, settings},
};

#[test]
fn a_host_that_did_not_ask_gets_nothing_but_openings() {
    let victim = UdpSocket::bind("127.0.0.1:0").unwrap();
    victim.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let port = victim.local_addr().unwrap().port();
    let rtt = RttSettings { connect_timeout_us: 400_000, ..settings(Echo::Auto) };
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, rtt));
    let mut buffer = [0; 100];
    let mut openings = 0;
    for _ in 0..20 {
        if let Ok((length, from)) = victim.recv_from(&mut buffer) {
            assert_eq!(length, wire::OPENING_BYTES);
            openings += 1;
            // An echo service sends back what it got: that is not the answer.
            victim.send_to(&buffer[..length], from).unwrap();
        }
    }
    assert!((2..=5).contains(&openings), "{openings} openings in 0.4 s");
    assert_eq!(source.failed().kind, "connect_timeout");
}

#[test]
fn nobody_listening_is_a_failed_connection() {
    let free = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let rtt = RttSettings { connect_timeout_us: 300_000, ..settings(Echo::Udp) };
    let failed = End::begin(connect(Role::Source, "127.0.0.1", free, rtt)).failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Connect, "connect"));
}

#[test]
fn a_sink_that_nobody_visits_gives_up() {
    let rtt = RttSettings { connect_timeout_us: 100_000, ..settings(Echo::Udp) };
    let sink = End::begin(listen(Role::Sink, rtt));
    sink.listening_port();
    assert_eq!(sink.failed().kind, "accept_timeout");
}

#[test]
fn a_sink_that_cannot_be_reached_has_no_time_of_connecting() {
    let failed = End::begin(listen(Role::Source, settings(Echo::TcpConnect))).failed();
    assert_eq!(failed.kind, "settings");
}

#[test]
fn more_than_an_engine_can_bear_is_refused() {
    let base = || settings(Echo::Udp);
    for rtt in [
        RttSettings { sizes_bytes: vec![], ..base() },
        RttSettings { sizes_bytes: vec![15], ..base() },
        RttSettings { sizes_bytes: vec![65_508], ..base() },
        RttSettings { every_us: 99, ..base() },
        RttSettings { timeout_us: 60_000_001, ..base() },
        RttSettings { duration_us: u64::MAX, ..base() },
    ] {
        assert_eq!(End::begin(listen(Role::Sink, rtt)).failed().kind, "settings");
    }
}
