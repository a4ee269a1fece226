//! How a sink's bytes get out of the kernel.

use std::{io, net::TcpStream};

use rustix::net::{RecvFlags, recv};
use sys::Pages;
use wire::Mode;

/// One flow's way out of the kernel, and its buffer.
pub struct Intake<'a> {
    buffer: &'a mut [u8],
    flags: RecvFlags,
}

/// The buffers of all flows of a sink.
pub struct Intakes {
    pages: Pages,
    length: usize,
    flags: RecvFlags,
}

impl Intakes {
    /// Buffers of `length` bytes for each flow.
    ///
    /// # Errors
    /// There is not so much memory.
    pub fn new(flows: usize, length: usize, mode: Mode) -> io::Result<Self> {
        let flags = match mode {
            Mode::Copy | Mode::Zerocopy => RecvFlags::empty(),
            // The kernel drops what has arrived, at most so many bytes a call: the buffer stays untouched, and its
            // memory is never taken.
            Mode::Discard => RecvFlags::TRUNC,
        };
        Ok(Self { pages: Pages::new(flows.saturating_mul(length))?, length, flags })
    }

    /// One for each flow.
    pub fn all(&mut self) -> impl Iterator<Item = Intake<'_>> {
        let flags = self.flags;
        self.pages.chunks_exact_mut(self.length).map(move |buffer| Intake { buffer, flags })
    }
}

impl Intake<'_> {
    /// Takes what has arrived, at most one length; 0 at the end.
    ///
    /// # Errors
    /// What the socket says.
    pub fn read(&mut self, stream: &TcpStream) -> io::Result<usize> {
        let (_, taken) = recv(stream, &mut *self.buffer, self.flags)?;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, net::TcpListener};

    use super::*;

    #[test]
    fn every_mode_takes_all_bytes_and_only_discard_leaves_the_buffer_alone() {
        for (mode, touched) in [(Mode::Copy, true), (Mode::Zerocopy, true), (Mode::Discard, false)] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let mut source = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (sink, _) = listener.accept().unwrap();
            let mut intakes = Intakes::new(3, 1000, mode).unwrap();
            source.write_all(&[7; 2500]).unwrap();
            drop(source);
            let mut taken = Vec::new();
            let mut intake = intakes.all().nth(1).unwrap();
            while let count @ 1.. = intake.read(&sink).unwrap() {
                taken.push(count);
            }
            assert_eq!(taken.iter().sum::<usize>(), 2500, "{mode:?}");
            assert!(taken.iter().all(|&count| count <= 1000), "{mode:?}: {taken:?}");
            let flows: Vec<bool> = intakes.all().map(|intake| intake.buffer.contains(&7)).collect();
            assert_eq!(flows, [false, touched, false], "{mode:?}");
        }
    }
}
