//! Whoever does not keep to the protocol.

use std::{io::Write, net::TcpStream};

use iperf3::State;
use iperf3_server::{Admission, Config, defaults::PENDING_CLIENTS_MAX};
use serde_json::json;

use crate::script::{Client, Server, closes, connect, tcp};

fn says(server: &Server, bytes: &[u8]) -> TcpStream {
    let mut stream = connect(server.address);
    // The server may have closed before all of it is written.
    let _ = stream.write_all(bytes);
    stream
}

#[test]
fn garbage_is_closed_and_costs_nobody_a_place() {
    let server = Server::start(Config { admission: Admission::EXCLUSIVE, ..Config::default() });
    for bytes in [&[0_u8; 37][..], &[0xff; 5000], b"GET / HTTP/1.1\r\nHost: example\r\n\r\n     ", &[b'a'; 37]] {
        assert!(closes(&says(&server, bytes)));
    }
    let _ = Client::request(&server, 1, &tcp(json!({}))).run(1);
}

#[test]
fn parameters_that_are_none_are_refused() {
    let server = Server::start(Config::default());
    let answer = |bytes: &[u8]| {
        let client = Client::enter(&server, 1);
        assert_eq!(client.state(), Some(State::ParamExchange));
        (&client.control).write_all(bytes).unwrap();
        client.error()
    };
    assert_eq!(answer(&u32::MAX.to_be_bytes()), 114, "too long");
    assert_eq!(answer(&0_u32.to_be_bytes()), 114, "empty");
    assert_eq!(answer(b"\0\0\0\x05[[[[["), 114, "no object");
    assert_eq!(answer(b"\0\0\0\x0b{\"time\":-1}"), 114, "impossible");
    let deep = [&8000_u32.to_be_bytes()[..], &[b'['; 8000]].concat();
    assert_eq!(answer(&deep), 114, "too deep");
}

#[test]
fn of_too_many_half_open_connections_the_oldest_goes() {
    let server = Server::start(Config::default());
    let slow = Client::enter(&server, 1);
    assert_eq!(slow.state(), Some(State::ParamExchange));
    let half_open: Vec<_> = (0..PENDING_CLIENTS_MAX).map(|_| says(&server, b"abc")).collect();
    assert_eq!(slow.state(), None);
    let _ = Client::request(&server, 2, &tcp(json!({}))).run(1);
    drop(half_open);
}

#[test]
fn a_name_that_nobody_waits_for_gets_no_stream() {
    let server = Server::start(Config::default());
    let client = Client::request(&server, 1, &tcp(json!({ "parallel": 2 })));
    assert_eq!(client.state(), Some(State::CreateStreams));
    let other = Client::enter(&server, 2);
    assert_eq!(other.state(), Some(State::ParamExchange), "it is a test of its own");
    let _streams = [client.stream(), client.stream()];
    client.expect_running();
    // One stream too many is a test of its own, too.
    assert_eq!(Client::enter(&server, 1).state(), Some(State::ParamExchange));
}

#[test]
fn a_state_out_of_turn_ends_the_test() {
    let server = Server::start(Config::default());
    let client = Client::request(&server, 1, &tcp(json!({})));
    let _streams = client.run(1);
    client.say(State::ExchangeResults);
    assert_eq!(client.error(), 110);
    let client = Client::request(&server, 2, &tcp(json!({})));
    let _streams = client.run(1);
    (&client.control).write_all(&[77]).unwrap();
    assert_eq!(client.state(), None);
}

#[test]
fn results_that_are_none_end_the_test() {
    let server = Server::start(Config::default());
    for (name, bytes) in [(1, &[0xff_u8; 4][..]), (2, b"\0\0\0\x02{]"), (3, b"\0\0\0\x0d{\"streams\":7}")] {
        let client = Client::request(&server, name, &tcp(json!({})));
        let _streams = client.run(1);
        client.say(State::TestEnd);
        assert_eq!(client.state(), Some(State::ExchangeResults));
        (&client.control).write_all(bytes).unwrap();
        assert_eq!(client.error(), 117);
    }
    assert_eq!(server.wait_for("test_ends", 3)[2]["status"], "failed");
}

#[test]
fn parameters_may_come_byte_by_byte() {
    let server = Server::start(Config::default());
    let client = Client::enter(&server, 1);
    assert_eq!(client.state(), Some(State::ParamExchange));
    for byte in iperf3::encode_frame(&tcp(json!({}))).unwrap() {
        (&client.control).write_all(&[byte]).unwrap();
    }
    let _ = client.run(1);
}
