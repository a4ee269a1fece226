//! A server that follows a script.

use std::{
    cell::RefCell,
    io::Read,
    net::{TcpListener, TcpStream},
    thread,
};

use iperf3::COOKIE_BYTES;
use wire::{Event, Iperf3, Prepare, Role, TcpSettings, Test};

use crate::ends::{End, connect};

thread_local! {
    /// Where the script's own thread takes the streams of a test.
    static LISTENER: RefCell<Option<TcpListener>> = const { RefCell::new(None) };
}

/// A server on loopback.
pub struct Server {
    port: u16,
}

impl Server {
    /// Has each visitor, once its cookie was read, met by `script`: which visit it is, and its connection; it says whether
    /// it was the last.
    pub fn new(script: impl Fn(u32, TcpStream) -> bool + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let body = move || {
            LISTENER.set(Some(listener.try_clone().unwrap()));
            for visit in 0.. {
                let Ok((mut control, _)) = listener.accept() else { return };
                if control.read_exact(&mut [0; COOKIE_BYTES]).is_ok() && script(visit, control) {
                    return;
                }
            }
        };
        thread::spawn(body);
        Self { port }
    }

    /// Takes a stream of the test, on the script's thread.
    pub fn accept_beside(_: &TcpStream) -> TcpStream {
        LISTENER.with_borrow(|listener| {
            let (mut stream, _) = listener.as_ref().unwrap().accept().unwrap();
            stream.read_exact(&mut [0; COOKIE_BYTES]).unwrap();
            stream
        })
    }

    /// A trial with this server.
    pub fn prepare(&self, role: Role, tcp: TcpSettings, iperf3: Iperf3) -> Prepare {
        Prepare { iperf3: Some(iperf3), ..connect(role, "127.0.0.1", self.port, Test::Tcp(tcp)) }
    }
}

/// What it says next, but for how far it is.
pub fn outcome(end: &End) -> Event {
    loop {
        match end.next() {
            Event::Progress(_) => {}
            other => return other,
        }
    }
}

pub fn iperf3() -> Iperf3 {
    Iperf3 { busy_timeout_us: 1_000_000, ..Iperf3::default() }
}

pub fn settings(flows: u32) -> TcpSettings {
    TcpSettings {
        flows,
        length_bytes: 16 << 10,
        duration_us: 60_000_000,
        pad_us: 50_000,
        sample_interval_us: 20_000,
        connect_timeout_us: 15_000_000,
        drain_timeout_us: 15_000_000,
        silence_timeout_us: 15_000_000,
        ..TcpSettings::default()
    }
}
