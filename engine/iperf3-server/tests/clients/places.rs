//! Who gets a place, who waits, who is sent away, and when a place is free again.

use std::{io::Write, time::Duration};

use iperf3::State;
use iperf3_server::{Admission, Config, Limits};
use serde_json::json;

use crate::script::{Client, Server, closes, tcp, udp};

fn exclusive() -> Config {
    Config { admission: Admission::EXCLUSIVE, ..Config::default() }
}

#[test]
fn a_server_of_one_test_at_a_time_is_busy() {
    let server = Server::start(exclusive());
    let first = Client::request(&server, 1, &tcp(json!({})));
    let _streams = first.run(1);
    assert_eq!(Client::enter(&server, 2).state(), Some(State::AccessDenied));
    first.end(&[0]);
    server.wait_for("test_ends", 1);
    let _ = Client::request(&server, 3, &tcp(json!({}))).run(1);
}

#[test]
fn who_waits_begins_when_a_place_is_free() {
    let server = Server::start(Config { admission: Admission::shared(1, 1), ..Config::default() });
    let first = Client::request(&server, 1, &tcp(json!({})));
    let _streams = first.run(1);
    let second = Client::request(&server, 2, &tcp(json!({})));
    // It waits once the third is turned away.
    while Client::enter(&server, 3).state() != Some(State::AccessDenied) {}
    first.end(&[0]);
    let _ = second.run(1);
}

#[test]
fn who_gives_up_waiting_leaves_room_for_another() {
    let server = Server::start(Config { admission: Admission::shared(1, 1), ..Config::default() });
    let first = Client::request(&server, 1, &tcp(json!({})));
    let _streams = first.run(1);
    let second = Client::request(&server, 2, &tcp(json!({})));
    while Client::enter(&server, 3).state() != Some(State::AccessDenied) {}
    drop(second);
    while Client::enter(&server, 4).state() != Some(State::ParamExchange) {}
}

#[test]
fn many_tests_run_at_once() {
    let admission = Admission { per_address_max: 20, ..Admission::shared(64, 0) };
    let server = Server::start(Config { admission, ..Config::default() });
    let clients: Vec<_> = (0..20).map(|name| Client::request(&server, name, &tcp(json!({ "parallel": 2 })))).collect();
    let streams: Vec<_> = clients.iter().map(|client| client.run(2)).collect();
    for (index, streams) in (1..).zip(&streams) {
        (&streams[0]).write_all(&vec![0; 100 * index]).unwrap();
    }
    for (index, client) in (1..).zip(&clients) {
        // Without a number that was asked for, what is under way is not waited for.
        assert!(client.end(&[100 * index, 0]).streams[0].bytes <= 100 * index);
    }
}

#[test]
fn a_client_that_vanishes_frees_its_place() {
    let server = Server::start(exclusive());
    let first = Client::request(&server, 1, &tcp(json!({ "reverse": true })));
    let streams = first.run(1);
    drop((first, streams));
    assert_eq!(server.wait_for("test_ends", 1)[0]["status"], "client_gone");
    let _ = Client::request(&server, 2, &tcp(json!({}))).run(1);
}

#[test]
fn a_client_that_sends_nothing_loses_its_place() {
    let server = Server::start(Config { no_data_timeout: Duration::from_millis(300), ..exclusive() });
    let client = Client::request(&server, 1, &tcp(json!({})));
    let _streams = client.run(1);
    assert_eq!(client.error(), 144);
}

#[test]
fn what_is_over_a_limit_is_refused_with_iperf3s_number() {
    let limits = Limits { duration_max_s: Some(5), rate_max_bps: Some(1_000_000), flows_max: 4, networks: Vec::new() };
    let server = Server::start(Config { limits, ..Config::default() });
    let refused = |params| Client::request(&server, 1, &params).error();
    assert_eq!(refused(tcp(json!({ "time": 6 }))), 37);
    assert_eq!(refused(tcp(json!({ "time": 5, "parallel": 5 }))), 6);
    assert_eq!(refused(udp(json!({ "time": 5, "bandwidth": 600_000, "parallel": 2 }))), 27);
    assert_eq!(refused(tcp(json!({ "time": 5, "congestion": "no such" }))), 134);
    assert_eq!(refused(json!({ "sctp": true, "time": 5 })), 131);
}

#[test]
fn a_strangers_network_may_not_test() {
    let networks = vec!["192.0.2.0/24".parse().unwrap()];
    let server = Server::start(Config { limits: Limits { networks, ..Limits::default() }, ..Config::default() });
    let client = Client::enter(&server, 1);
    assert_eq!(client.state(), Some(State::AccessDenied));
    assert!(closes(&client.control));
}

#[test]
fn running_and_waiting_clients_are_told_that_the_server_ends() {
    let mut server = Server::start(Config { admission: Admission::shared(1, 1), ..Config::default() });
    let first = Client::request(&server, 1, &tcp(json!({})));
    let _streams = first.run(1);
    let second = Client::request(&server, 2, &tcp(json!({})));
    while Client::enter(&server, 3).state() != Some(State::AccessDenied) {}
    let states = std::thread::spawn(move || {
        let states = (first.state(), second.state());
        drop((first, second));
        states
    });
    server.end();
    assert_eq!(states.join().unwrap(), (Some(State::ServerTerminate), Some(State::ServerTerminate)));
}
