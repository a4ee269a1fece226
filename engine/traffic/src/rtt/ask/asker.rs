//! Whoever asks, and what it hears.

use std::{io, time::Instant};

use rustix::event::PollFd;
use sys::Datagram;

use crate::kernel_time::{KernelTime, Steps};

/// Asks, and hears answers, without ever waiting.
pub trait Asker {
    /// Asks with so many bytes of payload.
    ///
    /// # Errors
    /// This host's kernel did not send it.
    fn ask(&mut self, sequence: u64, size_bytes: u32) -> io::Result<()>;
    /// Tells of the answers that have come; of questions before `first_open` nobody wants to know any more.
    fn hear(&mut self, first_open: u64, heard: &mut dyn FnMut(Heard));
    /// What was seen of this host's clock being set, where the kernel's times count.
    fn steps(&self) -> Option<Steps> {
        None
    }
    /// What to wait for.
    fn watch<'a>(&'a self, watched: &mut Vec<PollFd<'a>>);
}

/// An answer.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// The number of its question.
    pub sequence: u64,
    /// When it came: by the kernel, where it tells.
    pub arrived: Instant,
    /// When this end saw it.
    pub seen: Instant,
}

impl Heard {
    /// An answer that has just been received. Where the clock that the kernel tells the time by was set about then, it came
    /// when it was seen.
    pub fn from_datagram(sequence: u64, datagram: &Datagram, kernel: &mut KernelTime) -> Self {
        let seen = Instant::now();
        let arrived = datagram.arrived_unix_ns.and_then(|stamp_unix_ns| kernel.arrived(stamp_unix_ns));
        Self { sequence, arrived: arrived.unwrap_or(seen), seen }
    }
}
