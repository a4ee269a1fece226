//! What comes from somebody else, and what must not be begun.

use std::{
    net::UdpSocket,
    time::{Duration, Instant},
};

use wire::{OPENING_BYTES, Opening, Phase, PortRange, RendezvousRole, Role, Test, Token, UdpSettings};

use crate::{
    ends::{ANSWER, End, TOKEN, prepare},
    support::{Reported, connect, listen, settings},
};

#[test]
fn rejected_datagrams_are_counted_and_change_no_other_count() {
    let udp = UdpSettings { gso: false, ..settings(2) };
    let sink = End::begin(listen(Role::Sink, udp.clone()));
    let port = sink.listening_port();
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, udp));
    source.connected();
    sink.connected();
    source.control.start(Instant::now());
    let intruder = UdpSocket::bind("127.0.0.1:0").unwrap();
    let whole = wire::DatagramHeader {
        kind: wire::DatagramKind::Data,
        flow: 0,
        tag: wire::datagram_tag(TOKEN, ANSWER),
        sequence: 5,
        sent_unix_ns: 0,
    };
    let mut replay = vec![0; 1000];
    replay[..32].copy_from_slice(&whole.encode());
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(100) {
        for bytes in [&replay[..], &replay[..20], &[7; 1300], &Opening { token: Token([9; 16]), flow: 0 }.encode()] {
            intruder.send_to(bytes, ("127.0.0.1", port)).unwrap();
        }
    }
    let (source, sink) = (Reported::by(source), Reported::by(sink));
    assert_eq!((&source.report.incomplete, &sink.report.incomplete), (&None, &None));
    for flow in 0..2 {
        let (sent, received) = (source.counts(flow), sink.counts(flow));
        assert_eq!(sent.datagrams, received.datagrams, "{received:?}");
        assert_eq!((received.duplicates, received.reordered, received.late), (0, 0, 0));
    }
    let rejected = sink.report.rejected_connections;
    assert!(rejected.not_an_engine > 0 && rejected.wrong_token > 0, "{rejected:?}");
}

#[test]
fn openings_of_others_get_no_answer() {
    let sink = End::begin(listen(Role::Sink, settings(2)));
    let port = sink.listening_port();
    let thief = UdpSocket::bind("127.0.0.1:0").unwrap();
    thief.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    thief.send_to(&Opening { token: Token([9; 16]), flow: 0 }.encode(), ("127.0.0.1", port)).unwrap();
    thief.send_to(&Opening { token: TOKEN, flow: 2 }.encode(), ("127.0.0.1", port)).unwrap();
    thief.send_to(b"?", ("127.0.0.1", port)).unwrap();
    assert!(thief.recv(&mut [0; 100]).is_err());
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, settings(2)));
    source.connected();
    source.control.start(Instant::now());
    sink.connected();
    let rejected = Reported::by(sink).report.rejected_connections;
    assert_eq!((rejected.wrong_token, rejected.wrong_flow, rejected.not_an_engine), (1, 1, 1));
    assert_eq!(Reported::by(source).report.incomplete, None);
}

#[test]
fn a_source_sends_nothing_to_a_host_that_did_not_ask() {
    let bystander = UdpSocket::bind("127.0.0.1:0").unwrap();
    bystander.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let port = bystander.local_addr().unwrap().port();
    let udp = UdpSettings { connect_timeout_us: 500_000, ..settings(1) };
    let source = End::begin(connect(Role::Source, "127.0.0.1", port, udp));
    source.control.start(Instant::now());
    // An echo service sends back what it got: that is not the answer.
    let mut bytes = [0; 2000];
    let mut openings = 0;
    while let Ok((length, from)) = bystander.recv_from(&mut bytes) {
        assert_eq!(length, OPENING_BYTES);
        bystander.send_to(&bytes[..length], from).unwrap();
        openings += 1;
    }
    assert!(openings >= 3, "an opening is repeated");
    let failed = source.failed();
    assert_eq!(failed.kind, "connect_timeout");
    assert!(failed.message.contains("not the engine of this trial"), "{}", failed.message);
}

#[test]
fn a_port_that_another_trial_has_is_not_shared() {
    let one = End::begin(listen(Role::Sink, settings(1)));
    let first = one.listening_port();
    let ports = Some(PortRange { first, last: first });
    let rendezvous = RendezvousRole::Listen { bind: None, ports };
    let two = End::begin(prepare(Role::Sink, rendezvous, Test::Udp(settings(1))));
    assert_eq!(two.failed().kind, "no_free_port");
    one.control.stop();
}

#[test]
fn nobody_there_is_a_failure_that_says_so() {
    let free = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let udp = UdpSettings { connect_timeout_us: 300_000, ..settings(2) };
    let failed = End::begin(connect(Role::Source, "127.0.0.1", free, udp.clone())).failed();
    assert_eq!((failed.phase, failed.kind.as_str()), (Phase::Connect, "connect_timeout"));
    assert!(failed.message.contains("refused"), "{}", failed.message);
    let sink = End::begin(listen(Role::Sink, udp));
    sink.listening_port();
    assert_eq!(sink.failed().kind, "accept_timeout");
}

#[test]
fn more_than_an_engine_can_bear_is_refused() {
    for udp in [
        settings(0),
        UdpSettings { length_bytes: 31, ..settings(1) },
        UdpSettings { length_bytes: 65_508, ..settings(1) },
        UdpSettings { rate_bps: Some(0), ..settings(1) },
        UdpSettings { rate_bps: None, spacing_ns: Some(0), ..settings(1) },
        UdpSettings { spacing_ns: Some(1_000_000), ..settings(1) },
        UdpSettings { silence_timeout_us: 0, ..settings(1) },
    ] {
        assert_eq!(End::begin(listen(Role::Sink, udp)).failed().kind, "settings");
    }
}
