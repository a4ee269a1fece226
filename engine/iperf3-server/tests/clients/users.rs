//! Who a client is takes time to find out, and nobody else has to wait for that.

use std::{io::Write, net::SocketAddr, sync::Arc, time::Duration};

use iperf3::{
    COOKIE_BYTES, Cookie,
    auth::{Authenticator, Padding, PrivateKey, PublicKey, SKEW_S_DEFAULT, Users, make_token},
    encode_frame,
};
use iperf3_server::{Config, Deadlines};
use serde_json::json;
use socket2::{Domain, Socket, Type};

use crate::script::{Client, Server, tcp};

const KEY: &str = include_str!("../../../iperf3/src/auth/samples/key.pem");
const PUBLIC: &str = include_str!("../../../iperf3/src/auth/samples/public.pem");
const USERS: &str = "mario,bf7a49a846d44b454a5d11e7acfaf13d138bbe0b7483aa3e050879700572709b";
/// Fewer than may be pending at once.
const FLOOD: usize = 250;

#[test]
fn a_flood_of_tokens_holds_nobody_up() {
    let server = with_users(Deadlines::default());
    let wrong = token("wrong");
    let flood: Vec<_> = (0..FLOOD).map(|_| pours(server.address, &wrong)).collect();
    let client = Client::request(&server, 1, &tcp(json!({ "authtoken": token("rossi") })));
    let _streams = client.run(1);
    let looked_at = server.events("refused").len();
    assert!(looked_at < FLOOD, "it was served after all {looked_at} of them");
    drop(flood);
}

#[test]
fn a_token_that_nobody_comes_to_in_time_is_refused() {
    let server = with_users(Deadlines { authentication: Duration::ZERO, ..Deadlines::default() });
    assert_eq!(Client::request(&server, 1, &tcp(json!({ "authtoken": token("rossi") }))).error(), 142);
    assert_eq!(server.wait_for("refused", 1)[0]["error"], "there was no time to look at its token");
}

/// Names a test and requests it at once, from another address than a [`Client`].
fn pours(address: SocketAddr, token: &str) -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from(([127, 0, 0, 2], 0)).into()).unwrap();
    socket.connect(&address.into()).unwrap();
    let cookie = Cookie::from_random([7; COOKIE_BYTES - 1]);
    let params = encode_frame(&tcp(json!({ "authtoken": token }))).unwrap();
    (&socket).write_all(&[cookie.bytes(), &params[..]].concat()).unwrap();
    socket
}

fn with_users(deadlines: Deadlines) -> Server {
    let (key, users) = (PrivateKey::from_pem(KEY).unwrap(), Users::parse(USERS).unwrap());
    let authenticator = Authenticator::new(key, vec![Padding::Oaep, Padding::Pkcs1], users, SKEW_S_DEFAULT);
    Server::start(Config { authenticator: Some(Arc::new(authenticator)), deadlines, ..Config::default() })
}

fn token(password: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now_s = i64::try_from(now.as_secs()).unwrap();
    make_token(&PublicKey::from_pem(PUBLIC).unwrap(), Padding::Oaep, ("mario", password), now_s, [9; 32]).unwrap()
}
