//! Trials that must not begin, and connections that are not theirs.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    time::Instant,
};

use wire::{Phase, RendezvousRole, Role, TcpSettings, Test, Token};

use crate::{
    ends::{End, TOKEN, prepare},
    support::{connect, connected_report, listen, settings},
};

#[test]
fn a_clipped_window_fails_before_any_traffic() {
    let tcp = TcpSettings { window_bytes: Some(1 << 30), ..settings(1) };
    let failed = End::begin(listen(Role::Sink, tcp)).failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Prepare, "window_clipped"));
    assert!(failed.message.contains("1073741824") && failed.message.contains("net.core.rmem_max"));
}

#[test]
fn a_clipped_window_may_be_allowed_and_a_tiny_one_is_raised() {
    let tcp = TcpSettings { window_bytes: Some(1 << 30), clip_allowed: true, ..settings(1) };
    let sink = End::begin(listen(Role::Sink, tcp));
    let tiny = TcpSettings { window_bytes: Some(100), ..settings(1) };
    let source = End::begin(connect(Role::Source, "127.0.0.1", sink.listening_port(), tiny));
    assert!(sink.connected().granted.window_clipped);
    assert!(source.connected().granted.window_raised);
    source.control.stop();
}

#[test]
fn an_unknown_congestion_control_is_named() {
    let tcp = TcpSettings { congestion: Some("nonesuch".into()), ..settings(1) };
    let failed = End::begin(connect(Role::Source, "127.0.0.1", 9, tcp)).failed();
    assert_eq!(failed.kind, "congestion_unavailable");
    assert!(failed.message.contains("nonesuch") && failed.message.contains("reno"));
}

#[test]
fn rejected_connections_are_counted_and_disturb_nothing() {
    let tcp = settings(4);
    let sink = End::begin(listen(Role::Sink, tcp.clone()));
    let port = sink.listening_port();
    let mut talker = TcpStream::connect(("127.0.0.1", port)).unwrap();
    talker.write_all(b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n").unwrap();
    let thief = wire::Opening { token: Token([9; 16]), flow: 0 };
    let mut guesser = TcpStream::connect(("127.0.0.1", port)).unwrap();
    guesser.write_all(&thief.encode()).unwrap();
    let mut answer = [0; 1];
    assert!(matches!(guesser.read(&mut answer), Ok(0) | Err(_)), "a wrong token got an answer");
    let mut wrong_flow = TcpStream::connect(("127.0.0.1", port)).unwrap();
    wrong_flow.write_all(&wire::Opening { token: TOKEN, flow: 4 }.encode()).unwrap();
    assert!(matches!(wrong_flow.read(&mut answer), Ok(0) | Err(_)), "a wrong flow got an answer");
    let mut slow = TcpStream::connect(("127.0.0.1", port)).unwrap();
    slow.write_all(b"F").unwrap();
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, tcp));
    source.connected();
    source.control.start(Instant::now());
    let report = connected_report(sink);
    let seen = report.rejected_connections;
    assert_eq!((seen.not_an_engine, seen.wrong_token, seen.wrong_flow, seen.unfinished), (1, 1, 1, 1));
    assert_eq!(report.incomplete, None);
}

#[test]
fn a_source_sends_nothing_to_a_host_that_did_not_ask() {
    let bystander = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = bystander.local_addr().unwrap().port();
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, settings(1)));
    source.control.start(Instant::now());
    let (mut victim, _) = bystander.accept().unwrap();
    // An echo service sends back what it got: that is not the answer.
    let mut got = [0; wire::OPENING_BYTES];
    victim.read_exact(&mut got).unwrap();
    victim.write_all(&got).unwrap();
    assert_eq!(source.failed().kind, "handshake");
    let mut more = Vec::new();
    // A reset is as good as an end: what counts is that no byte was received.
    let _ = victim.read_to_end(&mut more);
    assert!(more.is_empty());
}

#[test]
fn a_crowd_of_silent_connections_does_not_keep_the_flows_out() {
    let tcp = settings(2);
    let sink = End::begin(listen(Role::Sink, tcp.clone()));
    let port = sink.listening_port();
    let crowd: Vec<_> = (0..100).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, tcp));
    source.connected();
    source.control.start(Instant::now());
    let report = connected_report(sink);
    assert!(report.rejected_connections.crowded_out > 0);
    assert_eq!(report.rejected_connections.crowded_out + report.rejected_connections.unfinished, 100);
    assert_eq!(report.incomplete, None);
    drop(crowd);
}

#[test]
fn a_cpu_that_is_not_there_fails_before_any_traffic() {
    let tcp = TcpSettings { cpus: vec![0, 1023], ..settings(2) };
    let failed = End::begin(listen(Role::Sink, tcp)).failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Prepare, "settings"));
    assert!(failed.message.contains("CPU 1023"));
}

#[test]
fn more_than_an_engine_can_bear_is_refused() {
    for tcp in [
        settings(u32::MAX),
        TcpSettings { length_bytes: u32::MAX, ..settings(1) },
        TcpSettings { length_bytes: 64 << 20, ..settings(17) },
        TcpSettings { duration_us: u64::MAX, ..settings(1) },
        TcpSettings { silence_timeout_us: 0, ..settings(1) },
    ] {
        assert_eq!(End::begin(listen(Role::Sink, tcp)).failed().kind, "settings");
    }
}

#[test]
fn a_range_of_ports_is_used_up_in_order() {
    let first = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let ports = Some(wire::PortRange { first, last: first });
    let rendezvous = RendezvousRole::Listen { bind: Some([127, 0, 0, 1].into()), ports };
    let one = End::begin(prepare(Role::Sink, rendezvous.clone(), Test::Tcp(settings(1))));
    assert_eq!(one.listening_port(), first);
    let two = End::begin(prepare(Role::Sink, rendezvous, Test::Tcp(settings(1))));
    assert_eq!(two.failed().kind, "no_free_port");
    one.control.stop();
}

#[test]
fn a_sink_that_nobody_visits_gives_up() {
    let tcp = TcpSettings { connect_timeout_us: 100_000, ..settings(2) };
    let sink = End::begin(listen(Role::Sink, tcp));
    sink.listening_port();
    let failed = sink.failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Listen, "accept_timeout"));
    assert!(failed.message.contains("2 of 2"));
}

#[test]
fn nobody_listening_is_a_failed_connection() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let failed = End::begin(connect(Role::Source, "127.0.0.1", free, settings(1))).failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Connect, "connect"));
}
