//! A server that a test starts, and a client that does what the test says.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    os::fd::OwnedFd,
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use iperf3::{COOKIE_BYTES, Cookie, Results, State, StreamResults, encode_frame, parse_json};
use iperf3_server::{Acceptor, Config};
use rustix::event::{EventfdFlags, eventfd};
use serde_json::{Value, json};
use serving::Log;
use socket2::{Domain, Socket, Type};

/// How long a test waits for what must come.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// From where clients come unless something else is said.
const HOME: [u8; 4] = [127, 0, 0, 1];

/// A server on loopback; ends when it goes.
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
    lines: Arc<Mutex<Vec<u8>>>,
}

#[derive(Clone)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Server {
    pub fn start(config: Config) -> Self {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let log = Log::to(Lines(Arc::clone(&lines))).unwrap();
        Self::begin(config, log, lines)
    }

    /// With a log that [`Self::events`] does not know.
    pub fn logging_to(config: Config, log: Log) -> Self {
        Self::begin(config, log, Arc::default())
    }

    fn begin(config: Config, log: Log, lines: Arc<Mutex<Vec<u8>>>) -> Self {
        let config = Config { bind: Some(HOME.into()), port: 0, ..config };
        let acceptor = Acceptor::open(config, log).unwrap();
        let (address, stop) = (acceptor.address().unwrap(), Arc::new(eventfd(0, EventfdFlags::CLOEXEC).unwrap()));
        let its_stop = Arc::clone(&stop);
        let thread = thread::spawn(move || acceptor.serve(&its_stop));
        Self { address, stop, thread: Some(thread), lines }
    }

    /// Has it end, and waits until it has.
    pub fn end(&mut self) {
        rustix::io::write(&self.stop, &1_u64.to_ne_bytes()).unwrap();
        self.thread.take().unwrap().join().unwrap();
    }

    /// What it has written down of a kind.
    pub fn events(&self, kind: &str) -> Vec<Value> {
        let text = self.lines.lock().unwrap().clone();
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice::<Value>(line).unwrap()).filter(|line| line["event"] == kind).collect()
    }

    /// Waits until it has written down so many events of a kind.
    pub fn wait_for(&self, kind: &str, count: usize) -> Vec<Value> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let events = self.events(kind);
            if events.len() >= count {
                return events;
            }
            assert!(Instant::now() < deadline, "{kind}: {events:?}");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.end();
        }
    }
}

/// A client, known to the server by its control connection.
pub struct Client {
    pub control: TcpStream,
    pub cookie: Cookie,
    address: SocketAddr,
}

impl Client {
    /// Connects and names its test.
    pub fn enter(server: &Server, name: u8) -> Self {
        Self::enter_from(server, HOME, name)
    }

    /// The same from another of loopback's addresses.
    pub fn enter_from(server: &Server, from: [u8; 4], name: u8) -> Self {
        let control = connect_from(server.address, from);
        let cookie = Cookie::from_random([name; COOKIE_BYTES - 1]);
        (&control).write_all(cookie.bytes()).unwrap();
        Self { control, cookie, address: server.address }
    }

    /// Connects and requests a test.
    pub fn request(server: &Server, name: u8, params: &Value) -> Self {
        Self::request_from(server, HOME, name, params)
    }

    /// The same from another of loopback's addresses.
    pub fn request_from(server: &Server, from: [u8; 4], name: u8, params: &Value) -> Self {
        let client = Self::enter_from(server, from, name);
        assert_eq!(client.state(), Some(State::ParamExchange));
        (&client.control).write_all(&encode_frame(params).unwrap()).unwrap();
        client
    }

    /// What the server says next; nothing if it closes.
    pub fn state(&self) -> Option<State> {
        let mut byte = [0];
        match (&self.control).read(&mut byte) {
            Ok(1) => Some(State::try_from(byte[0]).unwrap()),
            Ok(_) => None,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// The number of the error that the server tells.
    pub fn error(&self) -> i32 {
        assert_eq!(self.state(), Some(State::ServerError));
        let mut bytes = [0; 8];
        (&self.control).read_exact(&mut bytes).unwrap();
        i32::from_be_bytes(*bytes.first_chunk().unwrap())
    }

    pub fn say(&self, state: State) {
        (&self.control).write_all(&[state.byte()]).unwrap();
    }

    /// Opens a stream.
    pub fn stream(&self) -> TcpStream {
        let stream = connect(self.address);
        (&stream).write_all(self.cookie.bytes()).unwrap();
        stream
    }

    /// Waits for the test to run, with its streams.
    pub fn run(&self, streams: usize) -> Vec<TcpStream> {
        assert_eq!(self.state(), Some(State::CreateStreams));
        let streams = (0..streams).map(|_| self.stream()).collect();
        self.expect_running();
        streams
    }

    pub fn expect_running(&self) {
        assert_eq!(self.state(), Some(State::TestStart));
        assert_eq!(self.state(), Some(State::TestRunning));
    }

    /// Ends the test; what the server has seen of it. `bytes`: of each stream, here.
    pub fn end(&self, bytes: &[i64]) -> Results {
        self.say(State::TestEnd);
        assert_eq!(self.state(), Some(State::ExchangeResults));
        let streams = (0..).zip(bytes).map(|(index, bytes)| StreamResults {
            id: iperf3::stream_id(index),
            bytes: *bytes,
            ..StreamResults::default()
        });
        let results = Results { streams: streams.collect(), ..Results::default() };
        (&self.control).write_all(&encode_frame(&results).unwrap()).unwrap();
        let mut length = [0; 4];
        (&self.control).read_exact(&mut length).unwrap();
        let mut text = vec![0; u32::from_be_bytes(length) as usize];
        (&self.control).read_exact(&mut text).unwrap();
        assert_eq!(self.state(), Some(State::DisplayResults));
        self.say(State::IperfDone);
        parse_json(&text).unwrap()
    }
}

/// A test over TCP as a client requests it, with more keys.
pub fn tcp(more: Value) -> Value {
    merged(json!({ "tcp": true, "omit": 0, "time": 10, "num": 0, "blockcount": 0, "parallel": 1 }), more)
}

/// The same over UDP.
pub fn udp(more: Value) -> Value {
    let base = json!({ "udp": true, "omit": 0, "time": 10, "parallel": 1, "len": 100, "udp_counters_64bit": 1 });
    merged(base, more)
}

fn merged(mut base: Value, more: Value) -> Value {
    if let (Value::Object(base), Value::Object(more)) = (&mut base, more) {
        base.extend(more);
    }
    base
}

pub fn connect(address: SocketAddr) -> TcpStream {
    connect_from(address, HOME)
}

pub fn connect_from(address: SocketAddr, from: [u8; 4]) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
    socket.connect(&address.into()).unwrap();
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Whether the server closes a connection, with or without a word before.
pub fn closes(stream: &TcpStream) -> bool {
    let mut stream = stream;
    match stream.read_to_end(&mut Vec::new()) {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
    }
}
