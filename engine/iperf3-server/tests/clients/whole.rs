//! Tests from beginning to end.

use std::{
    io::{Read, Write},
    net::Shutdown,
};

use iperf3::State;
use iperf3_server::Config;
use serde_json::json;

use crate::script::{Client, Server, tcp};

#[test]
fn every_byte_that_was_sent_is_counted_where_a_number_was_asked_for() {
    let server = Server::start(Config::default());
    let client = Client::request(&server, 1, &tcp(json!({ "time": 0, "num": 3_000_000, "parallel": 3 })));
    let streams = client.run(3);
    for stream in &streams {
        let mut stream = stream;
        stream.write_all(&vec![7; 1_000_000]).unwrap();
    }
    let results = client.end(&[1_000_000; 3]);
    let reported: Vec<(i64, i64)> = results.streams.iter().map(|stream| (stream.id, stream.bytes)).collect();
    assert_eq!(reported, [(1, 1_000_000), (3, 1_000_000), (4, 1_000_000)]);
    assert_eq!(results.sender_has_retransmits, -1);
    let ended = &server.wait_for("test_ends", 1)[0];
    assert_eq!((&ended["status"], &ended["received_bytes"]), (&json!("complete"), &json!(3_000_000)));
    assert_eq!(ended["streams"][2]["client_bytes"], 1_000_000);
}

#[test]
fn the_server_sends_as_much_as_it_was_asked_for_and_no_more() {
    let server = Server::start(Config::default());
    let params = tcp(json!({ "time": 0, "num": 1_000_000, "len": 1000, "parallel": 2, "reverse": true }));
    let client = Client::request(&server, 2, &params);
    let streams = client.run(2);
    let read: Vec<i64> = std::thread::scope(|scope| {
        let readers: Vec<_> = streams
            .iter()
            .map(|mut stream| {
                scope.spawn(move || {
                    let mut count = 0;
                    let mut buffer = [0; 4096];
                    while let Ok(length @ 1..) = stream.read(&mut buffer) {
                        count += i64::try_from(length).unwrap();
                    }
                    count
                })
            })
            .collect();
        // The server's half ends only with the test: what is sent in vain is known once all of it has come.
        while server.events("interval").is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        client.say(State::TestEnd);
        readers.into_iter().map(|reader| reader.join().unwrap()).collect()
    });
    assert_eq!(read.iter().sum::<i64>(), 1_000_000);
}

#[test]
fn in_both_directions_the_first_streams_come_from_the_client() {
    let server = Server::start(Config::default());
    let client =
        Client::request(&server, 3, &tcp(json!({ "bidirectional": true, "parallel": 2, "get_server_output": 1 })));
    let streams = client.run(4);
    for stream in &streams[..2] {
        let mut stream = stream;
        stream.write_all(&[1; 5000]).unwrap();
    }
    let mut first = [0; 10_000];
    for stream in &streams[2..] {
        let mut stream = stream;
        stream.read_exact(&mut first).unwrap();
    }
    server.wait_for("interval", 1);
    let results = client.end(&[5000, 5000, 10_000, 10_000]);
    assert!(results.streams[..2].iter().all(|stream| stream.bytes == 5000 && stream.retransmits == -1));
    assert!(results.streams[2..].iter().all(|stream| stream.bytes >= 10_000 && stream.retransmits >= 0));
    assert!(results.server_output_text.unwrap().contains("[TX-S]"));
    let interval = &server.events("interval")[0]["streams"][3];
    assert_eq!(interval["role"], "sends");
    assert!(interval["tcp_info"]["snd_cwnd"].as_u64().unwrap() > 0);
}

#[test]
fn an_omitted_beginning_does_not_count() {
    let server = Server::start(Config::default());
    let client = Client::request(&server, 4, &tcp(json!({ "omit": 1 })));
    let streams = client.run(1);
    (&streams[0]).write_all(&[1; 5000]).unwrap();
    let omitted = server.wait_for("interval", 1);
    assert_eq!((&omitted[0]["omitted"], &omitted[0]["streams"][0]["bytes"]), (&json!(true), &json!(5000)));
    (&streams[0]).write_all(&[1; 300]).unwrap();
    streams[0].shutdown(Shutdown::Write).unwrap();
    let intervals = server.wait_for("interval", 2);
    assert_eq!(intervals.last().unwrap()["omitted"], false);
    assert_eq!(client.end(&[300]).streams[0].bytes, 300);
}
