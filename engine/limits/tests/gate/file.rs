//! A limits file that changes while a session lasts.

use std::fs;

use wire::{TcpSettings, Test};

use crate::support::{PEER, Point, admit, tcp, to_peer};

const RULE: &str = "[[rule]]\nname = \"all\"\npeers = [\"0.0.0.0/0\"]\nrate = \"1Mbit/s\"";

/// Puts something else in a part of the file's place.
fn edit(point: &Point, from: &str, to: &str) {
    let file = point.path("limits.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{from}");
    fs::write(&file, text.replace(from, to)).unwrap();
}

#[test]
fn what_is_changed_holds_for_the_next_trial_of_a_session_that_lasts() {
    let point = Point::new("wait = \"0s\"", RULE);
    let gate = point.session("alice", None);
    let fast = to_peer(Test::Tcp(TcpSettings { rate_bps: Some(1_000_000), ..tcp() }));
    let held = admit(&gate, &fast).ok().unwrap();
    edit(&point, "0.0.0.0/0", "192.0.2.0/25\", \"203.0.113.0/24");
    edit(&point, "1Mbit/s", "500kbit/s");
    assert!(held.check_peer("198.51.100.9".parse().unwrap()).is_ok(), "what runs has what it was granted");
    held.finish("ok", None, Some(0));
    let refusal = admit(&gate, &fast).err().unwrap().to_string();
    assert!(refusal.contains("asked for 1 Mbit/s of all flows, allowed at most 500 kbit/s"), "{refusal}");
    let slower = admit(&gate, &to_peer(Test::Tcp(TcpSettings { rate_bps: Some(500_000), ..tcp() }))).ok().unwrap();
    assert!(slower.check_peer(PEER.parse().unwrap()).is_ok());
    assert!(slower.check_peer("198.51.100.9".parse().unwrap()).is_err());
}

#[test]
fn while_it_cannot_be_read_every_trial_of_a_session_is_refused() {
    let point = Point::new("wait = \"0s\"", RULE);
    let gate = point.session("alice", None);
    let held = admit(&gate, &to_peer(Test::Tcp(tcp()))).ok().unwrap();
    edit(&point, "[[rule]]", "[[rule");
    let broken = admit(&gate, &to_peer(Test::Tcp(tcp()))).err().unwrap();
    assert_eq!(broken.kind(), "point_broken");
    held.finish("ok", None, Some(0));
    edit(&point, "[[rule", "[[rule]]");
    assert!(admit(&gate, &to_peer(Test::Tcp(tcp()))).is_ok());
    fs::remove_file(point.path("limits.toml")).unwrap();
    assert_eq!(admit(&gate, &to_peer(Test::Tcp(tcp()))).err().unwrap().kind(), "point_broken");
    let events: Vec<_> = point.audited().iter().map(|line| line["event"].clone()).collect();
    assert_eq!(events, ["begun", "refused", "ended", "begun", "ended", "refused"]);
}
