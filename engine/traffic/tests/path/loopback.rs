//! Measurements over loopback: who may say what to whom, and how they end.

use std::{
    net::UdpSocket,
    thread,
    time::{Duration, Instant},
};

use wire::{Event, OPENING_BYTES, Opening, PathSettings, Phase, Role, Test, Token};

use crate::{
    ends::{End, TOKEN, meet},
    support::{Measured, Packet, carry_through, connect, listen, settings},
};

fn hops_and_trains() -> PathSettings {
    PathSettings {
        ttl_max: 30,
        sizes_bytes: vec![1240, 1340, 1440],
        probes: 4,
        trains: 2,
        train_packets: 50,
        train_bytes: 1500,
        streams: 1,
        stream_packets: 20,
        stream_rates: 3,
        ..settings()
    }
}

fn measure(address: &str, listening: Role, path: &PathSettings) -> Measured {
    let (source, sink) = meet(address, listening, &Test::Path(path.clone()));
    carry_through(source, sink)
}

fn is_whole(measured: &Measured, address: &str) {
    assert_eq!((&measured.source.incomplete, &measured.sink.incomplete), (&None, &None));
    assert_eq!(measured.hops.len(), 3 * 4, "{:?}", measured.hops);
    for hop in &measured.hops {
        assert_eq!((hop.ttl, hop.answer.as_deref(), hop.address.as_deref()), (1, Some("destination"), Some(address)));
        assert!(hop.rtt_ns.is_some_and(|rtt| (0..1_000_000_000).contains(&rtt)), "{hop:?}");
        assert_eq!(hop.spacing_ns, 2_000_000);
    }
    let streams = measured.packets.iter().filter(|packet| packet.kind == "stream").count();
    assert_eq!(streams, 3 * 20, "three rates of 20 packets, each of which arrives here");
    assert!(measured.packets.iter().filter(|packet| packet.kind == "train").count() >= 2 * 50);
    for packet in &measured.packets {
        assert_eq!(packet.size_bytes, 1500);
        assert_eq!(packet.rate_bps.is_some(), packet.kind == "stream");
    }
}

#[test]
fn all_of_it_over_ipv4() {
    is_whole(&measure("127.0.0.1", Role::Sink, &hops_and_trains()), "127.0.0.1");
}

#[test]
fn all_of_it_over_ipv6() {
    let path = PathSettings { family: Some(6), ..hops_and_trains() };
    is_whole(&measure("::1", Role::Sink, &path), "::1");
}

#[test]
fn a_source_that_listens_and_starts_late() {
    let path = hops_and_trains();
    let source = End::begin(listen(Role::Source, path.clone()));
    let sink = End::begin(connect(Role::Sink, "127.0.0.1", source.listening_port(), path));
    thread::sleep(Duration::from_millis(200));
    is_whole(&carry_through(source, sink), "127.0.0.1");
}

#[test]
fn packets_of_a_stream_are_sent_at_its_rate() {
    let path = PathSettings { ttl_max: 0, stream_packets: 100, ..hops_and_trains() };
    let measured = measure("127.0.0.1", Role::Sink, &path);
    let at_an_end = |packet: &&Packet| packet.kind == "stream" && [0, 99].contains(&packet.sequence);
    let ends: Vec<_> = measured.packets.iter().filter(at_an_end).collect();
    assert_eq!(ends.len(), 3 * 2);
    for pair in ends.chunks(2) {
        let (first, last) = (pair[0], pair[1]);
        assert_eq!((first.sequence, last.sequence, first.train), (0, 99, last.train));
        let due_ns = 99 * 1500 * 8 * 1_000_000_000_i64 / first.rate_bps.unwrap();
        let took_ns = last.sent_ns - first.sent_ns;
        // Never earlier, but for what the first was late; how much later is the machine's.
        assert!(took_ns >= due_ns - 1_000_000, "{took_ns} of {due_ns}");
    }
}

#[test]
fn rejected_connections_are_counted_and_disturb_nothing() {
    let path = hops_and_trains();
    let sink = End::begin(listen(Role::Sink, path.clone()));
    let port = sink.listening_port();
    let intruder = UdpSocket::bind("127.0.0.1:0").unwrap();
    let thief = Opening { token: Token([9; 16]), flow: 0 }.encode();
    let wrong_flow = Opening { token: TOKEN, flow: 1 }.encode();
    for datagram in [&b"GET / HTTP/1.1"[..], &thief, &wrong_flow, &thief[..OPENING_BYTES - 1], &[0; 9000]] {
        intruder.send_to(datagram, ("127.0.0.1", port)).unwrap();
    }
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, path));
    let measured = carry_through(source, sink);
    is_whole(&measured, "127.0.0.1");
    let seen = measured.sink.rejected_connections;
    assert_eq!((seen.not_an_engine, seen.wrong_token, seen.wrong_flow), (3, 1, 1));
    intruder.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    assert!(intruder.recv(&mut [0; 100]).is_err(), "an intruder got an answer");
}

#[test]
fn a_source_sends_nothing_but_openings_to_a_host_that_did_not_ask() {
    let echo = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = echo.local_addr().unwrap().port();
    let path = PathSettings { connect_timeout_us: 500_000, ..hops_and_trains() };
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, path));
    source.control.start(Instant::now());
    echo.set_read_timeout(Some(Duration::from_millis(700))).unwrap();
    let mut buffer = [0; 2000];
    let mut openings = 0;
    // An echo service sends back what it got: that is not the answer.
    while let Ok((length, from)) = echo.recv_from(&mut buffer) {
        assert_eq!(length, OPENING_BYTES);
        echo.send_to(&buffer[..length], from).unwrap();
        openings += 1;
    }
    assert!((2..20).contains(&openings), "{openings} openings");
    let failed = source.failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Connect, "connect_timeout"));
}

#[test]
fn nobody_listening_is_a_failed_connection() {
    let free = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let path = PathSettings { connect_timeout_us: 300_000, ..hops_and_trains() };
    let failed = End::begin(connect(Role::Source, "127.0.0.1", free, path)).failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Connect, "connect"));
}

#[test]
fn a_sink_that_nobody_visits_gives_up() {
    let path = PathSettings { connect_timeout_us: 100_000, ..hops_and_trains() };
    let sink = End::begin(listen(Role::Sink, path));
    sink.listening_port();
    assert_eq!(sink.failed().kind, "accept_timeout");
}

#[test]
fn a_stop_ends_both_ends_at_once() {
    let path = PathSettings { probes: 10_000, ..hops_and_trains() };
    let sink = End::begin(listen(Role::Sink, path.clone()));
    let source = End::begin(connect(Role::Source, "127.0.0.1", sink.listening_port(), path));
    source.connected();
    sink.connected();
    source.control.start(Instant::now());
    thread::sleep(Duration::from_millis(500));
    let begun = Instant::now();
    for end in [source, sink] {
        end.control.stop();
        let incomplete = end.report().0.incomplete;
        assert!(incomplete.is_none_or(|failed| failed.kind == "stopped"));
    }
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[test]
fn the_deadline_ends_what_would_take_longer() {
    let path = PathSettings { probes: 10_000, deadline_us: 1_000_000, ..hops_and_trains() };
    let begun = Instant::now();
    let measured = measure("127.0.0.1", Role::Sink, &path);
    assert!(begun.elapsed() < Duration::from_secs(4));
    assert!(!measured.hops.is_empty());
    assert_eq!(measured.source.incomplete, None);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for path in [
        PathSettings { sizes_bytes: vec![63], ..hops_and_trains() },
        PathSettings { sizes_bytes: Vec::new(), ..hops_and_trains() },
        PathSettings { every_us: 10, ..hops_and_trains() },
        PathSettings { train_packets: 1, ..hops_and_trains() },
        PathSettings { trains: 0, ..hops_and_trains() },
        PathSettings { deadline_us: u64::MAX, ..hops_and_trains() },
    ] {
        assert_eq!(End::begin(listen(Role::Sink, path)).failed().kind, "settings");
    }
}

#[test]
fn all_bytes_are_told_before_the_report() {
    let path = PathSettings { ttl_max: 0, streams: 0, ..hops_and_trains() };
    let sink = End::begin(listen(Role::Sink, path.clone()));
    let source = End::begin(connect(Role::Source, "127.0.0.1", sink.listening_port(), path));
    source.connected();
    sink.connected();
    source.control.start(Instant::now());
    for end in [source, sink] {
        let mut told = 0;
        let last = loop {
            match end.next() {
                Event::Progress(progress) => told = progress.bytes,
                other => break other,
            }
        };
        assert!(matches!(last, Event::Report(_)), "{last:?}");
        assert!(told >= 2 * 50 * 1500, "{told} B of two trains");
    }
}
