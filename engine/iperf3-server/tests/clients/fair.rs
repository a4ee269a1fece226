//! However many come from one address: others are served.

use std::{
    io::Write,
    net::TcpStream,
    time::{Duration, Instant},
};

use iperf3::State;
use iperf3_server::{Admission, Config, defaults::PENDING_CLIENTS_MAX};
use serde_json::json;

use crate::script::{Client, PATIENCE, Server, connect_from, tcp};

const CROWD: [u8; 4] = [127, 0, 0, 9];
const OTHER: [u8; 4] = [127, 0, 0, 8];

#[test]
fn a_flood_of_connections_displaces_its_own() {
    let server = Server::start(Config::default());
    let slow = Client::enter(&server, 1);
    assert_eq!(slow.state(), Some(State::ParamExchange));
    let flood: Vec<TcpStream> = (0..3 * PENDING_CLIENTS_MAX)
        .map(|_| connect_from(server.address, CROWD))
        .inspect(|mut one| drop(one.write(b"abc")))
        .collect();
    let later = Client::request(&server, 2, &tcp(json!({})));
    let _streams = later.run(1);
    (&slow.control).write_all(&iperf3::encode_frame(&tcp(json!({}))).unwrap()).unwrap();
    let _ = slow.run(1);
    drop(flood);
}

#[test]
fn an_address_has_its_part_of_the_places_and_others_find_one() {
    let server = Server::start(Config { admission: Admission::shared(4, 8), ..Config::default() });
    let first = Client::request_from(&server, CROWD, 1, &tcp(json!({})));
    let _first_streams = first.run(1);
    let second = Client::request_from(&server, CROWD, 2, &tcp(json!({})));
    server.wait_for("test_waits", 1);
    let other = Client::request_from(&server, OTHER, 3, &tcp(json!({})));
    let _other_streams = other.run(1);
    first.end(&[0]);
    let _ = second.run(1);
}

#[test]
fn of_a_full_queue_the_address_with_most_gives_way() {
    let admission = Admission { per_address_max: 1, ..Admission::shared(1, 2) };
    let server = Server::start(Config { admission, ..Config::default() });
    let runs =
        Client::request_from(&server, CROWD, 1, &tcp(json!({ "reverse": true, "bandwidth": 1000, "len": 1000 })));
    let _streams = runs.run(1);
    let first = Client::request_from(&server, CROWD, 2, &tcp(json!({})));
    server.wait_for("test_waits", 1);
    let last = Client::request_from(&server, CROWD, 3, &tcp(json!({})));
    server.wait_for("test_waits", 2);
    let other = Client::request_from(&server, OTHER, 4, &tcp(json!({})));
    assert_eq!(last.state(), Some(State::AccessDenied));
    assert_eq!(Client::enter_from(&server, OTHER, 5).state(), Some(State::AccessDenied), "each has one by now");
    runs.end(&[0]);
    let _first_streams = first.run(1);
    first.end(&[0]);
    let _ = other.run(1);
}

#[test]
fn who_does_nothing_with_a_place_loses_it_once_another_waits() {
    let server = Server::start(Config { admission: Admission::shared(2, 8), ..Config::default() });
    let silent = Client::request_from(&server, CROWD, 1, &tcp(json!({})));
    let _silent_streams = silent.run(1);
    let without_streams = Client::request_from(&server, OTHER, 2, &tcp(json!({})));
    assert_eq!(without_streams.state(), Some(State::CreateStreams));
    let begin = Instant::now();
    let client = Client::request(&server, 3, &tcp(json!({})));
    let _streams = client.run(1);
    assert!(begin.elapsed() < PATIENCE / 2);
    assert!(begin.elapsed() > Duration::from_secs(1), "it had a place at once");
    let errors = server.wait_for("test_ends", 1);
    assert_eq!(errors[0]["status"], "failed");
}

#[test]
fn refusals_of_one_address_are_summarised() {
    let admission = Admission::EXCLUSIVE;
    let server = Server::start(Config { admission, ..Config::default() });
    let runs = Client::request(&server, 1, &tcp(json!({ "reverse": true, "bandwidth": 1000, "len": 1000 })));
    let _streams = runs.run(1);
    for _ in 0..50 {
        assert_eq!(Client::enter_from(&server, CROWD, 2).state(), Some(State::AccessDenied));
    }
    assert_eq!(Client::enter_from(&server, OTHER, 2).state(), Some(State::AccessDenied));
    let rows = server.wait_for("refused_more", 1);
    assert_eq!((&rows[0]["client"], &rows[0]["count"]), (&json!("127.0.0.9"), &json!(47)));
    assert_eq!(server.events("refused").len(), 4);
}
