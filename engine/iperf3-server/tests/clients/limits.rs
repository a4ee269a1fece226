//! Limits hold by what is carried, whatever a client announces.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use iperf3::{Counter, DatagramHeader, OPENING, State};
use iperf3_server::{Config, Limits};
use serde_json::{Value, json};

use crate::script::{Client, PATIENCE, Server, tcp, udp};

const LIMIT_BPS: u64 = 16_000_000;

fn limited() -> Server {
    let limits = Limits { rate_max_bps: Some(LIMIT_BPS), ..Limits::default() };
    Server::start(Config { limits, ..Config::default() })
}

/// Writes until the server closes.
fn floods(mut stream: &TcpStream) {
    while stream.write(&vec![7; 64 << 10]).is_ok() {}
}

/// Bytes of a test that has ended, in all directions, and for how long it lasted in seconds.
fn carried(ended: &Value) -> (f64, f64) {
    let bytes = |key: &str| ended[key].as_u64().unwrap();
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let bytes = (bytes("sent_bytes") + bytes("received_bytes")) as f64;
    (bytes, ended["seconds"].as_f64().unwrap())
}

/// Over the limit by less than a twentieth, from where it began to where it ended.
fn assert_held(ended: &Value) {
    let (bytes, seconds) = carried(ended);
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    let most = LIMIT_BPS as f64 / 8.0 * seconds * 1.05;
    assert!(bytes <= most, "{bytes} bytes of {most} in {seconds} s");
}

#[test]
fn a_client_that_announces_little_and_sends_much_is_held_and_ended() {
    let server = limited();
    let (_, ended) = thread::scope(|scope| {
        let client = Client::request(&server, 1, &tcp(json!({ "bandwidth": 1000, "parallel": 4 })));
        let streams = client.run(4);
        for stream in streams {
            scope.spawn(move || floods(&stream));
        }
        let error = client.error();
        // Whoever writes on stops when the server closes.
        (error, server.wait_for("test_ends", 1)[0].clone())
    });
    assert_eq!(ended["status"], "failed");
    assert_held(&ended);
    assert!(carried(&ended).1 >= 5.0, "as iperf3, which looks at a mean over 5 s");
}

#[test]
fn both_directions_share_the_limit_and_a_number_of_bytes_is_no_way_around_it() {
    let server = limited();
    for (name, more) in [
        (1, json!({ "bidirectional": true, "omit": 1 })),
        (2, json!({ "bidirectional": true, "time": 0, "num": 1_u64 << 60 })),
        (3, json!({ "reverse": true, "time": 0, "blockcount": 1_u64 << 40, "parallel": 8 })),
    ] {
        let client = Client::request(&server, name, &tcp(more.clone()));
        let streams = client.run(if name == 3 { 8 } else { 2 });
        let threads = streams.into_iter().flat_map(|stream| {
            let mut copy = stream.try_clone().unwrap();
            let reads =
                thread::spawn(move || while copy.read(&mut vec![0; 64 << 10]).is_ok_and(|length| length > 0) {});
            [thread::spawn(move || floods(&stream)), reads]
        });
        let threads: Vec<_> = threads.collect();
        thread::sleep(Duration::from_secs(2));
        drop(client);
        let ended = server.wait_for("test_ends", usize::from(name)).last().unwrap().clone();
        for thread in threads {
            thread.join().unwrap();
        }
        let (bytes, seconds) = carried(&ended);
        assert!(bytes > 0.0 && seconds > 0.5, "{more}: {ended}");
        assert_held(&ended);
    }
}

#[test]
fn datagrams_beyond_the_limit_end_the_test_by_their_numbers() {
    let server = limited();
    let client = Client::request(&server, 1, &udp(json!({ "bandwidth": 1000, "len": 1000 })));
    assert_eq!(client.state(), Some(State::CreateStreams));
    let stream = UdpSocket::bind("127.0.0.1:0").unwrap();
    stream.connect(server.address).unwrap();
    stream.send(&OPENING).unwrap();
    client.expect_running();
    let flood = thread::spawn(move || {
        let (begin, mut bytes) = (Instant::now(), [0; 1000]);
        // Ten times the limit.
        for sequence in 1..200_000_u64 {
            DatagramHeader { sent_us: 1, sequence }.write(Counter::Wide, &mut bytes);
            if stream.send(&bytes).is_err() {
                return;
            }
            thread::sleep((begin + Duration::from_micros(50 * sequence)).saturating_duration_since(Instant::now()));
        }
    });
    assert_eq!(client.error(), 27);
    let ended = &server.wait_for("test_ends", 1)[0];
    assert_held(ended);
    assert!(carried(ended).1 < 4.0, "sooner than TCP, whose sender slows down: {ended}");
    flood.join().unwrap();
}

#[test]
fn a_client_within_the_limit_is_not_held_up() {
    let server = limited();
    let client = Client::request(&server, 1, &tcp(json!({ "time": 0, "num": 8_000_000 })));
    let streams = client.run(1);
    let mut stream = &streams[0];
    let begin = Instant::now();
    // Half of the limit.
    for part in 0..80 {
        stream.write_all(&vec![1; 100_000]).unwrap();
        thread::sleep((begin + Duration::from_millis(100) * (part + 1)).saturating_duration_since(Instant::now()));
    }
    assert_eq!(client.end(&[8_000_000]).streams[0].bytes, 8_000_000);
    assert_eq!(server.wait_for("test_ends", 1)[0]["status"], "complete");
}

#[test]
fn a_client_that_asks_for_everything_and_reads_nothing_loses_its_place() {
    let server = Server::start(Config { no_data_timeout: Duration::from_secs(1), ..Config::default() });
    for (name, more) in [(1, json!({ "num": 1_u64 << 60 })), (2, json!({ "bidirectional": true, "num": 1_u64 << 60 }))]
    {
        let client = Client::request(&server, name, &tcp(merged(json!({ "reverse": name == 1, "time": 0 }), more)));
        let mut streams = client.run(usize::from(name));
        let sends = (name == 2).then(|| {
            let stream = streams.remove(0);
            thread::spawn(move || floods(&stream))
        });
        assert_eq!(client.error(), 205);
        drop(streams);
        if let Some(sends) = sends {
            sends.join().unwrap();
        }
    }
}

#[test]
fn a_client_that_has_all_and_never_says_so_loses_its_place() {
    let server = Server::start(Config { no_data_timeout: Duration::from_secs(1), ..Config::default() });
    let client = Client::request(&server, 1, &tcp(json!({ "reverse": true, "time": 0, "num": 1000, "len": 1000 })));
    let streams = client.run(1);
    (&streams[0]).read_exact(&mut [0; 1000]).unwrap();
    assert_eq!(client.error(), 160);
}

#[test]
fn a_pause_that_the_client_asked_for_is_no_standstill() {
    let server = Server::start(Config { no_data_timeout: Duration::from_secs(1), ..Config::default() });
    // A write each 2 s.
    let params = tcp(json!({ "reverse": true, "len": 1000, "bandwidth": 4000 }));
    let client = Client::request(&server, 1, &params);
    let streams = client.run(1);
    (&streams[0]).read_exact(&mut [0; 2000]).unwrap();
    client.end(&[2000]);
    assert_eq!(server.wait_for("test_ends", 1)[0]["status"], "complete");
}

#[test]
fn a_byte_now_and_then_is_no_progress() {
    let server = Server::start(Config { no_data_timeout: Duration::from_secs(1), ..Config::default() });
    let client = Client::request(&server, 1, &tcp(json!({ "time": 0, "num": 1_u64 << 60 })));
    let streams = client.run(1);
    let drips = thread::spawn(move || {
        while (&streams[0]).write_all(&[1]).is_ok() {
            thread::sleep(Duration::from_millis(100));
        }
    });
    let begin = Instant::now();
    assert_eq!(client.error(), 144);
    assert!(begin.elapsed() < PATIENCE / 2);
    drips.join().unwrap();
}

#[test]
fn a_test_without_a_time_ends_all_the_same() {
    let limits = Limits { duration_max_s: None, ..Limits::default() };
    assert_eq!(limits.longest(), Duration::from_secs(3600));
    let limits = Limits { duration_max_s: Some(7), ..limits };
    assert_eq!(limits.longest(), Duration::from_secs(7));
}

#[test]
fn results_that_are_any_number_do_not_end_a_thread() {
    let server = Server::start(Config::default());
    let client = Client::request(&server, 1, &udp(json!({ "reverse": true, "bandwidth": 1_000_000 })));
    assert_eq!(client.state(), Some(State::CreateStreams));
    let stream = UdpSocket::bind("127.0.0.1:0").unwrap();
    stream.connect(server.address).unwrap();
    stream.send(&OPENING).unwrap();
    client.expect_running();
    client.say(State::TestEnd);
    assert_eq!(client.state(), Some(State::ExchangeResults));
    let theirs = json!({ "id": 1, "bytes": i64::MAX, "errors": i64::MIN, "omitted_errors": i64::MAX, "packets": i64::MIN,
        "omitted_packets": i64::MAX, "retransmits": i64::MIN, "jitter": -1e300 });
    (&client.control).write_all(&iperf3::encode_frame(&json!({ "streams": [theirs] })).unwrap()).unwrap();
    client.control.shutdown(Shutdown::Write).unwrap();
    let ended = &server.wait_for("test_ends", 1)[0];
    assert_eq!(ended["streams"][0]["client_lost"], i64::MIN);
}

fn merged(mut base: Value, more: Value) -> Value {
    if let (Value::Object(base), Value::Object(more)) = (&mut base, more) {
        base.extend(more);
    }
    base
}
