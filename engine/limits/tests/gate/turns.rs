//! Turns of several controllers at one point.

use std::{
    sync::{
        Arc, Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use limits::{Availability, Limits, Moment, Refusal};
use wire::{Role, Test};

use crate::support::{Point, admit, connect, listen, prepare, tcp, to_peer};

const RULE: &str = "[[rule]]\nname = \"all\"\npeers = [\"0.0.0.0/0\"]\nduration = \"10s\"";

#[test]
fn the_second_is_told_who_is_there_and_until_when() {
    let point = Point::new("wait = \"0s\"", RULE);
    let (alice, bob) = (point.session("alice", Some("198.51.100.1")), point.session("bob", None));
    let held = admit(&alice, &to_peer(Test::Tcp(tcp()))).ok().unwrap();
    let refusal = admit(&bob, &to_peer(Test::Tcp(tcp()))).err().unwrap();
    let until = match &refusal {
        Refusal::Busy { until, .. } => until.rfc3339(),
        other => panic!("{other}"),
    };
    let said = format!("busy with alice from 198.51.100.1 (tcp); what runs there ends at {until} at the latest");
    assert!(refusal.to_string().contains(&said), "{refusal}");
    assert_eq!(refusal.kind(), "point_busy");
    assert!(admit(&alice, &to_peer(Test::Tcp(tcp()))).is_ok(), "its own ends share its turn");
    let limits = Limits::read(&point.path("limits.toml")).unwrap();
    let busy = Availability::of(&limits).unwrap();
    assert!(!busy.free && busy.turns[0].who == "alice from 198.51.100.1 (tcp)");
    assert_eq!(busy.turns[0].until.as_ref(), Some(&until));
    assert!(busy.to_string().contains(&format!(
        "1 of 1 turns taken, nobody waits\n  alice from 198.51.100.1 (tcp); what runs ends at {until}"
    )));
    held.finish("ok", None, Some(5));
    assert!(Availability::of(&limits).unwrap().free);
    assert!(admit(&bob, &to_peer(Test::Tcp(tcp()))).is_ok());
}

#[test]
fn once_a_trial_runs_its_end_is_known_better() {
    let point = Point::new("wait = \"0s\"", RULE);
    let (alice, bob) = (point.session("alice", None), point.session("bob", None));
    let (first, second) = (admit(&alice, &to_peer(Test::Tcp(tcp()))), admit(&alice, &to_peer(Test::Tcp(tcp()))));
    let (first, second) = (first.ok().unwrap(), second.ok().unwrap());
    let until = || match admit(&bob, &to_peer(Test::Tcp(tcp()))).err().unwrap() {
        Refusal::Busy { until, .. } => until,
        other => panic!("{other}"),
    };
    let before = until();
    first.runs();
    assert_eq!(until(), before, "the other one does not run yet");
    second.runs();
    assert!(until() <= Moment::now().after(Duration::from_secs(3)) && until() < before);
}

#[test]
fn a_trial_ends_with_the_times_of_the_day_of_its_peers() {
    let now = Moment::now();
    let hour = now.0 / 3600 % 24;
    let until = |hours: u64| format!("between = [\"{hour:02}:00-{:02}:00\"]", (hour + hours) % 24);
    let rule = |name: &str, rest: &str| RULE.replace("all", name).replace("0.0.0.0", rest);
    let [short, long] = [("short", "203.0.113.0", 2), ("long", "198.51.100.0", 3)]
        .map(|(name, network, hours)| format!("{}\n{}", rule(name, network).replace("/0", "/24"), until(hours)));
    let listening = |rules: &str, peer: &str| {
        let point = Point::new("wait = \"0s\"", rules);
        let sink = admit(&point.session("alice", None), &prepare(Role::Sink, listen(), Test::Tcp(tcp()))).ok().unwrap();
        let unknown = sink.open_for(now);
        sink.check_peer(peer.parse().unwrap()).unwrap();
        [unknown, sink.open_for(now)].map(|left| left.map(|left| (left.as_secs() + now.0 % 3600) / 3600))
    };
    let both = format!("{short}\n{long}");
    assert_eq!(listening(&both, "203.0.113.9"), [Some(3), Some(2)]);
    assert_eq!(listening(&both, "198.51.100.9"), [Some(3), Some(3)]);
    let always = format!("{both}\n{RULE}");
    assert_eq!(listening(&always, "203.0.113.9"), [None, Some(2)]);
    assert_eq!(listening(&always, "192.0.2.9"), [None, None]);
}

#[test]
fn sessions_of_one_controller_share_its_flows_and_its_rate() {
    let point = Point::new("wait = \"0s\"\nat_once = 4", &format!("{RULE}\nflows = 4\nrate = \"1Mbit/s\""));
    let request = |flows, rate_bps| to_peer(Test::Tcp(wire::TcpSettings { flows, rate_bps: Some(rate_bps), ..tcp() }));
    let [first, second, bob] = ["alice", "alice", "bob"].map(|name| point.session(name, Some("198.51.100.1")));
    let kept = admit(&first, &request(1, 100_000)).ok().unwrap();
    let held = admit(&first, &request(2, 200_000)).ok().unwrap();
    let refused = |asked| admit(&second, &asked).err().unwrap().to_string();
    assert!(refused(request(2, 1000)).contains("asked for 5 flows at once, allowed at most 4"));
    assert!(refused(request(1, 500_001)).contains("asked for 1.000001 Mbit/s of all flows"));
    assert!(admit(&bob, &request(4, 250_000)).is_ok(), "another controller has its own");
    let third = admit(&second, &request(1, 500_000)).ok().unwrap();
    assert!(admit(&first, &request(1, 1000)).is_err(), "and the other way round");
    held.finish("ok", None, Some(0));
    drop(third);
    assert!(admit(&second, &request(3, 300_000)).is_ok(), "what is over is free in the other session");
    kept.finish("ok", None, Some(0));
}

#[test]
fn who_has_its_flows_in_another_session_waits_for_the_turn() {
    let point = Point::new("wait = \"0s\"", &format!("{RULE}\nflows = 1"));
    let [first, second] = [(); 2].map(|()| point.session("alice", None));
    let held = admit(&first, &to_peer(Test::Tcp(tcp()))).ok().unwrap();
    assert_eq!(admit(&second, &to_peer(Test::Tcp(tcp()))).err().unwrap().kind(), "point_busy");
    held.finish("ok", None, Some(0));
    assert!(admit(&second, &to_peer(Test::Tcp(tcp()))).is_ok());
}

#[test]
fn a_turn_is_not_kept_by_trials_that_overlap() {
    let point = Point::new("wait = \"0s\"", &RULE.replace("10s", "1s"));
    let gate = point.session("alice", None);
    let longest = wire::TcpSettings { connect_timeout_us: 119_000_000, ..tcp() };
    let _held = admit(&gate, &to_peer(Test::Tcp(longest.clone()))).ok().unwrap();
    thread::sleep(Duration::from_millis(2100));
    let refusal = admit(&gate, &to_peer(Test::Tcp(longest))).err().unwrap().to_string();
    assert!(refusal.contains("asked for another trial within a turn, until 20"), "{refusal}");
}

#[test]
fn a_turn_has_room_for_trials_of_all_rules() {
    let short = RULE.replace("all", "short").replace("0.0.0.0/0", "203.0.113.0/24").replace("10s", "1s");
    let point = Point::new("wait = \"0s\"", &format!("{short}\n{}", RULE.replace("10s", "600s")));
    let gate = point.session("alice", None);
    let to_short = prepare(Role::Source, connect("203.0.113.9"), Test::Tcp(tcp()));
    let _held = admit(&gate, &to_short).ok().unwrap();
    let long = wire::TcpSettings { duration_us: 600_000_000, ..tcp() };
    let admitted = admit(&gate, &to_peer(Test::Tcp(long)));
    assert!(admitted.is_ok(), "{}", admitted.err().map_or(String::new(), |refusal| refusal.to_string()));
}

#[test]
fn one_more_than_may_measure_at_once_is_refused() {
    let point = Point::new("wait = \"0s\"\nat_once = 3", RULE);
    let sessions: Vec<_> = (0..4).map(|number| point.session(&format!("c{number}"), None)).collect();
    let held: Vec<_> = sessions.iter().filter_map(|gate| admit(gate, &to_peer(Test::Tcp(tcp()))).ok()).collect();
    assert_eq!(held.len(), 3);
    let refusal = admit(&sessions[3], &to_peer(Test::Tcp(tcp()))).err().unwrap().to_string();
    assert!(refusal.contains("busy with c0 (tcp) and c1 (tcp) and c2 (tcp)"), "{refusal}");
}

#[test]
fn who_waits_has_its_turn_before_who_comes_back() {
    let point = Point::new("", RULE);
    let (alice, bob) = (point.session("alice", None), point.session("bob", None));
    let held = admit(&alice, &to_peer(Test::Tcp(tcp()))).ok().unwrap();
    let waiting = thread::spawn(move || {
        let got = admit(&bob, &to_peer(Test::Tcp(tcp()))).ok().unwrap();
        thread::sleep(Duration::from_millis(200));
        (Instant::now(), got).0
    });
    let limits = Limits::read(&point.path("limits.toml")).unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    while Availability::of(&limits).unwrap().waiting == 0 && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
    held.finish("ok", None, Some(0));
    // At once, and with bob's place in front of it.
    let again = admit(&alice, &to_peer(Test::Tcp(tcp())));
    let bob_ended = waiting.join().unwrap();
    assert!(again.is_ok() && Instant::now() > bob_ended);
}

#[test]
fn many_controllers_never_overlap() {
    const CONTROLLERS: usize = 8;
    let point = Arc::new(Point::new("wait = \"2s\"", RULE));
    let (inside, overlaps, turns) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let begin = Barrier::new(CONTROLLERS);
    thread::scope(|scope| {
        for number in 0..CONTROLLERS {
            let (point, inside, overlaps, turns, begin) = (&point, &inside, &overlaps, &turns, &begin);
            scope.spawn(move || {
                let gate = point.session(&format!("c{number}"), None);
                begin.wait();
                for _ in 0..5 {
                    let Ok(held) = admit(&gate, &to_peer(Test::Tcp(tcp()))) else { continue };
                    overlaps.fetch_add(inside.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(3));
                    inside.fetch_sub(1, Ordering::SeqCst);
                    turns.fetch_add(1, Ordering::SeqCst);
                    held.finish("ok", None, Some(1));
                }
            });
        }
    });
    assert_eq!(overlaps.load(Ordering::SeqCst), 0);
    let audited = point.audited();
    let count = |event: &str| audited.iter().filter(|line| line["event"] == event).count();
    assert_eq!(
        (count("begun"), count("ended"), count("vanished")),
        (turns.load(Ordering::SeqCst), turns.load(Ordering::SeqCst), 0)
    );
    assert_eq!(count("begun") + count("refused"), CONTROLLERS * 5);
}

#[test]
fn a_trial_that_is_stopped_while_it_waits_is_not_waited_for() {
    let point = Point::new("wait = \"8s\"", RULE);
    let (alice, bob) = (point.session("alice", None), point.session("bob", None));
    let _held = admit(&alice, &to_peer(Test::Tcp(tcp()))).ok().unwrap();
    let begun = Instant::now();
    let refusal = bob.admit(&to_peer(Test::Tcp(tcp())), &|| true).err().unwrap();
    assert!(matches!(refusal, Refusal::Stopped) && begun.elapsed() < Duration::from_secs(4));
    assert_eq!(
        std::fs::read_dir(point.state())
            .unwrap()
            .filter(|entry| { entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("wait-") })
            .count(),
        0
    );
}

#[test]
fn ten_thousand_requests_at_once_are_refused() {
    let point = Point::new("wait = \"0s\"", RULE);
    let gate = point.session("mallory", None);
    let mut settings = tcp();
    settings.duration_us = 10_000_001;
    let request = to_peer(Test::Tcp(settings));
    let refused = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|| {
                (0..100).for_each(|_| {
                    refused.fetch_add(usize::from(admit(&gate, &request).is_err()), Ordering::SeqCst);
                });
            });
        }
    });
    assert_eq!(refused.load(Ordering::SeqCst), 10_000);
    drop(gate);
    let audited = point.audited();
    assert_eq!(audited.len(), 1001);
    assert_eq!(audited[1000]["event"], "refused_more");
    assert_eq!(audited[1000]["requests"], 9000);
}
