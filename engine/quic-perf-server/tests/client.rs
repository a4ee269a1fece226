//! The server and a plain client of the library's.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    cell::Cell,
    io::{self, Read, Write},
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use quic_perf_server::{Config, Server};
use quinn::{Connection, ConnectionError, Endpoint, ReadError, VarInt};
use serde_json::Value;
use serving::Log;
use tokio::{runtime, time::timeout};

mod trusting;

use self::trusting::trusting;

const PATIENCE: Duration = Duration::from_secs(30);
/// What a busy client reads: the last word of a server, which it says once, is not lost in a full socket.
const SLOW_BPS: Option<u64> = Some(8_000_000);
/// Whatever clients do.
const STOPS_WITHIN: Duration = Duration::from_secs(1);

/// A server on a thread of its own, until it is ended.
struct Served {
    address: SocketAddr,
    stop: io::PipeWriter,
    log: JoinHandle<String>,
    thread: JoinHandle<io::Result<()>>,
}

impl Served {
    fn by(config: Config) -> Self {
        let (mut reader, writer) = io::pipe().unwrap();
        let log = thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            text
        });
        let config = Config { bind: Some(Ipv4Addr::LOCALHOST.into()), port: 0, ..config };
        let server = Server::open(config, Log::to(writer).unwrap()).unwrap();
        let address = server.address().unwrap();
        let (stopped, stop) = io::pipe().unwrap();
        let thread = thread::spawn(move || server.serve(&stopped));
        Self { address, stop, log, thread }
    }

    /// The lines of its log, once it has ended.
    fn end(mut self) -> Vec<Value> {
        let begun = Instant::now();
        self.stop.write_all(b"!").unwrap();
        self.thread.join().unwrap().unwrap();
        assert!(begun.elapsed() < STOPS_WITHIN, "{:?}", begun.elapsed());
        self.log.join().unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Has a client do something within [`PATIENCE`].
fn client<T>(protocol: &[u8], work: impl AsyncFnOnce(&Endpoint) -> T) -> T {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        endpoint.set_default_client_config(trusting(protocol));
        let done = timeout(PATIENCE, work(&endpoint)).await.unwrap();
        endpoint.close(0_u8.into(), b"");
        let _ = timeout(Duration::from_secs(1), endpoint.wait_idle()).await;
        done
    })
}

async fn connected(endpoint: &Endpoint, address: SocketAddr) -> Result<Connection, ConnectionError> {
    endpoint.connect(address, "any.name").unwrap().await
}

/// Asks for bytes on a stream, and sends some; how many come.
async fn exchange(connection: &Connection, wanted: u64, sent: usize) -> Result<usize, ReadError> {
    let (mut request, mut answer) = connection.open_bi().await.unwrap();
    request.write_all(&wanted.to_be_bytes()).await.unwrap();
    // What is refused is stopped.
    let _ = request.write_all(&vec![7; sent]).await;
    let _ = request.finish();
    let mut came = 0;
    while let Some(chunk) = answer.read_chunk(usize::MAX, true).await? {
        came += chunk.bytes.len();
    }
    Ok(came)
}

/// The same on streams that carry bytes one way only: the answer is another stream, if there is one.
async fn exchange_one_way(connection: &Connection, wanted: u64, sent: usize) -> usize {
    let mut request = connection.open_uni().await.unwrap();
    request.write_all(&wanted.to_be_bytes()).await.unwrap();
    request.write_all(&vec![7; sent]).await.unwrap();
    request.finish().unwrap();
    if wanted == 0 {
        // The server takes no action, but to read all of it.
        assert_eq!(request.stopped().await.unwrap(), None);
        return 0;
    }
    connection.accept_uni().await.unwrap().read_to_end(usize::MAX).await.unwrap().len()
}

fn closed_with(error: &ConnectionError) -> Option<VarInt> {
    match error {
        ConnectionError::ApplicationClosed(closed) => Some(closed.error_code),
        _ => None,
    }
}

#[test]
fn every_stream_gets_what_it_asked_for_and_is_read_to_its_end() {
    let server = Served::by(Config::default());
    let asked = [(0, 0), (1, 0), (0, 1), (100_000, 7), (3, 2_000_001), (5_000_003, 300_000)];
    client(b"perf", async |endpoint| {
        let connection = connected(endpoint, server.address).await.unwrap();
        let all = asked.map(|(wanted, sent)| exchange(&connection, wanted, sent));
        let came = futures_util::future::join_all(all).await;
        for (came, (wanted, _)) in came.into_iter().zip(asked) {
            assert_eq!(came.unwrap() as u64, wanted);
        }
    });
    let lines = server.end();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let (event, status) = (&lines[0]["event"], &lines[0]["status"]);
    assert_eq!((event.as_str(), status.as_str()), (Some("connection_ends"), Some("complete")));
    assert_eq!(lines[0]["streams"], asked.len());
    assert_eq!(lines[0]["sent_bytes"], asked.iter().map(|(wanted, _)| wanted).sum::<u64>());
    assert_eq!(lines[0]["received_bytes"], asked.iter().map(|(_, sent)| sent).sum::<usize>());
    assert_eq!(lines[0]["error"], Value::Null);
}

#[test]
fn a_stream_of_one_way_is_answered_on_another_if_it_asks_for_anything() {
    let server = Served::by(Config::default());
    let asked = [(0, 0), (1, 0), (0, 200_001), (100_000, 7), (5_000_003, 300_000)];
    client(b"perf", async |endpoint| {
        let connection = connected(endpoint, server.address).await.unwrap();
        for (wanted, sent) in asked {
            assert_eq!(exchange_one_way(&connection, wanted, sent).await as u64, wanted);
        }
        assert_eq!(exchange(&connection, 5, 6).await.unwrap(), 5);
    });
    let lines = server.end();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!((lines[0]["status"].as_str(), &lines[0]["error"]), (Some("complete"), &Value::Null));
    assert_eq!(lines[0]["streams"], asked.len() + 1);
    assert_eq!(lines[0]["sent_bytes"], asked.iter().map(|(wanted, _)| wanted).sum::<u64>() + 5);
    assert_eq!(lines[0]["received_bytes"], asked.iter().map(|(_, sent)| sent).sum::<usize>() + 6);
}

#[test]
fn more_than_a_server_sends_is_refused_on_a_stream_of_one_way_too() {
    let server = Served::by(Config { bytes_max: 1000, ..Config::default() });
    client(b"perf", async |endpoint| {
        let connection = connected(endpoint, server.address).await.unwrap();
        let mut request = connection.open_uni().await.unwrap();
        request.write_all(&1001_u64.to_be_bytes()).await.unwrap();
        assert_eq!(request.stopped().await.unwrap(), Some(2_u8.into()));
        assert_eq!(exchange_one_way(&connection, 1000, 1000).await, 1000);
    });
    let lines = server.end();
    assert_eq!(lines[0]["error"], "a stream asked for 1001 B, at most 1000 B are sent");
}

#[test]
fn a_stream_over_the_limit_is_broken_off_and_others_go_on() {
    let server = Served::by(Config { bytes_max: 1000, ..Config::default() });
    client(b"perf", async |endpoint| {
        let connection = connected(endpoint, server.address).await.unwrap();
        for (wanted, sent) in [(1001, 0), (0, 1001)] {
            let error = exchange(&connection, wanted, sent).await.unwrap_err();
            assert!(matches!(error, ReadError::Reset(code) if code == 2_u8.into()), "{error:?}");
        }
        assert_eq!(exchange(&connection, 1000, 1000).await.unwrap(), 1000);
        assert_eq!(exchange(&connection, u64::MAX, 0).await.unwrap(), 1000, "without an end: up to the limit");
    });
    let lines = server.end();
    assert_eq!(lines[0]["error"], "a stream asked for 1001 B, at most 1000 B are sent");
}

#[test]
fn a_client_that_stops_an_endless_answer_ends_its_stream_only() {
    let server = Served::by(Config::default());
    client(b"perf", async |endpoint| {
        let connection = connected(endpoint, server.address).await.unwrap();
        let (mut request, mut answer) = connection.open_bi().await.unwrap();
        request.write_all(&[u8::MAX; 8]).await.unwrap();
        request.finish().unwrap();
        answer.read_exact(&mut vec![0; 1_000_000]).await.unwrap();
        answer.stop(0_u8.into()).unwrap();
        assert_eq!(exchange(&connection, 5, 5).await.unwrap(), 5);
    });
    assert_eq!(server.end()[0]["status"], "complete");
}

#[test]
fn a_connection_without_streams_and_one_that_lasts_too_long_are_closed() {
    let short = Duration::from_secs(1);
    for (config, status, code) in [
        (Config { idle_timeout: short, ..Config::default() }, "idle", 1_u8),
        (Config { duration_max: short, rate_max_bps: SLOW_BPS, ..Config::default() }, "too_long", 2),
    ] {
        let server = Served::by(config);
        client(b"perf", async |endpoint| {
            let connection = connected(endpoint, server.address).await.unwrap();
            if status == "too_long" {
                exchange(&connection, u64::MAX, 0).await.unwrap_err();
            }
            let error = connection.closed().await;
            // Of two ends that are idle for equally long, either may see it first.
            assert!(closed_with(&error) == Some(code.into()) || error == ConnectionError::TimedOut, "{error:?}");
        });
        let lines = server.end();
        assert!(lines[0]["status"] == status || lines[0]["status"] == "client_gone", "{lines:?}");
    }
}

#[test]
fn no_more_than_the_rate_is_carried() {
    let (rate_bps, bytes) = (8_000_000, 500_000);
    let server = Served::by(Config { rate_max_bps: Some(rate_bps), ..Config::default() });
    client(b"perf", async |endpoint| {
        let connection = connected(endpoint, server.address).await.unwrap();
        for (wanted, sent) in [(bytes, 0), (0, usize::try_from(bytes).unwrap())] {
            let began = Instant::now();
            exchange(&connection, wanted, sent).await.unwrap();
            // A burst of 50 ms, and the last part, which is waited for by nobody.
            let least = Duration::from_millis(500 - 50 - 66 - 1);
            assert!(began.elapsed() >= least, "{:?}", began.elapsed());
        }
    });
    server.end();
}

#[test]
fn many_streams_begin_no_faster_than_the_rate() {
    let server = Served::by(Config { rate_max_bps: Some(8_000_000), ..Config::default() });
    client(b"perf", async |endpoint| {
        let connection = connected(endpoint, server.address).await.unwrap();
        let (begun, came) = (Instant::now(), Cell::new(0));
        let one = async || {
            let (mut request, mut answer) = connection.open_bi().await.unwrap();
            request.write_all(&(1_u64 << 20).to_be_bytes()).await.unwrap();
            request.finish().unwrap();
            while let Some(chunk) = answer.read_chunk(usize::MAX, true).await.unwrap() {
                came.set(came.get() + chunk.bytes.len() as u128);
                // At the rate, what is written at once, and the burst of a connection that rests.
                assert!(came.get() <= begun.elapsed().as_micros() + (64 << 10) + 80_000, "{} B", came.get());
            }
        };
        let all = futures_util::future::join_all(std::iter::repeat_with(one).take(32));
        assert!(timeout(Duration::from_millis(1500), all).await.is_err(), "32 MiB take half a minute");
        assert!(came.get() > 500_000, "{}", came.get());
    });
    server.end();
}

#[test]
fn one_address_has_its_share_of_the_places_and_a_refused_one_hears_nothing() {
    let server = Served::by(Config { per_address_max: 1, ..Config::default() });
    client(b"perf", async |endpoint| {
        let first = connected(endpoint, server.address).await.unwrap();
        let error = connected(endpoint, server.address).await.unwrap_err();
        assert!(matches!(error, ConnectionError::ConnectionClosed(_)), "{error:?}");
        assert_eq!(exchange(&first, 3, 3).await.unwrap(), 3);
    });
    let error = server.end()[0]["error"].clone();
    assert_eq!(error, "its address has all of its 1 places");

    let server = Served::by(Config { networks: vec!["192.0.2.0/24".parse().unwrap()], ..Config::default() });
    assert!(answers(server.address, &initial()).is_empty());
    server.end();
}

#[test]
fn another_protocol_is_refused() {
    let server = Served::by(Config::default());
    client(b"h3", async |endpoint| {
        connected(endpoint, server.address).await.unwrap_err();
    });
    let lines = server.end();
    assert_eq!(lines[0]["event"], "refused", "{lines:?}");
}

/// Whoever writes another's address into its packets must not have the server send to it.
#[test]
fn an_address_that_has_not_answered_gets_one_retry_and_no_more() {
    let server = Served::by(Config::default());
    let initial = initial();
    let answers = answers(server.address, &initial);
    assert_eq!(answers.len(), 1);
    let (retry, first) = (&answers[0], answers[0][0]);
    assert_eq!(first & 0b1011_0000, 0b1011_0000, "a long header, type Retry (RFC 9000, section 17.2.5)");
    assert!(retry.len() < initial.len());
    server.end();
}

#[test]
fn clients_hear_that_the_server_ends() {
    let server = Served::by(Config { rate_max_bps: SLOW_BPS, ..Config::default() });
    let address = server.address;
    let (begun, has_begun) = std::sync::mpsc::channel();
    let client = thread::spawn(move || {
        client(b"perf", async |endpoint| {
            let connection = connected(endpoint, address).await.unwrap();
            let (mut request, mut answer) = connection.open_bi().await.unwrap();
            request.write_all(&[u8::MAX; 8]).await.unwrap();
            request.finish().unwrap();
            while answer.read_chunk(usize::MAX, true).await.is_ok_and(|chunk| chunk.is_some()) {
                let _ = begun.send(());
            }
            connection.closed().await
        })
    });
    has_begun.recv_timeout(PATIENCE).unwrap();
    let lines = server.end();
    assert_eq!(lines[0]["status"], "server_ends", "{lines:?}");
    assert_eq!(closed_with(&client.join().unwrap()), Some(0_u8.into()));
}

/// The first datagram of a client that nobody answers.
fn initial() -> Vec<u8> {
    let nobody = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    nobody.set_read_timeout(Some(PATIENCE)).unwrap();
    let address = nobody.local_addr().unwrap();
    let mut datagram = vec![0; 2000];
    let length = client(b"perf", async |endpoint| {
        let connecting = endpoint.connect(address, "any.name").unwrap();
        let _ = timeout(Duration::from_millis(200), connecting).await;
        nobody.recv(&mut datagram).unwrap()
    });
    datagram.truncate(length);
    datagram
}

/// What comes back for one datagram, within the time in which a handshake would send again.
fn answers(server: SocketAddr, datagram: &[u8]) -> Vec<Vec<u8>> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(1500))).unwrap();
    socket.send_to(datagram, server).unwrap();
    let mut buffer = [0; 2000];
    let mut answers = Vec::new();
    while let Ok(length) = socket.recv(&mut buffer) {
        answers.push(buffer[..length].to_vec());
    }
    answers
}
