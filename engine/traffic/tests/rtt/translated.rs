//! A sink that is reached at an address of somebody else, as behind a router that translates addresses.

use std::{net::UdpSocket, thread, time::Instant};

use wire::{Echo, RendezvousRole, Role};

use crate::{
    ends::End,
    support::{connect, listen, report, settings},
};

/// What the source says of its probes, and which kind it chose, where a router between the two ends has the address at
/// which the sink is reached: 127.0.0.1, whose kernel answers ICMP echo.
fn probed(echo: Echo) -> (Option<Echo>, Vec<String>) {
    let mut prepare = listen(Role::Sink, settings(echo));
    prepare.rendezvous = RendezvousRole::Listen { bind: Some([127, 0, 0, 2].into()), ports: None };
    let sink = End::begin(prepare);
    let router = Router::to(sink.listening_port());
    let source = End::begin(connect(Role::Source, "127.0.0.1", router.port, settings(echo)));
    let granted = source.connected().granted;
    sink.connected();
    source.control.start(Instant::now());
    let (said, rows) = report(source);
    assert_eq!(said.incomplete, None);
    assert!(rows.iter().all(|row| row.rtt_ns.is_some()));
    assert_eq!(sink.report().0.incomplete, None);
    (granted.echo, granted.remarks)
}

struct Router {
    port: u16,
}

impl Router {
    fn to(port: u16) -> Self {
        let outside = UdpSocket::bind("127.0.0.1:0").unwrap();
        let inside = UdpSocket::bind("127.0.0.3:0").unwrap();
        inside.connect(("127.0.0.2", port)).unwrap();
        let address = outside.local_addr().unwrap();
        let (out, back) = (outside.try_clone().unwrap(), inside.try_clone().unwrap());
        // They go on until the process is over.
        thread::spawn(move || {
            let mut bytes = [0; 2048];
            let (length, source) = outside.recv_from(&mut bytes).unwrap();
            outside.connect(source).unwrap();
            let _ = inside.send(&bytes[..length]);
            thread::spawn(move || pass_on(&back, &out));
            pass_on(&outside, &inside);
        });
        Self { port: address.port() }
    }
}

/// A datagram that is refused is lost.
fn pass_on(from: &UdpSocket, to: &UdpSocket) {
    let mut bytes = [0; 2048];
    loop {
        if let Ok(length) = from.recv(&mut bytes) {
            let _ = to.send(&bytes[..length]);
        }
    }
}

#[test]
fn datagrams_are_taken_where_a_router_would_answer_icmp_in_the_place_of_the_sink() {
    let (echo, remarks) = probed(Echo::Auto);
    assert_eq!(echo, Some(Echo::Udp));
    let forbidden = remarks[0].contains("may not send ICMP echo");
    assert!(forbidden || remarks[0].starts_with("127.0.0.1 is not the sink's own address, so a router"), "{remarks:?}");
}

#[test]
fn icmp_that_a_router_may_answer_is_remarked() {
    if socket_for_icmp().is_none() {
        return;
    }
    let (echo, remarks) = probed(Echo::Icmp);
    assert_eq!(echo, Some(Echo::Icmp));
    assert!(remarks[0].starts_with("127.0.0.1 is not the sink's own address: these may be round trips"), "{remarks:?}");
}

/// This user may send ICMP echo.
fn socket_for_icmp() -> Option<socket2::Socket> {
    let protocol = Some(socket2::Protocol::ICMPV4);
    let make = |kind| socket2::Socket::new(socket2::Domain::IPV4, kind, protocol).ok();
    make(socket2::Type::DGRAM).or_else(|| make(socket2::Type::RAW))
}
