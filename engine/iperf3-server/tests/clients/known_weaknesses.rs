//! What iperf3 itself could be broken with, each under the number that it got, against a server that runs. The next
//! client is served.

use std::{
    io::Write,
    net::UdpSocket,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use iperf3::{
    Counter, DatagramHeader, OPENING, REPLY, State,
    auth::{Authenticator, Padding, PrivateKey, PublicKey, SKEW_S_DEFAULT, Users, make_token},
};
use iperf3_server::Config;
use serde_json::{Value, json};

use crate::script::{Client, PATIENCE, Server, tcp, udp};

const KEY: &str = include_str!("../../../iperf3/src/auth/samples/key.pem");
const PUBLIC: &str = include_str!("../../../iperf3/src/auth/samples/public.pem");
const USERS: &str = "mario,bf7a49a846d44b454a5d11e7acfaf13d138bbe0b7483aa3e050879700572709b";

/// The announced length and one byte wrapped to no memory at all.
#[test]
fn cve_2023_38403_a_length_that_wraps() {
    let server = Server::start(Config::default());
    for announced in [u32::MAX, u32::MAX - 1, 1 << 31, 0] {
        let client = Client::enter(&server, 1);
        assert_eq!(client.state(), Some(State::ParamExchange));
        (&client.control).write_all(&announced.to_be_bytes()).unwrap();
        assert_eq!(client.error(), 114, "{announced}");
    }
    for (name, announced) in [(2, u32::MAX), (3, 1 << 31)] {
        let client = Client::request(&server, name, &tcp(json!({})));
        let _streams = client.run(1);
        client.say(State::TestEnd);
        assert_eq!(client.state(), Some(State::ExchangeResults));
        (&client.control).write_all(&announced.to_be_bytes()).unwrap();
        assert_eq!(client.error(), 117, "{announced}");
    }
    let _ = Client::request(&server, 4, &tcp(json!({}))).run(1);
}

/// A value of another type was taken for a pointer to text.
#[test]
fn cve_2024_53580_a_value_of_another_type() {
    let server = Server::start(Config::default());
    for more in [
        json!({ "congestion": 1 }),
        json!({ "title": [] }),
        json!({ "extra_data": {} }),
        json!({ "authtoken": true }),
        json!({ "client_version": 3.21 }),
        json!({ "time": "long" }),
        json!({ "parallel": null }),
        json!({ "reverse": "yes" }),
    ] {
        assert_eq!(Client::request(&server, 1, &tcp(more.clone())).error(), 114, "{more}");
    }
    let _ = Client::request(&server, 2, &tcp(json!({}))).run(1);
}

/// The longest token that the key allows was one byte too long.
#[test]
fn cve_2025_54349_a_token_as_long_as_can_be() {
    let server = with_users();
    let fixed = "user: \npwd:  \nts:   1795319620".len();
    for (padding, overhead) in [(Padding::Oaep, 42), (Padding::Pkcs1, 11)] {
        let user = "m".repeat(256 - overhead - fixed - 1);
        assert_eq!(refused(&server, &token(padding, (&user, "p"))), 142);
    }
    assert_eq!(refused(&server, &"AAAA".repeat(1000)), 142);
    let _ = Client::request(&server, 2, &signed(&token(Padding::Oaep, ("mario", "rossi")))).run(1);
}

/// A token that is no base64 ended the server.
#[test]
fn cve_2025_54350_a_token_that_is_no_base64() {
    let server = with_users();
    for token in ["", "=", "====", "A===", "AA=A", "\0", "%s%n", "äöü"] {
        assert_eq!(refused(&server, token), 142, "{token:?}");
    }
    assert_eq!(Client::request(&server, 1, &tcp(json!({}))).error(), 142, "no token at all");
    let token = token(Padding::Pkcs1, ("mario", "rossi"));
    let _ = Client::request(&server, 2, &signed(&token)).run(1);
    assert_eq!(refused(&server, &token), 142, "twice");
}

/// The length of a datagram that was left behind was believed.
#[test]
fn cve_2025_54351_datagrams_of_other_lengths_than_was_agreed() {
    let server = Server::start(Config::default());
    let client = Client::request(&server, 1, &udp(json!({ "skip_rx_copy": true, "len": 16 })));
    assert_eq!(client.state(), Some(State::CreateStreams));
    let stream = UdpSocket::bind("127.0.0.1:0").unwrap();
    stream.connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.send(&OPENING).unwrap();
    let mut reply = [0; 100];
    assert_eq!(stream.recv(&mut reply).unwrap(), REPLY.len());
    client.expect_running();
    for (sequence, length) in [(1, 16), (2, 60_000), (3, 17)] {
        let mut bytes = vec![0; length];
        DatagramHeader { sent_us: 1, sequence }.write(Counter::Wide, &mut bytes);
        stream.send(&bytes).unwrap();
        stream.send(&bytes[..15]).unwrap();
        stream.send(&[]).unwrap();
    }
    let results = client.end(&[48]);
    assert_eq!((results.streams[0].packets, results.streams[0].errors), (3, 0));
}

fn with_users() -> Server {
    let (key, users) = (PrivateKey::from_pem(KEY).unwrap(), Users::parse(USERS).unwrap());
    let authenticator = Authenticator::new(key, vec![Padding::Oaep, Padding::Pkcs1], users, SKEW_S_DEFAULT);
    Server::start(Config { authenticator: Some(Arc::new(authenticator)), ..Config::default() })
}

fn token(padding: Padding, credentials: (&str, &str)) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now_s = i64::try_from(now.as_secs()).unwrap();
    make_token(&PublicKey::from_pem(PUBLIC).unwrap(), padding, credentials, now_s, [9; 32]).unwrap()
}

fn signed(token: &str) -> Value {
    tcp(json!({ "authtoken": token }))
}

fn refused(server: &Server, token: &str) -> i32 {
    Client::request(server, 1, &signed(token)).error()
}
