//! What carries one flow of QUIC: a connection, the thread's own runtime, and what the coordinator reads of both.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use quinn::{Endpoint, VarInt};
use tokio::{runtime::Runtime, sync::oneshot, time::timeout};

use super::watched::Held;
use crate::flow::{Connection, Flow, Flows};

/// What an end closes a connection with that it is done with.
pub const DONE: u8 = 0;
/// How long a connection that is closed may take to say so.
const LAST_PACKETS: Duration = Duration::from_secs(1);

/// A flow of QUIC.
pub type QuicFlow = Flow<QuicConnection>;
/// All flows of one end of a trial.
pub type QuicFlows = Flows<QuicConnection>;

/// A connection that stands.
pub struct QuicConnection {
    /// The connection.
    pub connection: quinn::Connection,
    /// What holds the source back.
    pub held: Arc<Held>,
    /// Application bytes of each of its streams.
    pub streams: Vec<AtomicU64>,
    /// The sink's application has read first bytes.
    pub received: AtomicBool,
    /// Whether the kernel hands over several datagrams at once.
    pub gro: bool,
    ports: (u16, u16),
    idle: Mutex<Option<Idle>>,
}

/// What moves a connection's packets: whoever has it runs it.
pub struct Driver {
    /// Of one thread.
    pub runtime: Runtime,
    /// The socket's.
    pub endpoint: Endpoint,
}

impl Driver {
    /// Closes the connection, and gives its last packets time to go out and to come.
    pub fn close(&self, connection: &quinn::Connection, code: u8, reason: &str) {
        connection.close(code.into(), reason.as_bytes());
        self.runtime.block_on(async { timeout(LAST_PACKETS, self.endpoint.wait_idle()).await.ok() });
    }
}

/// A driver that runs, so that acknowledgements come and go, until the flow's own thread takes it.
struct Idle {
    /// Dropped to end it.
    awake: oneshot::Sender<()>,
    thread: JoinHandle<Driver>,
}

impl Idle {
    fn begin(driver: Driver) -> io::Result<Self> {
        let (awake, taken) = oneshot::channel::<()>();
        let run = move || {
            driver.runtime.block_on(async { taken.await.ok() });
            driver
        };
        let thread = thread::Builder::new().name("quic-idle".into()).spawn(run)?;
        Ok(Self { awake, thread })
    }

    fn end(self) -> Option<Driver> {
        drop(self.awake);
        self.thread.join().ok()
    }
}

impl QuicConnection {
    /// Takes over a connection between two addresses.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn new(
        driver: Driver,
        connection: quinn::Connection,
        held: Arc<Held>,
        (local, remote): (SocketAddr, SocketAddr),
        streams: u32,
        gro: bool,
    ) -> io::Result<Self> {
        Ok(Self {
            connection,
            held,
            streams: (0..streams).map(|_| AtomicU64::new(0)).collect(),
            received: AtomicBool::new(false),
            gro,
            ports: (local.port(), remote.port()),
            idle: Mutex::new(Some(Idle::begin(driver)?)),
        })
    }

    /// Takes what moves its packets; there is one, for the flow's own thread.
    pub fn take_driver(&self) -> Option<Driver> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).take()?.end()
    }

    /// Counts application bytes of a stream.
    pub fn count(&self, stream: usize, bytes: usize) {
        if let Some(counter) = self.streams.get(stream) {
            counter.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }
}

impl Connection for QuicConnection {
    const BREAKS_ALONE: bool = false;

    fn ports(&self) -> (u16, u16) {
        self.ports
    }

    fn break_off(&self) {
        self.connection.close(VarInt::from_u32(1), b"broken off");
    }
}

/// Whether the sink's application has said that the flow's first bytes reached it.
pub fn sink_has_received(flow: &QuicFlow) -> bool {
    flow.connection.received.load(Ordering::Acquire)
}
