//! The server ends within a second, whatever clients and whoever reads its log do.

use std::{
    io::{Read, Write, pipe},
    net::UdpSocket,
    thread,
    time::{Duration, Instant},
};

use iperf3::{OPENING, State};
use iperf3_server::{Admission, Config, Limits};
use serde_json::json;
use serving::Log;

use crate::script::{Client, Server, tcp, udp};

const AT_MOST: Duration = Duration::from_secs(1);

fn ends_in_time(server: &mut Server, what: &str) {
    let begin = Instant::now();
    server.end();
    let took = begin.elapsed();
    assert!(took < AT_MOST, "{what}: {took:?}");
}

#[test]
fn a_peer_that_sends_without_end_is_not_waited_for() {
    let mut server = Server::start(Config::default());
    let client = Client::request(&server, 1, &tcp(json!({})));
    let mut streams = client.run(1);
    let stream = streams.remove(0);
    let sends = thread::spawn(move || while (&stream).write(&vec![7; 1 << 16]).is_ok() {});
    thread::sleep(Duration::from_millis(200));
    ends_in_time(&mut server, "a flood");
    sends.join().unwrap();
}

#[test]
fn a_client_in_any_stage_is_not_waited_for() {
    for stage in 0..5 {
        let admission = Admission { per_address_max: 4, ..Admission::shared(1, 4) };
        let limits = Limits { rate_max_bps: Some(1000), ..Limits::default() };
        let limits = if stage == 3 { limits } else { Limits::default() };
        let mut server = Server::start(Config { admission, limits, ..Config::default() });
        let client = Client::request(&server, 1, &tcp(json!({ "reverse": stage == 3 })));
        match stage {
            0 => assert_eq!(client.state(), Some(State::CreateStreams)),
            1 => drop(client.run(1)),
            2 => {
                let _streams = client.run(1);
                client.say(State::TestEnd);
                assert_eq!(client.state(), Some(State::ExchangeResults));
            }
            3 => {
                let streams = client.run(1);
                // It waits under its limit.
                (&streams[0]).read_exact(&mut [0; 1000]).unwrap();
            }
            _ => {
                let _streams = client.run(1);
                client.end(&[0]);
            }
        }
        ends_in_time(&mut server, &format!("stage {stage}"));
    }
}

#[test]
fn streams_of_datagrams_are_not_waited_for() {
    for reverse in [false, true] {
        let mut server = Server::start(Config::default());
        let client = Client::request(&server, 1, &udp(json!({ "reverse": reverse, "bandwidth": 100 })));
        assert_eq!(client.state(), Some(State::CreateStreams));
        let stream = UdpSocket::bind("127.0.0.1:0").unwrap();
        stream.connect(server.address).unwrap();
        stream.send(&OPENING).unwrap();
        client.expect_running();
        ends_in_time(&mut server, "datagrams");
    }
}

#[test]
fn a_log_that_nobody_reads_holds_up_neither_tests_nor_the_end() {
    let (_reader, mut writer) = pipe().unwrap();
    // Its reader has gone to sleep with a pipe that is nearly full.
    writer.write_all(&vec![b'\n'; 60 << 10]).unwrap();
    let interval = Duration::from_millis(1);
    let mut server = Server::logging_to(Config { interval, ..Config::default() }, Log::to(writer).unwrap());
    for name in 1..4 {
        let client = Client::request(&server, name, &tcp(json!({ "time": 0, "num": 1000, "parallel": 8 })));
        let streams = client.run(8);
        thread::sleep(Duration::from_millis(200));
        for stream in &streams {
            let mut stream = stream;
            stream.write_all(&[1; 125]).unwrap();
        }
        assert_eq!(client.end(&[125; 8]).streams[7].bytes, 125);
    }
    ends_in_time(&mut server, "a log");
}
