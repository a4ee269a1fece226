//! Two namespaces joined by an emulated link, and sockets inside them.

use std::{
    io::{BufRead, BufReader, PipeWriter, pipe},
    net::{IpAddr, SocketAddr, TcpStream, UdpSocket},
    os::fd::AsFd,
    path::PathBuf,
    process::Command,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use socket2::{Domain, Protocol, Socket, Type};
use sys::in_network_namespace;
use wire::{DirectionCounters, EmulatedDevice, EmulatedDirection, Emulation, EmulationCounters, EmulationEvent};

/// One after the other: measurements disturb each other.
static ALONE: Mutex<()> = Mutex::new(());
static COUNT: AtomicU32 = AtomicU32::new(0);

/// A link without limits, to be changed where a test wants.
pub const OPEN: EmulatedDirection = EmulatedDirection {
    rate_bps: None,
    delay_us: 0,
    jitter_us: 0,
    reorder: false,
    loss: 0.0,
    duplicate: 0.0,
    queue_bytes: None,
    queue_packets: None,
    policer: None,
    cross: None,
};

pub struct Lab {
    namespaces: Namespaces,
    input: Option<PipeWriter>,
    events: Arc<Mutex<Vec<EmulationEvent>>>,
    threads: Vec<JoinHandle<()>>,
    _alone: MutexGuard<'static, ()>,
}

/// Goes after the emulator, whatever happens.
struct Namespaces([String; 2]);

impl Lab {
    /// The link both ways alike. `None`, with the reason printed, where namespaces are not permitted.
    pub fn new(direction: &EmulatedDirection) -> Option<Self> {
        Self::with(&[direction.clone(), direction.clone()])
    }

    pub fn with(directions: &[EmulatedDirection; 2]) -> Option<Self> {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let namespaces = Namespaces::make()?;
        let devices = [0, 1].map(|end| EmulatedDevice { namespace: namespaces.path(end), name: "path0".into() });
        let emulation = Emulation {
            devices,
            mtu_bytes: 1500,
            seed: 42,
            report_interval_us: 5000,
            directions: directions.clone(),
            further: Vec::new(),
            dscps: Vec::new(),
        };
        let request = serde_json::to_string(&emulation).unwrap();
        let (input, write_input) = pipe().unwrap();
        let (read_output, output) = pipe().unwrap();
        let events = Arc::new(Mutex::new(Vec::new()));
        let received = events.clone();
        let emulator = thread::spawn(move || {
            // What went wrong is an event, too.
            let _ = emulator::emulate(&request, input.as_fd(), output);
        });
        let listener = thread::spawn(move || {
            for line in BufReader::new(read_output).lines() {
                received.lock().unwrap().push(serde_json::from_str(&line.unwrap()).unwrap());
            }
        });
        let threads = vec![emulator, listener];
        let lab = Self { namespaces, input: Some(write_input), events, threads, _alone: alone };
        lab.wait_for(|event| *event == EmulationEvent::Ready);
        lab.namespaces.configure();
        Some(lab)
    }

    pub fn ip(&self, end: usize, arguments: &str) {
        ip(&format!("-n {} {arguments}", self.namespaces.0[end]));
    }

    /// Makes the name of the namespace go.
    pub fn delete_namespace(&self, end: usize) {
        ip(&format!("netns del {}", self.namespaces.0[end]));
    }

    /// A socket of that namespace, bound to its address.
    fn socket(&self, end: usize, kind: Type, ipv6: bool) -> Socket {
        let address = SocketAddr::new(address(end, ipv6), 0);
        let protocol = if kind == Type::STREAM { Protocol::TCP } else { Protocol::UDP };
        let make = || {
            let socket = Socket::new(Domain::for_address(address), kind, Some(protocol)).unwrap();
            socket.bind(&address.into()).unwrap();
            socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            socket.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
            socket
        };
        in_network_namespace(&PathBuf::from(self.namespaces.path(end)), make).unwrap()
    }

    /// A connected pair: client at end 0, server at end 1; Reno, the one that does nothing but RFC 5681.
    pub fn tcp(&self, ipv6: bool, receive_buffer_bytes: Option<usize>) -> (TcpStream, TcpStream) {
        let listener = self.socket(1, Type::STREAM, ipv6);
        if let Some(bytes) = receive_buffer_bytes {
            listener.set_recv_buffer_size(bytes).unwrap();
        }
        listener.listen(1).unwrap();
        let client = self.socket(0, Type::STREAM, ipv6);
        client.set_tcp_congestion(b"reno").unwrap();
        client.connect(&listener.local_addr().unwrap()).unwrap();
        let server = listener.accept().unwrap().0;
        server.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        (client.into(), server.into())
    }

    /// Sending socket at end 0, receiving one at end 1.
    pub fn udp(&self, ipv6: bool) -> (UdpSocket, UdpSocket) {
        let receiver = self.socket(1, Type::DGRAM, ipv6);
        receiver.set_recv_buffer_size(4 << 20).unwrap();
        let sender = self.socket(0, Type::DGRAM, ipv6);
        sender.connect(&receiver.local_addr().unwrap()).unwrap();
        (sender.into(), receiver.into())
    }

    /// Waits for the next report and returns its first direction.
    pub fn counters(&self) -> DirectionCounters {
        let seen = self.events.lock().unwrap().len();
        self.wait(|events| events.len() > seen + 1);
        self.reports().last().unwrap().directions[0]
    }

    pub fn reports(&self) -> Vec<EmulationCounters> {
        let of = |event: &EmulationEvent| match event {
            EmulationEvent::Counters(counters) => Some((**counters).clone()),
            _ => None,
        };
        self.events.lock().unwrap().iter().filter_map(of).collect()
    }

    /// Waits for the message of a failure.
    pub fn failure(&self) -> String {
        let mut message = String::new();
        self.wait_for(|event| match event {
            EmulationEvent::Failed { message: reported } => {
                message.clone_from(reported);
                true
            }
            _ => false,
        });
        message
    }

    /// Ends the emulation as a controller does; returns its last word.
    pub fn finish(&mut self) -> EmulationEvent {
        self.input = None;
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
        self.events.lock().unwrap().last().unwrap().clone()
    }

    pub fn has_device(&self, end: usize) -> bool {
        let list = Command::new("ip").args(["-n", &self.namespaces.0[end], "link", "show", "path0"]).output().unwrap();
        list.status.success()
    }

    fn wait_for(&self, mut wanted: impl FnMut(&EmulationEvent) -> bool) {
        self.wait(|events| events.iter().any(&mut wanted));
    }

    fn wait(&self, mut holds: impl FnMut(&[EmulationEvent]) -> bool) {
        let begun = Instant::now();
        while !holds(&self.events.lock().unwrap()) {
            assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", self.events.lock().unwrap());
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.input = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Say why; in continuous integration nothing may be skipped.
fn skipped(reason: &str) {
    println!("skipped: {reason}");
    let accepted = std::env::var_os("CI").is_none_or(|value| value.is_empty());
    assert!(accepted, "skipped, which continuous integration does not accept: {reason}");
}

impl Namespaces {
    fn make() -> Option<Self> {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let names = ["a", "b"].map(|end| format!("emulator-{}-{number}{end}", std::process::id()));
        let made = Self(names);
        for name in &made.0 {
            let result = Command::new("ip").args(["netns", "add", name]).output();
            match result {
                Ok(output) if output.status.success() => {}
                Ok(output) => {
                    skipped(&format!("ip netns add: {}", String::from_utf8_lossy(&output.stderr)));
                    return None;
                }
                Err(error) => {
                    skipped(&format!("ip: {error}"));
                    return None;
                }
            }
        }
        Some(made)
    }

    fn path(&self, end: usize) -> String {
        format!("/run/netns/{}", self.0[end])
    }

    fn configure(&self) {
        for (end, name) in self.0.iter().enumerate() {
            let tune = || {
                for (setting, value) in [
                    ("ipv4/tcp_rmem", "4096 131072 268435456"),
                    ("ipv4/tcp_wmem", "4096 65536 268435456"),
                    ("ipv4/tcp_no_metrics_save", "1"),
                    // No router is asked for, so that no packet goes that a test did not send.
                    ("ipv6/conf/path0/addr_gen_mode", "1"),
                ] {
                    std::fs::write(format!("/proc/sys/net/{setting}"), value).unwrap();
                }
            };
            in_network_namespace(&PathBuf::from(self.path(end)), tune).unwrap();
            ip(&format!("-n {name} address add 10.9.0.{}/24 dev path0", end + 1));
            ip(&format!("-n {name} address add fd09::{}/64 dev path0 nodad", end + 1));
            ip(&format!("-n {name} link set path0 up"));
        }
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new("ip").args(["netns", "del", name]).output();
        }
    }
}

fn address(end: usize, ipv6: bool) -> IpAddr {
    let text = if ipv6 { format!("fd09::{}", end + 1) } else { format!("10.9.0.{}", end + 1) };
    text.parse().unwrap()
}

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}
