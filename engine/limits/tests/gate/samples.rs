//! How often flows may be recorded: each sample takes room on the point's disk, whatever rate its flow has.

use wire::{Prepare, QuicSettings, Role, TcpSettings, Test, UdpSettings};

use crate::support::{Point, admit, listen, prepare, quic, tcp, to_peer, udp};

/// A point whose rule says how many flows there may be, if anything.
fn allows(flows: &str) -> Point {
    Point::new("", &format!("[[rule]]\nname = \"all\"\npeers = [\"0.0.0.0/0\"]\nduration = \"1h\"\n{flows}"))
}

fn of_tcp(flows: u32, sample_interval_us: u64) -> Prepare {
    to_peer(Test::Tcp(TcpSettings { flows, sample_interval_us, duration_us: 3_600_000_000, ..tcp() }))
}

fn of_udp(flows: u32, sample_interval_us: u64) -> Prepare {
    to_peer(Test::Udp(UdpSettings { flows, sample_interval_us, ..udp() }))
}

fn of_quic(flows: u32, streams: u32, sample_interval_us: u64) -> Prepare {
    to_peer(Test::Quic(QuicSettings { flows, streams, sample_interval_us, ..quic() }))
}

#[test]
fn more_samples_a_second_than_a_point_keeps_are_refused() {
    let sink = prepare(Role::Sink, listen(), Test::Udp(UdpSettings { sample_interval_us: 1, ..udp() }));
    for (rule, request, asked, most) in [
        ("", of_udp(3, 1), 3_000_000, 12_800),
        ("", sink, 1_000_000, 12_800),
        ("", of_udp(1, 0), 1_000_000, 12_800),
        ("", of_tcp(128, 9_999), 12_802, 12_800),
        ("", of_tcp(1, 78), 12_821, 12_800),
        ("", of_quic(128, 1, 9_999), 12_802, 12_800),
        ("", of_quic(1, 1024, 8_000), 12_875, 12_800),
        ("", of_quic(128, 10, 10_000), 25_600, 12_800),
        ("", of_quic(128, 100, 99_999), 14_081, 12_800),
        ("flows = 3", of_udp(3, 234), 12_821, 12_800),
        ("flows = 4096", of_tcp(4096, 9_999), 409_641, 409_600),
    ] {
        let refusal = admit(&allows(rule).session("alice", None), &request).err().unwrap();
        assert_eq!(refusal.kind(), "point_refused");
        let said = format!("asked for {asked} samples a second of all flows, allowed at most {most}: state a longer");
        assert!(refusal.to_string().contains(&said), "{said}: {refusal}");
    }
}

#[test]
fn ten_milliseconds_are_not_too_often_nor_is_the_interval_of_a_plan_that_says_nothing() {
    for (rule, request) in [
        ("", of_tcp(128, 10_000)),
        ("", of_udp(128, 10_000)),
        ("", of_quic(128, 9, 10_000)),
        ("", of_quic(128, 100, 100_000)),
        ("", of_quic(128, 1024, 100_000)),
        ("flows = 1", of_quic(1, 1024, 100_000)),
        ("", of_tcp(12, 1000)),
        ("", of_tcp(1, 79)),
        ("flows = 1", of_tcp(1, 100)),
        ("flows = 4096", of_tcp(4096, 10_000)),
    ] {
        let admitted = admit(&allows(rule).session("alice", None), &request);
        assert!(admitted.is_ok(), "{request:?}: {}", admitted.err().unwrap());
    }
}

#[test]
fn samples_of_all_ends_of_a_controller_count_together() {
    let point = allows("");
    let gate = point.session("alice", None);
    let (first, _second) = (admit(&gate, &of_udp(6, 1000)).ok().unwrap(), admit(&gate, &of_tcp(6, 1000)).ok().unwrap());
    let refusal = admit(&gate, &of_udp(1, 1000)).err().unwrap().to_string();
    assert!(refusal.contains("asked for 13000 samples a second of all flows"), "{refusal}");
    first.finish("ok", None, Some(0));
    assert!(admit(&gate, &of_udp(6, 1000)).is_ok());
}
