//! Measurements that run.

use std::net::UdpSocket;

use wire::{Echo, FlowEnd, Report, Role, RttSettings};

use crate::{
    ends::End,
    support::{Row, connect, listen, report, run, settings},
};

fn all_are_answered(source: &(Report, Vec<Row>), echo: &str) {
    let (report, rows) = source;
    assert_eq!(report.incomplete, None);
    assert_eq!(report.table_rows["echoes"], rows.len() as u64);
    // A machine that sleeps through some leaves them out, and a busy one sleeps for most of the 300 ms.
    assert!((5..=60).contains(&rows.len()), "{} probes", rows.len());
    for (number, row) in (0..).zip(rows) {
        assert_eq!((row.sequence, row.echo.as_str()), (number, echo));
        let rtt_ns = row.rtt_ns.unwrap();
        assert!((1..500_000_000).contains(&rtt_ns), "{rtt_ns} ns over loopback");
    }
    assert!(rows.windows(2).all(|pair| pair[0].sent_ns < pair[1].sent_ns));
}

#[test]
fn datagrams_are_answered_over_both_families_whoever_listens() {
    for (address, listener) in [("127.0.0.1", Role::Sink), ("::1", Role::Sink), ("127.0.0.1", Role::Source)] {
        let (granted, source, sink) = run(address, listener, &settings(Echo::Udp));
        assert_eq!(granted.granted.echo, Some(Echo::Udp));
        all_are_answered(&source, "udp");
        assert_eq!((sink.incomplete, sink.flows[0].end), (None, FlowEnd::Drained));
        assert_eq!(sink.flows[0].bytes, source.0.flows[0].bytes);
    }
}

#[test]
fn connections_are_timed_over_both_families() {
    for address in ["127.0.0.1", "::1"] {
        let (_, source, sink) = run(address, Role::Sink, &settings(Echo::TcpConnect));
        all_are_answered(&source, "tcp_connect");
        assert!(source.1.iter().all(|row| row.size_bytes == 0));
        assert_eq!(sink.rejected_connections.not_an_engine, 0);
    }
}

#[test]
fn icmp_is_taken_where_it_may_be_and_datagrams_otherwise() {
    for address in ["127.0.0.1", "::1"] {
        let (granted, source, _) = run(address, Role::Sink, &settings(Echo::Auto));
        let icmp = granted.granted.echo == Some(Echo::Icmp);
        assert!(icmp || granted.granted.remarks[0].contains("ICMP echo"));
        all_are_answered(&source, if icmp { "icmp" } else { "udp" });
    }
}

#[test]
fn every_size_is_sent_as_often_as_the_others() {
    let sizes = vec![16, 1472, 65_507];
    let (_, (report, rows), sink) =
        run("127.0.0.1", Role::Sink, &RttSettings { sizes_bytes: sizes, ..settings(Echo::Udp) });
    let count = |size: i64| rows.iter().filter(|row| row.size_bytes == size && row.rtt_ns.is_some()).count();
    let counts = [count(16), count(1472), count(65_507)];
    assert_eq!(counts.iter().sum::<usize>(), rows.len());
    assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
    assert_eq!(sink.flows[0].bytes, report.flows[0].bytes);
}

#[test]
fn a_sink_that_is_gone_answers_nothing_and_the_source_ends_in_time() {
    let rtt = RttSettings { timeout_us: 100_000, ..settings(Echo::Udp) };
    let sink = End::begin(listen(Role::Sink, rtt.clone()));
    let source = End::begin(connect(Role::Source, "127.0.0.1", sink.listening_port(), rtt));
    source.connected();
    sink.connected();
    sink.control.stop();
    assert_eq!(sink.report().0.flows[0].end, FlowEnd::Stopped);
    source.control.start(std::time::Instant::now());
    let (report, rows) = report(source);
    assert_eq!(report.incomplete.unwrap().kind, "no_answer");
    assert!(rows.len() > 20 && rows.iter().all(|row| row.rtt_ns.is_none()));
}

#[test]
fn rejected_datagrams_do_not_disturb_a_measurement() {
    let rtt = settings(Echo::Udp);
    let sink = End::begin(listen(Role::Sink, rtt.clone()));
    let port = sink.listening_port();
    let intruder = UdpSocket::bind("127.0.0.1:0").unwrap();
    for datagram in [&b"GET /"[..], &[0; 24], &[7; 2000]] {
        intruder.send_to(datagram, ("127.0.0.1", port)).unwrap();
    }
    let thief = wire::Opening { token: wire::Token([9; 16]), flow: 0 };
    intruder.send_to(&thief.encode(), ("127.0.0.1", port)).unwrap();
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, rtt));
    source.connected();
    sink.connected();
    source.control.start(std::time::Instant::now());
    for _ in 0..1000 {
        let _ = intruder.send_to(&thief.encode(), ("127.0.0.1", port));
    }
    all_are_answered(&report(source), "udp");
    let (report, _) = sink.report();
    assert_eq!((report.rejected_connections.not_an_engine, report.rejected_connections.wrong_token), (3, 1));
    intruder.set_nonblocking(true).unwrap();
    assert!(intruder.recv(&mut [0; 100]).is_err(), "an intruder got an answer");
}
