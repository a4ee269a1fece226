//! A state folder in which others have been.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
};

use wire::Test;

use crate::support::{Point, admit, tcp, to_peer};

const RULE: &str = "[[rule]]\nname = \"all\"\npeers = [\"0.0.0.0/0\"]\nbytes_per_day = \"1GB\"";

/// Makes something in a state folder.
type Making = fn(&Path);

#[test]
fn what_no_engine_made_refuses_everything_in_words() {
    let cases: [(Making, &str); 7] = [
        (|state| fs::create_dir(state.join("lock")).unwrap(), "lock"),
        (|state| symlink("/etc/passwd", state.join("lock")).unwrap(), "lock"),
        (|state| fs::create_dir(state.join("turn-1")).unwrap(), "turn-1: found something other than a file"),
        (|state| symlink("/dev/zero", state.join("turn-1")).unwrap(), "turn-1"),
        (|state| symlink("/nowhere", state.join("wait-1")).unwrap(), "wait-1"),
        (
            |state| fs::set_permissions(state, fs::Permissions::from_mode(0o777)).unwrap(),
            "everybody may write to it, expected this account or its group (chmod o-w)",
        ),
        (|state| fs::remove_dir(state).unwrap(), "of `state`: No such file"),
    ];
    for (make, said) in cases {
        let point = Point::new("wait = \"0s\"", RULE);
        make(&point.state());
        let refusal = admit(&point.session("alice", None), &to_peer(Test::Tcp(tcp()))).err().unwrap();
        assert_eq!(refusal.kind(), "point_broken");
        assert!(refusal.to_string().contains(said), "{said}: {refusal}");
    }
}

#[test]
fn a_pipe_in_place_of_a_file_holds_nobody_up() {
    let point = Point::new("wait = \"0s\"", RULE);
    let made = std::process::Command::new("mkfifo").arg(point.state().join("turn-1")).status().unwrap();
    assert!(made.success());
    let refusal = admit(&point.session("alice", None), &to_peer(Test::Tcp(tcp()))).err().unwrap();
    assert!(refusal.to_string().contains("turn-1: found something other than a file"), "{refusal}");
}

#[test]
fn what_a_killed_engine_left_is_no_turn() {
    let point = Point::new("wait = \"0s\"", RULE);
    for (name, text) in [("turn-1", "{}"), ("turn-2", ""), ("turn-3", "\u{0}\u{0}"), ("wait-1", "")] {
        fs::write(point.state().join(name), text).unwrap();
    }
    fs::write(point.state().join("turn-4"), vec![b'['; 1 << 20]).unwrap();
    assert!(admit(&point.session("alice", None), &to_peer(Test::Tcp(tcp()))).is_ok());
    let vanished = point.audited().iter().filter(|line| line["event"] == "vanished").count();
    assert_eq!(vanished, 4);
}

#[test]
fn a_turn_that_says_nothing_is_one_all_the_same() {
    let point = Point::new("wait = \"0s\"", RULE);
    let file = fs::File::create(point.state().join("turn-1")).unwrap();
    file.lock().unwrap();
    let refusal = admit(&point.session("alice", None), &to_peer(Test::Tcp(tcp()))).err().unwrap();
    assert!(refusal.to_string().contains("busy with an unknown controller"), "{refusal}");
}

#[test]
fn a_process_that_keeps_the_folder_locked_is_not_waited_for_for_ever() {
    let point = Point::new("wait = \"0s\"", RULE);
    let file = fs::File::create(point.state().join("lock")).unwrap();
    file.lock().unwrap();
    let refusal = admit(&point.session("alice", None), &to_peer(Test::Tcp(tcp()))).err().unwrap();
    assert_eq!(refusal.kind(), "point_broken");
}

#[test]
fn a_trial_that_would_leave_no_trace_does_not_begin() {
    let point = Point::new("wait = \"0s\"", RULE);
    fs::create_dir(point.path("audit.jsonl")).unwrap();
    let gate = point.session("alice", None);
    let refusal = admit(&gate, &to_peer(Test::Tcp(tcp()))).err().unwrap();
    assert!(refusal.to_string().contains("of `audit`"), "{refusal}");
    fs::remove_dir(point.path("audit.jsonl")).unwrap();
    assert!(admit(&gate, &to_peer(Test::Tcp(tcp()))).is_ok(), "what it had is free again");
}
