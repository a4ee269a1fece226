//! The socket of a connection: the library's, with memory for what arrives that is there before it arrives.

use std::{
    io::{self, IoSliceMut},
    net::{SocketAddr, UdpSocket},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use quinn::{
    AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller,
    udp::{RecvMeta, Transmit},
};

use wire::QuicSettings;

use crate::defaults::TOUCHED_MAX_BYTES;

/// Buffers of the library.
const READS_AT_ONCE: usize = 32;

/// What the library reads and writes of one of a trial's connections, for a runtime that was entered. `read_bytes` is the most that
/// the kernel hands over at once.
///
/// # Errors
/// The runtime or the library cannot use the socket.
pub fn for_library(
    socket: UdpSocket,
    settings: &QuicSettings,
    read_bytes: usize,
) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    let inner = TokioRuntime.wrap_udp_socket(socket)?;
    let together = settings.flows as usize * READS_AT_ONCE * read_bytes;
    // A thread that is bound to CPUs has memory that is near to these: where it writes first.
    if together > TOUCHED_MAX_BYTES || !settings.cpus.is_empty() {
        return Ok(inner);
    }
    Ok(Arc::new(Touching { inner, read_bytes, touched: AtomicBool::new(false) }))
}

/// The library gives all of its buffers to each call. Those behind the first are reached when
/// packets had to wait, and a sink that then waits for memory acknowledges nothing.
#[derive(Debug)]
struct Touching {
    inner: Arc<dyn AsyncUdpSocket>,
    read_bytes: usize,
    touched: AtomicBool,
}

impl AsyncUdpSocket for Touching {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        self.inner.clone().create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.inner.try_send(transmit)
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        if !self.touched.swap(true, Ordering::Relaxed) {
            for buffer in buffers.iter_mut() {
                let reached = buffer.len().min(self.read_bytes);
                sys::touch(&mut buffer[..reached]);
            }
        }
        self.inner.poll_recv(context, buffers, meta)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.inner.max_transmit_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.inner.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}
