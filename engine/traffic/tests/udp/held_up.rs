//! Ends that are held up, or kept busy, by whatever else a host does.

use std::{
    net::UdpSocket,
    thread,
    time::{Duration, Instant},
};

use wire::{ANSWER_BYTES, DatagramHeader, DatagramKind, Event, FlowEnd, OPENING_BYTES, Opening, Role, UdpSettings};

use crate::{
    ends::{ANSWER, End, TOKEN},
    flood::Flood,
    support::{Reported, connect, listen, settings},
};

const LENGTH: usize = 1000;

fn word(kind: DatagramKind, sequence: u64) -> Vec<u8> {
    let tag = wire::datagram_tag(TOKEN, ANSWER);
    let header = DatagramHeader { kind, flow: 0, tag, sequence, sent_unix_ns: 0 }.encode();
    let length = if kind == DatagramKind::Data { LENGTH } else { header.len() };
    let mut bytes = vec![0; length];
    bytes[..header.len()].copy_from_slice(&header);
    bytes
}

/// A sink, and a source that this test plays.
fn sink(udp: UdpSettings) -> (End, UdpSocket) {
    let sink = End::begin(listen(Role::Sink, udp));
    let source = UdpSocket::bind("127.0.0.1:0").unwrap();
    source.connect(("127.0.0.1", sink.listening_port())).unwrap();
    source.send(&Opening { token: TOKEN, flow: 0 }.encode()).unwrap();
    source.recv(&mut [0; ANSWER_BYTES]).unwrap();
    sink.connected();
    (sink, source)
}

/// The sink expects the end of it 1.65 s after the first datagram: duration, pad, a second and the drain.
fn held_up_for(pause: Duration) {
    let (sink, source) = sink(settings(1));
    for sequence in 0..20 {
        source.send(&word(DatagramKind::Data, sequence)).unwrap();
        thread::sleep(Duration::from_millis(10));
    }
    thread::sleep(pause);
    for sequence in 20..40 {
        source.send(&word(DatagramKind::Data, sequence)).unwrap();
    }
    thread::sleep(Duration::from_millis(300));
    source.send(&word(DatagramKind::End, 40)).unwrap();
    let reported = Reported::by(sink);
    assert_eq!(reported.report.incomplete, None);
    assert_eq!((reported.report.flows[0].end, reported.counts(0).datagrams), (FlowEnd::Drained, 40));
}

#[test]
fn a_source_that_was_held_up_for_seconds_breaks_no_flow() {
    for pause_ms in [1200, 3000] {
        held_up_for(Duration::from_millis(pause_ms));
    }
}

#[test]
fn a_source_that_goes_silent_ends_the_trial_all_the_same() {
    let (sink, source) = sink(settings(1));
    source.send(&word(DatagramKind::Data, 0)).unwrap();
    let begun = Instant::now();
    let reported = Reported::by(sink);
    let failed = reported.report.incomplete.unwrap();
    assert!(failed.message.contains("its source never reported that it had stopped"), "{}", failed.message);
    assert!((4..9).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
}

#[test]
fn a_source_that_never_stops_does_not_keep_its_sink_for_ever() {
    let (sink, source) = sink(settings(1));
    let begun = Instant::now();
    let flood = Flood::of(&source, &word(DatagramKind::Data, 0));
    let failed = Reported::by(sink).report.incomplete.unwrap();
    drop(flood);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(["flows_broken", "drain_timeout"].contains(&failed.kind.as_str()), "{failed:?}");
}

#[test]
fn a_flood_does_not_keep_a_sink_from_being_stopped() {
    for datagram in [word(DatagramKind::Data, 0), vec![7; 40]] {
        let (sink, source) = sink(UdpSettings { duration_us: 60_000_000, ..settings(1) });
        source.send(&word(DatagramKind::Data, 0)).unwrap();
        Flood::of(&source, &datagram).does_not_keep(sink, |sink| {
            assert_eq!(Reported::by(sink).report.incomplete.unwrap().kind, "stopped");
        });
    }
}

#[test]
fn a_flood_does_not_keep_a_source_from_being_stopped() {
    let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
    let source = End::begin(connect(Role::Source, "127.0.0.1", sink.local_addr().unwrap().port(), settings(1)));
    let mut opening = [0; OPENING_BYTES];
    let (_, from) = sink.recv_from(&mut opening).unwrap();
    sink.connect(from).unwrap();
    sink.send(&Opening::decode(&opening).unwrap().answer(ANSWER)).unwrap();
    source.connected();
    Flood::of(&sink, &[7; 40]).does_not_keep(source, |source| match source.next() {
        Event::Failed(failed) => assert_eq!(failed.kind, "stopped"),
        other => panic!("expected a failure, got {other:?}"),
    });
}
