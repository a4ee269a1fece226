//! How a sink's bytes get out of the kernel.

use std::{
    io::{self, Read},
    iter,
    net::TcpStream,
};

use rustix::net::RecvFlags;
use socket2::SockRef;
use sys::Pages;
use wire::Mode;

/// One flow's way out of the kernel.
pub enum Intake<'a> {
    /// The kernel copies into the application's buffer.
    Copy(&'a mut [u8]),
    /// The kernel drops what has arrived, at most so many bytes a call, and says how much that was.
    Discard(Vec<u8>),
}

/// The buffers of all flows of a sink.
pub struct Intakes {
    pages: Option<Pages>,
    length: usize,
}

impl Intakes {
    /// Buffers of `length` bytes for each flow.
    ///
    /// # Errors
    /// There is not so much memory.
    pub fn new(flows: usize, length: usize, mode: Mode) -> io::Result<Self> {
        let pages = if mode == Mode::Discard { None } else { Some(Pages::new(flows.saturating_mul(length))?) };
        Ok(Self { pages, length })
    }

    /// One for each flow.
    pub fn all(&mut self) -> Box<dyn Iterator<Item = Intake<'_>> + '_> {
        let length = self.length;
        match &mut self.pages {
            Some(pages) => Box::new(pages.chunks_exact_mut(length).map(Intake::Copy)),
            None => Box::new(iter::repeat_with(move || Intake::Discard(Vec::with_capacity(length)))),
        }
    }
}

impl Intake<'_> {
    /// Takes what has arrived, at most one length; 0 at the end.
    ///
    /// # Errors
    /// What the socket says.
    pub fn read(&mut self, mut stream: &TcpStream) -> io::Result<usize> {
        match self {
            Self::Copy(buffer) => stream.read(buffer),
            Self::Discard(untouched) => {
                let flags = RecvFlags::TRUNC.bits().cast_signed();
                SockRef::from(stream).recv_with_flags(untouched.spare_capacity_mut(), flags)
            }
        }
    }
}
