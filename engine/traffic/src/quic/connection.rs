//! What carries one flow of QUIC: a connection, the thread's own runtime, and what the coordinator reads of both.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use quinn::{Endpoint, VarInt};
use tokio::runtime::Runtime;

use super::watched::Held;
use crate::flow::{Connection, Flow, Flows};

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
    ports: (u16, u16),
    driver: Mutex<Option<Driver>>,
}

/// What moves a connection's packets: whoever has it runs it.
pub struct Driver {
    /// Of one thread.
    pub runtime: Runtime,
    /// The socket's.
    pub endpoint: Endpoint,
}

impl QuicConnection {
    /// Takes over a connection between two addresses.
    pub fn new(
        driver: Driver,
        connection: quinn::Connection,
        held: Arc<Held>,
        (local, remote): (SocketAddr, SocketAddr),
        streams: u32,
    ) -> Self {
        Self {
            connection,
            held,
            streams: (0..streams).map(|_| AtomicU64::new(0)).collect(),
            received: AtomicBool::new(false),
            ports: (local.port(), remote.port()),
            driver: Mutex::new(Some(driver)),
        }
    }

    /// Takes what moves its packets; there is one, for the flow's own thread.
    pub fn take_driver(&self) -> Option<Driver> {
        self.driver.lock().unwrap_or_else(PoisonError::into_inner).take()
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
