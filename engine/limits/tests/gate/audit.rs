//! What the audit says of a request is what was decided by.

use wire::{TcpSettings, Test, UdpSettings};

use std::fs;

use crate::support::{Point, admit, tcp, to_peer, udp};

/// Allows 8 kbit/s of all flows.
const RULE: &str = "[[rule]]\nname = \"all\"\npeers = [\"0.0.0.0/0\"]\nrate = \"8kbit/s\"\nbytes_per_day = \"1GB\"";

/// Of a request of two flows: what the refusal says of all, and what the audit says of each.
fn refused(test: Test) -> (String, Option<u64>) {
    let point = Point::new("", RULE);
    let refusal = admit(&point.session("alice", None), &to_peer(test)).err().unwrap().to_string();
    let audited = point.audited();
    assert_eq!(audited[0]["event"], "refused");
    (refusal, audited[0]["asked"]["rate_per_flow_bps"].as_u64())
}

#[test]
fn the_audit_states_the_rate_that_is_checked() {
    let written = |rate_bps, pacing_rate_bps| TcpSettings { flows: 2, rate_bps, pacing_rate_bps, ..tcp() };
    let spaced = |spacing_ns| UdpSettings { flows: 2, rate_bps: None, spacing_ns, ..udp() };
    for (test, all, each) in [
        (Test::Tcp(written(Some(9_000), Some(7_000))), "14 kbit/s", 7_000),
        (Test::Tcp(written(Some(6_000), Some(7_000))), "12 kbit/s", 6_000),
        (Test::Tcp(written(None, Some(5_000))), "10 kbit/s", 5_000),
        // 1000 B each millisecond.
        (Test::Udp(spaced(Some(1_000_000))), "16 Mbit/s", 8_000_000),
    ] {
        let (refusal, audited) = refused(test);
        assert!(refusal.contains(&format!("asked for {all} of all flows")), "{refusal}");
        assert_eq!(audited, Some(each));
    }
    let (refusal, audited) = refused(Test::Udp(spaced(None)));
    assert!(refusal.contains("as fast as it can be sent"), "{refusal}");
    assert_eq!(audited, None);
}

/// As when the disk was full: the line that comes next is one by itself.
#[test]
fn half_a_line_takes_no_other_with_it() {
    let point = Point::new("", RULE);
    fs::write(point.path("audit.jsonl"), "{\"ev").unwrap();
    let refused = || {
        admit(&point.session("alice", None), &to_peer(Test::Udp(UdpSettings { rate_bps: None, ..udp() })))
            .err()
            .unwrap()
    };
    refused();
    refused();
    let text = fs::read_to_string(point.path("audit.jsonl")).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "{\"ev");
    assert_eq!(lines.len(), 3, "{text}");
    for line in &lines[1..] {
        assert_eq!(serde_json::from_str::<serde_json::Value>(line).unwrap()["event"], "refused");
    }
}
