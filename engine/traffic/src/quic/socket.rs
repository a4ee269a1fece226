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

use crate::defaults::GRO_BUFFER_BYTES;

/// What the library reads and writes, for a runtime that was entered.
///
/// # Errors
/// The runtime or the library cannot use the socket.
pub fn for_library(socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    let inner = TokioRuntime.wrap_udp_socket(socket)?;
    Ok(Arc::new(Touching { inner, touched: AtomicBool::new(false) }))
}

/// The library has buffers for 32 reads at once, and gives all of them to each call. Those behind the first are reached when
/// packets had to wait, and a sink that then waits for memory acknowledges nothing.
#[derive(Debug)]
struct Touching {
    inner: Arc<dyn AsyncUdpSocket>,
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
            // The kernel puts no more together in one, for however much the library has room.
            for buffer in buffers.iter_mut() {
                let reached = buffer.len().min(GRO_BUFFER_BYTES);
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
