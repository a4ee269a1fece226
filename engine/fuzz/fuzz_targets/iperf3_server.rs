//! A server that runs, and clients that do what nobody should: connections are opened, say something, wait for an answer,
//! send datagrams and go, in any order. The server is the engine's own, over loopback, with deadlines so much shorter that
//! they are met while it is played with.
//!
//! Looked for are a panic in any of its threads, and at every [`AUDIT`]th input threads or files that are not free again
//! once all clients are gone, and a well-behaved client that is not served to the byte.
#![no_main]

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream, UdpSocket},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use iperf3::{COOKIE_BYTES, Cookie, OPENING, Results, State, StreamResults, encode_frame, parse_json, stream_id};
use iperf3_server::{Acceptor, Admission, Config, Deadlines};
use libfuzzer_sys::fuzz_target;
use rustix::event::{EventfdFlags, eventfd};
use serde_json::{Value, json};
use serving::Log;
use socket2::{Domain, SockRef, Socket, Type};

/// Of what the server waits for: 20 s become 200 ms.
const SHORTER: u32 = 100;
/// Inputs from one look at what is left to the next.
const AUDIT: u32 = 256;
/// Until everything must be free again, on a host that does much else.
const PATIENCE: Duration = Duration::from_secs(50);
/// A step waits so long for an answer; once one has not come, the next ones hardly wait.
const ANSWER: Duration = Duration::from_millis(5);
const NO_ANSWER: Duration = Duration::from_micros(200);
const STEPS_MAX: usize = 48;
const CONNECTIONS_MAX: usize = 12;
const PORTS: usize = 4;
/// What the well-behaved client sends.
const BYTES: u16 = 10_000;

static SERVER: OnceLock<Server> = OnceLock::new();
static INPUTS: AtomicU32 = AtomicU32::new(0);

fuzz_target!(|bytes: &[u8]| {
    let server = SERVER.get_or_init(Server::start);
    let number = INPUTS.fetch_add(1, Ordering::Relaxed);
    Clients::new(server.address, number).play(bytes);
    if number % AUDIT == AUDIT - 1 {
        server.audit(number);
    }
});

struct Server {
    address: SocketAddr,
    /// Threads and files of the process, once the server stood.
    begun_with: (usize, usize),
}

/// Checks each line of the log.
struct Lines;

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        let entry: Value = serde_json::from_slice(line).expect("a line of the log is JSON");
        assert!(entry["event"].is_string());
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn shortened() -> Deadlines {
    let all = Deadlines::default();
    Deadlines {
        cookie: all.cookie / SHORTER,
        params: all.params / SHORTER,
        authentication: all.authentication / SHORTER,
        leaving: all.leaving / SHORTER,
        turn: all.turn / SHORTER,
        streams: all.streams / SHORTER,
        write: all.write / SHORTER,
        grace: all.grace / SHORTER,
        results: all.results / SHORTER,
        drain_quiet: all.drain_quiet / SHORTER,
        drain: all.drain / SHORTER,
        done: all.done / SHORTER,
    }
}

impl Server {
    fn start() -> Self {
        let config = Config {
            bind: Some([127, 0, 0, 1].into()),
            port: 0,
            admission: Admission { tests_max: 16, per_address_max: 16, queue_max: 8 },
            no_data_timeout: Duration::from_secs(30) / SHORTER,
            interval: Duration::from_millis(20),
            deadlines: shortened(),
            ..Config::default()
        };
        let acceptor = Acceptor::open(config, Log::to(Lines).expect("a thread")).expect("loopback has a port");
        let address = acceptor.address().expect("it has one");
        let never = eventfd(0, EventfdFlags::CLOEXEC).expect("a file");
        thread::spawn(move || acceptor.serve(&never));
        Self { address, begun_with: held() }
    }

    fn audit(&self, number: u32) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let now = held();
            if now.0 <= self.begun_with.0 && now.1 <= self.begun_with.1 {
                break;
            }
            assert!(Instant::now() < deadline, "threads and files {now:?}, at the beginning {:?}", self.begun_with);
            thread::sleep(Duration::from_millis(1));
        }
        // Its deadlines are so short that a host with much else to do may miss one.
        while well_behaved(self.address, number).is_none() {
            assert!(Instant::now() < deadline, "a client is not served any more");
        }
    }
}

/// One input's clients, all of one address that hardly any other has.
struct Clients {
    server: SocketAddr,
    own: SocketAddr,
    cookie: Cookie,
    connections: Vec<TcpStream>,
    chosen: usize,
    ports: Vec<UdpSocket>,
    answer: Duration,
}

impl Clients {
    fn new(server: SocketAddr, number: u32) -> Self {
        let [_, high, middle, low] = number.to_be_bytes();
        let cookie = Cookie::from_random([low; COOKIE_BYTES - 1]);
        // 127.0.0.1 is the server's own.
        let own = SocketAddr::from(([127, high | 128, middle, low], 0));
        Self { server, own, cookie, connections: Vec::new(), chosen: 0, ports: Vec::new(), answer: ANSWER }
    }

    fn play(&mut self, mut script: &[u8]) {
        for _ in 0..STEPS_MAX {
            let Some((step, rest)) = script.split_first() else { return };
            script = rest;
            let argument = usize::from(step >> 3);
            match step & 7 {
                0 => self.enter(),
                1 => self.say(&named(self.cookie, argument)),
                2 => {
                    let text = taken(&mut script, 2);
                    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
                    self.say(&[&length.to_be_bytes()[..], text].concat());
                }
                3 => self.say(taken(&mut script, 1)),
                4 => self.wait(argument),
                5 => self.chosen = argument,
                6 => self.leave(argument),
                _ => {
                    let datagram = if argument & 1 == 0 { &OPENING[..] } else { taken(&mut script, 1) };
                    self.datagram(argument >> 1, datagram);
                }
            }
        }
    }

    fn enter(&mut self) {
        let opened = || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            socket.bind(&self.own.into())?;
            socket.connect(&self.server.into())?;
            socket.set_tcp_nodelay(true)?;
            socket.set_nonblocking(true)?;
            Ok::<_, std::io::Error>(TcpStream::from(socket))
        };
        if self.connections.len() < CONNECTIONS_MAX {
            self.connections.extend(opened());
            self.chosen = self.connections.len().saturating_sub(1);
        }
    }

    fn connection(&self) -> Option<&TcpStream> {
        self.connections.get(self.chosen % self.connections.len().max(1))
    }

    fn say(&self, bytes: &[u8]) {
        // What does not fit into the socket, or comes too late, is not said.
        let _ = self.connection().map(|mut connection| connection.write(bytes));
    }

    /// Reads once, when there is something to be read.
    fn wait(&mut self, most: usize) {
        let Some(mut connection) = self.connection() else { return };
        let waited = connection.set_nonblocking(false).and_then(|()| connection.set_read_timeout(Some(self.answer)));
        let read = waited.and_then(|()| connection.read(&mut [0; 32][..=most]));
        let _ = connection.set_nonblocking(true);
        if read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
            self.answer = NO_ANSWER;
        }
    }

    fn leave(&mut self, how: usize) {
        let Some(connection) = self.connection() else { return };
        if how & 1 == 1 {
            let _ = connection.shutdown(Shutdown::Write);
            return;
        }
        if how & 2 == 2 {
            let _ = SockRef::from(connection).set_linger(Some(Duration::ZERO));
        }
        self.connections.swap_remove(self.chosen % self.connections.len());
    }

    fn datagram(&mut self, port: usize, bytes: &[u8]) {
        while self.ports.len() <= port % PORTS {
            let Ok(socket) = UdpSocket::bind(self.own) else { return };
            if socket.connect(self.server).is_err() {
                return;
            }
            self.ports.push(socket);
        }
        // An answer that says that nobody is there is none that matters.
        let _ = self.ports[port % PORTS].send(bytes);
    }
}

/// A cookie: the input's own, or another one.
fn named(cookie: Cookie, argument: usize) -> [u8; COOKIE_BYTES] {
    let mut bytes = *cookie.bytes();
    if argument > 0 {
        bytes[0] = b'a' + u8::try_from(argument % 26).unwrap_or(0);
    }
    bytes
}

/// What a length of so many bytes, the first one the lowest, announces; at most what is there.
fn taken<'a>(script: &mut &'a [u8], width: usize) -> &'a [u8] {
    let (header, rest) = script.split_at(width.min(script.len()));
    let length = header.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
    let (text, rest) = rest.split_at(length.min(rest.len()));
    *script = rest;
    text
}

/// Threads and files of this process.
fn held() -> (usize, usize) {
    let count = |folder| fs::read_dir(folder).map_or(0, Iterator::count);
    (count("/proc/self/task"), count("/proc/self/fd"))
}

/// A test of a number of bytes; nothing if a deadline passed.
fn well_behaved(server: SocketAddr, number: u32) -> Option<()> {
    let cookie = Cookie::from_random([u8::try_from(number % 251).unwrap_or(0); COOKIE_BYTES - 1]);
    let opened = || {
        let mut stream = TcpStream::connect(server).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.write_all(cookie.bytes()).ok()?;
        Some(stream)
    };
    let mut control = opened()?;
    expect(&mut control, State::ParamExchange)?;
    let params = json!({ "tcp": true, "omit": 0, "time": 0, "num": BYTES, "parallel": 1, "len": BYTES });
    control.write_all(&encode_frame(&params).expect("it can be said")).ok()?;
    expect(&mut control, State::CreateStreams)?;
    let mut stream = opened()?;
    expect(&mut control, State::TestStart)?;
    expect(&mut control, State::TestRunning)?;
    stream.write_all(&[7; BYTES as usize]).ok()?;
    control.write_all(&[State::TestEnd.byte()]).ok()?;
    expect(&mut control, State::ExchangeResults)?;
    let seen = StreamResults { id: stream_id(0), bytes: BYTES.into(), ..StreamResults::default() };
    let results = Results { streams: vec![seen], ..Results::default() };
    control.write_all(&encode_frame(&results).expect("it can be said")).ok()?;
    let mut length = [0; 4];
    control.read_exact(&mut length).ok()?;
    let mut text = vec![0; u32::from_be_bytes(length) as usize];
    control.read_exact(&mut text).ok()?;
    let reported: Results = parse_json(&text).expect("the server's results can be read");
    assert_eq!(reported.streams[0].bytes, i64::from(BYTES));
    expect(&mut control, State::DisplayResults)
}

fn expect(control: &mut TcpStream, state: State) -> Option<()> {
    let mut byte = [0];
    control.read_exact(&mut byte).ok()?;
    (byte[0] == state.byte()).then_some(())
}
