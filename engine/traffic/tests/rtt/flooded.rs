//! Ends to which datagrams come faster than they can be looked at.

use std::net::UdpSocket;

use wire::{ANSWER_BYTES, ECHO_HEADER_BYTES, Echo, EchoMessage, Event, OPENING_BYTES, Opening, Role, RttSettings};

use crate::{
    ends::{ANSWER, End, TOKEN},
    flood::Flood,
    support::{connect, listen, report, settings},
};

fn long() -> RttSettings {
    RttSettings { duration_us: 60_000_000, ..settings(Echo::Udp) }
}

#[test]
fn a_flood_does_not_keep_a_sink_from_being_stopped() {
    // Long ones: a response costs more than a request.
    let mut request = vec![0; 60_000];
    EchoMessage::Request(1).write(TOKEN, &mut request);
    for datagram in [request, vec![7; ECHO_HEADER_BYTES]] {
        let sink = End::begin(listen(Role::Sink, long()));
        let source = UdpSocket::bind("127.0.0.1:0").unwrap();
        source.connect(("127.0.0.1", sink.listening_port())).unwrap();
        source.send(&Opening { token: TOKEN, flow: 0 }.encode()).unwrap();
        source.recv(&mut [0; ANSWER_BYTES]).unwrap();
        sink.connected();
        Flood::of(&source, &datagram).does_not_keep(sink, |sink| {
            assert_eq!(report(sink).0.incomplete.unwrap().kind, "stopped");
        });
    }
}

#[test]
fn a_flood_does_not_keep_a_source_from_being_stopped() {
    for started in [false, true] {
        let sink = UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = sink.local_addr().unwrap().port();
        let source = End::begin(connect(Role::Source, "127.0.0.1", port, long()));
        let mut opening = [0; OPENING_BYTES];
        let (_, from) = sink.recv_from(&mut opening).unwrap();
        sink.connect(from).unwrap();
        sink.send(&Opening::decode(&opening).unwrap().answer(ANSWER)).unwrap();
        source.connected();
        if started {
            source.control.start(std::time::Instant::now());
        }
        Flood::of(&sink, &[7; 16]).does_not_keep(source, |source| {
            let kind = match source.next() {
                Event::Failed(failed) => failed.kind,
                Event::Report(report) => report.incomplete.unwrap().kind,
                other => panic!("expected the last word, got {other:?}"),
            };
            assert_eq!(kind, "stopped");
        });
    }
}
