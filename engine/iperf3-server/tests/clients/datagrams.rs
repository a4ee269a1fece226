//! Streams of datagrams.

use std::net::UdpSocket;

use iperf3::{Counter, DatagramHeader, OPENING, REPLY, State};
use iperf3_server::Config;
use serde_json::json;

use crate::script::{Client, PATIENCE, Server, udp};

fn socket(server: &Server, local: &str) -> UdpSocket {
    let socket = UdpSocket::bind(local).unwrap();
    socket.connect(server.address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

fn open(server: &Server) -> UdpSocket {
    let socket = socket(server, "127.0.0.1:0");
    socket.send(&OPENING).unwrap();
    expect_reply(&socket);
    socket
}

fn expect_reply(socket: &UdpSocket) {
    let mut bytes = [0; 100];
    let length = socket.recv(&mut bytes).unwrap();
    assert_eq!(bytes[..length], REPLY);
}

fn numbered(sequence: u64) -> [u8; 100] {
    let mut bytes = [0; 100];
    DatagramHeader { sent_us: 1, sequence }.write(Counter::Wide, &mut bytes);
    bytes
}

#[test]
fn an_opening_is_answered_as_often_as_it_comes() {
    let server = Server::start(Config::default());
    let client = Client::request(&server, 1, &udp(json!({ "parallel": 2 })));
    assert_eq!(client.state(), Some(State::CreateStreams));
    let first = open(&server);
    for _ in 0..3 {
        first.send(&OPENING).unwrap();
        expect_reply(&first);
    }
    let _second = open(&server);
    client.expect_running();
    first.send(&OPENING).unwrap();
    expect_reply(&first);
}

#[test]
fn nobody_who_has_not_asked_is_answered() {
    let server = Server::start(Config::default());
    let intruder = socket(&server, "127.0.0.2:0");
    let early = socket(&server, "127.0.0.1:0");
    intruder.send(&OPENING).unwrap();
    early.send(&OPENING).unwrap();
    let client = Client::request(&server, 1, &udp(json!({ "reverse": true, "bandwidth": 1_000_000 })));
    assert_eq!(client.state(), Some(State::CreateStreams));
    intruder.send(&OPENING).unwrap();
    intruder.send(b"whatever").unwrap();
    let stream = open(&server);
    client.expect_running();
    let mut bytes = [0; 200];
    assert_eq!(stream.recv(&mut bytes).unwrap(), 100);
    for nobody in [&intruder, &early] {
        nobody.set_nonblocking(true).unwrap();
        assert!(nobody.recv(&mut bytes).is_err());
    }
}

#[test]
fn datagrams_are_counted_once_and_in_any_order() {
    let server = Server::start(Config::default());
    let client = Client::request(&server, 1, &udp(json!({})));
    assert_eq!(client.state(), Some(State::CreateStreams));
    let stream = open(&server);
    client.expect_running();
    for sequence in [1, 2, 4, 4, 3, 7, 7, 7] {
        stream.send(&numbered(sequence)).unwrap();
    }
    stream.send(b"short").unwrap();
    let results = client.end(&[800]);
    let seen = &results.streams[0];
    assert_eq!((seen.bytes, seen.packets, seen.errors), (500, 7, 2));
    let ended = &server.wait_for("test_ends", 1)[0]["streams"][0];
    assert_eq!((&ended["lost"], &ended["reordered"], &ended["duplicates"]), (&json!(2), &json!(1), &json!(3)));
}

#[test]
fn jitter_of_the_beginning_that_is_left_out_does_not_count() {
    let server = Server::start(Config::default());
    let client = Client::request(&server, 1, &udp(json!({ "omit": 1 })));
    assert_eq!(client.state(), Some(State::CreateStreams));
    let stream = open(&server);
    client.expect_running();
    let send = |sent_us, sequence| {
        let mut bytes = numbered(sequence);
        DatagramHeader { sent_us, sequence }.write(Counter::Wide, &mut bytes);
        stream.send(&bytes).unwrap();
    };
    // As if they had been an hour on their way, and the next ones had not.
    send(3_600_000_000, 1);
    send(1, 2);
    server.wait_for("interval", 1);
    send(1, 3);
    let results = client.end(&[100]);
    let jitter_s = results.streams[0].jitter;
    assert!(jitter_s < 10.0, "an hour's share is 225 s: {jitter_s}");
}

#[test]
fn tests_of_one_address_have_their_streams_opened_one_after_the_other() {
    let server = Server::start(Config::default());
    let first = Client::request(&server, 1, &udp(json!({ "parallel": 2 })));
    assert_eq!(first.state(), Some(State::CreateStreams));
    let second = Client::request(&server, 2, &udp(json!({})));
    let streams = [open(&server), open(&server)];
    first.expect_running();
    assert_eq!(second.state(), Some(State::CreateStreams));
    let other = open(&server);
    second.expect_running();
    other.send(&numbered(1)).unwrap();
    streams[1].send(&numbered(3)).unwrap();
    assert_eq!(second.end(&[100]).streams[0].packets, 1);
    let results = first.end(&[0, 100]);
    assert_eq!([results.streams[0].packets, results.streams[1].packets], [0, 3]);
}

#[test]
fn a_client_without_streams_leaves_its_turn_to_others() {
    let server = Server::start(Config::default());
    let first = Client::request(&server, 1, &udp(json!({})));
    assert_eq!(first.state(), Some(State::CreateStreams));
    let second = Client::request(&server, 2, &udp(json!({})));
    drop(first);
    assert_eq!(second.state(), Some(State::CreateStreams));
    let _stream = open(&server);
    second.expect_running();
}
