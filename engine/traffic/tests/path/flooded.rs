//! Ends to which datagrams come faster than they can be looked at.

use std::net::UdpSocket;

use wire::{ANSWER_BYTES, Event, OPENING_BYTES, Opening, PathSettings, Role};

use crate::{
    ends::{ANSWER, End, TOKEN},
    flood::Flood,
    support::{connect, listen, settings},
};

/// A probe of a hop, as the other end says it.
fn probe() -> [u8; 16] {
    let mut probe = [0; 16];
    probe[0] = 1;
    probe[8..].copy_from_slice(&TOKEN.0[..8]);
    probe
}

/// Before its last word an end tells all bytes that passed.
fn is_stopped(end: &End) {
    let kind = loop {
        match end.next() {
            Event::Progress(_) => {}
            Event::Failed(failed) => break failed.kind,
            Event::Report(report) => break report.incomplete.unwrap().kind,
            other => panic!("expected the last word, got {other:?}"),
        }
    };
    assert_eq!(kind, "stopped");
}

#[test]
fn a_flood_does_not_keep_a_sink_from_being_stopped() {
    for datagram in [probe(), [7; 16]] {
        let sink = End::begin(listen(Role::Sink, settings()));
        let source = UdpSocket::bind("127.0.0.1:0").unwrap();
        source.connect(("127.0.0.1", sink.listening_port())).unwrap();
        source.send(&Opening { token: TOKEN, flow: 0 }.encode()).unwrap();
        source.recv(&mut [0; ANSWER_BYTES]).unwrap();
        sink.connected();
        Flood::of(&source, &datagram).does_not_keep(sink, |sink| is_stopped(&sink));
    }
}

#[test]
fn a_flood_does_not_keep_a_source_from_being_stopped() {
    let path = PathSettings { trains: 5, train_packets: 10, train_bytes: 1000, ..settings() };
    let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
    let source = End::begin(connect(Role::Source, "127.0.0.1", sink.local_addr().unwrap().port(), path));
    let mut opening = [0; OPENING_BYTES];
    let (_, from) = sink.recv_from(&mut opening).unwrap();
    sink.connect(from).unwrap();
    sink.send(&Opening::decode(&opening).unwrap().answer(ANSWER)).unwrap();
    source.connected();
    source.control.start(std::time::Instant::now());
    Flood::of(&sink, &[7; 16]).does_not_keep(source, |source| is_stopped(&source));
}
