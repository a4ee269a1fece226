//! Flows that do not come up, or break.

use std::{
    net::UdpSocket,
    time::{Duration, Instant},
};

use wire::{ANSWER_BYTES, FlowEnd, Opening, Role, UdpSettings};

use crate::{
    ends::{ANSWER, End, TOKEN},
    support::{Reported, connect, listen, settings},
};

#[test]
fn a_flow_that_never_came_up_is_counted_and_the_others_go_on() {
    let udp = UdpSettings { connect_timeout_us: 1_500_000, ..settings(2) };
    let sink = End::begin(listen(Role::Sink, udp.clone()));
    let port = sink.listening_port();
    // Somebody who knows the secret takes the place of flow 1, and then is silent.
    let place = UdpSocket::bind("127.0.0.1:0").unwrap();
    place.send_to(&Opening { token: TOKEN, flow: 1 }.encode(), ("127.0.0.1", port)).unwrap();
    let mut answer = [0; ANSWER_BYTES];
    place.recv(&mut answer).unwrap();
    let source =
        End::begin(connect(Role::Source, "127.0.0.1", port, UdpSettings { silence_timeout_us: 300_000, ..udp }));
    source.connected();
    sink.connected();
    source.control.start(Instant::now());
    let source = Reported::by(source).report;
    let incomplete = source.incomplete.unwrap();
    assert_eq!(incomplete.kind, "flows_broken");
    assert!(
        incomplete.message.contains("1 of 2 flows broke; flow 1: it was not established"),
        "{}",
        incomplete.message
    );
    assert_eq!(source.flows[0].end, FlowEnd::Drained);
    assert!(source.flows[0].bytes > 0 && source.flows[1].bytes == 0);
    drop(sink);
}

#[test]
fn a_sink_tells_which_flow_sent_nothing() {
    let udp = UdpSettings { silence_timeout_us: 400_000, ..settings(2) };
    let sink = End::begin(listen(Role::Sink, udp.clone()));
    let port = sink.listening_port();
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    silent.send_to(&Opening { token: TOKEN, flow: 1 }.encode(), ("127.0.0.1", port)).unwrap();
    let source =
        End::begin(connect(Role::Source, "127.0.0.1", port, UdpSettings { connect_timeout_us: 500_000, ..udp }));
    source.connected();
    sink.connected();
    source.control.start(Instant::now());
    let (source, sink) = (Reported::by(source), Reported::by(sink).report);
    let incomplete = sink.incomplete.unwrap();
    assert!(
        incomplete.message.contains("1 of 2 flows broke; flow 1: no datagram was received"),
        "{}",
        incomplete.message
    );
    assert_eq!(sink.flows[0].end, FlowEnd::Drained);
    assert_eq!(sink.flows[0].bytes, source.report.flows[0].bytes);
}

#[test]
fn a_peer_that_is_gone_breaks_the_flow_with_the_kernels_word() {
    let idle = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = idle.local_addr().unwrap().port();
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, settings(1)));
    let mut opening = [0; wire::OPENING_BYTES];
    let (_, from) = idle.recv_from(&mut opening).unwrap();
    let opening = Opening::decode(&opening).unwrap();
    idle.send_to(&opening.answer(ANSWER), from).unwrap();
    source.connected();
    drop(idle);
    let begun = Instant::now();
    source.control.start(begun);
    let report = Reported::by(source).report;
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(report.incomplete.map(|failed| failed.kind).as_deref(), Some("flows_broken"));
    assert!(report.flows[0].error.as_ref().is_some_and(|error| error.contains("refused")), "{:?}", report.flows[0]);
}

#[test]
fn a_source_whose_datagrams_never_arrive_ends_by_itself() {
    let idle = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = idle.local_addr().unwrap().port();
    let udp = UdpSettings { silence_timeout_us: 300_000, ..settings(1) };
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, udp));
    let mut opening = [0; wire::OPENING_BYTES];
    let (_, from) = idle.recv_from(&mut opening).unwrap();
    idle.send_to(&Opening::decode(&opening).unwrap().answer(ANSWER), from).unwrap();
    source.connected();
    source.control.start(Instant::now());
    let report = Reported::by(source).report;
    assert_eq!(report.flows[0].end, FlowEnd::Broken);
    assert!(report.flows[0].error.as_ref().is_some_and(|error| error.contains("reported no datagram within")));
}

#[test]
fn rows_of_a_source_end_when_it_stops_whatever_it_waits_for() {
    for rate_bps in [Some(8_000_000), None] {
        let idle = UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = idle.local_addr().unwrap().port();
        let source = End::begin(connect(Role::Source, "127.0.0.1", port, UdpSettings { rate_bps, ..settings(1) }));
        let mut opening = [0; wire::OPENING_BYTES];
        let (_, from) = idle.recv_from(&mut opening).unwrap();
        idle.connect(from).unwrap();
        idle.send(&Opening::decode(&opening).unwrap().answer(ANSWER)).unwrap();
        source.connected();
        source.control.start(Instant::now());
        // The sink says that datagrams arrive, and never that it knows of their end.
        let header = wire::DatagramHeader {
            kind: wire::DatagramKind::Running,
            flow: 0,
            tag: wire::datagram_tag(TOKEN, ANSWER),
            sequence: 0,
            sent_unix_ns: 0,
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..10 {
                    let _ = idle.send(&header.encode());
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
            let reported = Reported::by(source);
            assert_eq!(reported.report.incomplete, None, "{rate_bps:?}");
            let last_ns = reported.values("samples", "end_ns").into_iter().flatten().max().unwrap();
            assert!((200_000_000..1_000_000_000).contains(&last_ns), "{rate_bps:?}: {last_ns}");
        });
    }
}

#[test]
fn a_sink_does_not_wait_forever_for_a_source_that_fell_silent() {
    let udp = UdpSettings { duration_us: 60_000_000, silence_timeout_us: 300_000, ..settings(1) };
    let sink = End::begin(listen(Role::Sink, udp));
    let port = sink.listening_port();
    let source = UdpSocket::bind("127.0.0.1:0").unwrap();
    source.connect(("127.0.0.1", port)).unwrap();
    source.send(&Opening { token: TOKEN, flow: 0 }.encode()).unwrap();
    sink.connected();
    let header = wire::DatagramHeader {
        kind: wire::DatagramKind::Data,
        flow: 0,
        tag: wire::datagram_tag(TOKEN, ANSWER),
        sequence: 0,
        sent_unix_ns: 0,
    };
    // From the right address, and none of the flow's: cut off, too long, of another trial, and from far ahead.
    let mut wrong = vec![vec![0; 20], vec![0; 1300], vec![0; 1000], vec![0; 1000]];
    wrong[0].copy_from_slice(&header.encode()[..20]);
    for (bytes, header) in wrong[1..].iter_mut().zip([
        header,
        wire::DatagramHeader { tag: 7, ..header },
        wire::DatagramHeader { sequence: u64::MAX, ..header },
    ]) {
        bytes[..32].copy_from_slice(&header.encode());
    }
    for bytes in wrong {
        source.send(&bytes).unwrap();
    }
    // 0, 2 and 1, one of them duplicated: the counts do not depend on how the flow ended.
    for sequence in [0, 2, 1, 1] {
        let mut datagram = vec![0; 1000];
        datagram[..32].copy_from_slice(&wire::DatagramHeader { sequence, ..header }.encode());
        source.send(&datagram).unwrap();
    }
    let reported = Reported::by(sink);
    let counts = reported.counts(0);
    assert_eq!((counts.datagrams, counts.reordered, counts.duplicates), (3, 1, 1));
    assert_eq!(counts.reordering_extent_max, 1);
    assert_eq!((counts.loss_bursts, reported.report.flows[0].bytes), (0, 3000));
    let rejected = reported.report.rejected_connections;
    assert_eq!((rejected.not_an_engine, rejected.wrong_token), (3, 1));
    assert_eq!(reported.sum("datagrams", "reordered"), 1);
    let incomplete = reported.report.incomplete.unwrap();
    assert!(incomplete.message.contains("1 of 1 flows broke; flow 0: silent for"), "{}", incomplete.message);
}

#[test]
fn a_sink_says_a_few_times_only_that_a_flow_runs() {
    let sink = End::begin(listen(Role::Sink, UdpSettings { duration_us: 10_000_000, ..settings(1) }));
    let source = UdpSocket::bind("127.0.0.1:0").unwrap();
    source.connect(("127.0.0.1", sink.listening_port())).unwrap();
    source.send(&Opening { token: TOKEN, flow: 0 }.encode()).unwrap();
    source.recv(&mut [0; ANSWER_BYTES]).unwrap();
    sink.connected();
    source.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
    let mut header = wire::DatagramHeader {
        kind: wire::DatagramKind::Data,
        flow: 0,
        tag: wire::datagram_tag(TOKEN, ANSWER),
        sequence: 0,
        sent_unix_ns: 0,
    };
    let (begun, mut said) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_secs(1) {
        let mut datagram = [0; 1000];
        let encoded = header.encode();
        datagram[..encoded.len()].copy_from_slice(&encoded);
        source.send(&datagram).unwrap();
        header.sequence += 1;
        if let Ok(length) = source.recv(&mut datagram) {
            let heard = wire::DatagramHeader::decode(&datagram[..length]);
            said += u32::from(heard.is_some_and(|heard| heard.kind == wire::DatagramKind::Running));
        }
    }
    assert!((2..=8).contains(&said), "{said} times within a second");
    drop(sink);
}
