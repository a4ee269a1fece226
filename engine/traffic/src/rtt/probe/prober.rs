//! What sends probes and receives their responses.

use std::{io, time::Instant};

use rustix::event::PollFd;
use sys::Datagram;

use crate::kernel_time::{KernelTime, Steps};

/// Sends probes and receives responses, without ever waiting.
pub trait Prober {
    /// Sends a probe with so many bytes of payload.
    ///
    /// # Errors
    /// This host's kernel did not send it.
    fn send(&mut self, sequence: u64, size_bytes: u32) -> io::Result<()>;
    /// Calls `received` for each response that has arrived; probes before `first_outstanding` are settled.
    fn receive(&mut self, first_outstanding: u64, received: &mut dyn FnMut(Response));
    /// What was seen of this host's clock being set, where the kernel's times count.
    fn steps(&self) -> Option<Steps> {
        None
    }
    /// What to wait for.
    fn watch<'a>(&'a self, watched: &mut Vec<PollFd<'a>>);
}

/// A response.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    /// The number of its probe.
    pub sequence: u64,
    /// When it was received: by the kernel, where that has the time.
    pub arrived: Instant,
    /// When this end saw it.
    pub seen: Instant,
}

impl Response {
    /// A response that has just been received. Where the clock of the kernel's time was set about then, it arrived when
    /// it was seen.
    pub fn from_datagram(sequence: u64, datagram: &Datagram, kernel: &mut KernelTime) -> Self {
        let seen = Instant::now();
        let arrived = datagram.arrived_unix_ns.and_then(|stamp_unix_ns| kernel.arrived(stamp_unix_ns));
        Self { sequence, arrived: arrived.unwrap_or(seen), seen }
    }
}
