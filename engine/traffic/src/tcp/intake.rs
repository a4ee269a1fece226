//! How a sink's bytes get out of the kernel.

use std::{
    io::{self, Write},
    net::TcpStream,
};

use rustix::net::{RecvFlags, recv};
use sys::Pages;
use wire::Mode;

use super::encryption::Session;
use crate::defaults::TOUCHED_MAX_BYTES;

/// Of the records of a word, with room for one of new keys.
const WORD_ROOM_BYTES: usize = 256;

/// One flow's way out of the kernel, and its buffer.
pub struct Intake<'a> {
    buffer: &'a mut [u8],
    flags: RecvFlags,
    opened: Option<Opened>,
}

/// What TLS has of a flow.
struct Opened {
    session: Session,
    /// Bytes at the beginning of the buffer that are no whole record yet.
    filled: usize,
    closed: bool,
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

    /// Has the kernel find their memory now, where data is copied into them and they are few.
    #[must_use]
    pub fn touched(mut self) -> Self {
        if self.flags.is_empty() && self.pages.len() <= TOUCHED_MAX_BYTES {
            sys::touch(&mut self.pages);
        }
        self
    }

    /// One for each flow.
    pub fn all(&mut self) -> impl Iterator<Item = Intake<'_>> {
        let flags = self.flags;
        self.pages.chunks_exact_mut(self.length).map(move |buffer| Intake { buffer, flags, opened: None })
    }
}

impl Intake<'_> {
    /// The same of a flow that TLS protects.
    #[must_use]
    pub fn protected(self, session: Session) -> Self {
        Self { opened: Some(Opened { session, filled: 0, closed: false }), ..self }
    }

    /// Takes what has arrived, at most one length; 0 at the end.
    ///
    /// # Errors
    /// What the socket says, or TLS.
    pub fn read(&mut self, stream: &TcpStream) -> io::Result<usize> {
        if let Some(opened) = &mut self.opened {
            return opened.read(stream, self.buffer);
        }
        let (_, taken) = recv(stream, &mut *self.buffer, self.flags)?;
        Ok(taken)
    }

    /// Tells the source a word.
    ///
    /// # Errors
    /// What the socket says, or TLS.
    pub fn tell(&mut self, mut stream: &TcpStream, word: u8) -> io::Result<()> {
        match &mut self.opened {
            None => stream.write_all(&[word]),
            Some(opened) => opened.tell(stream, |session, sealed| session.seal(&[word], sealed)),
        }
    }

    /// Tells the source that no more words come.
    ///
    /// # Errors
    /// What the socket says, or TLS.
    pub fn close(&mut self, stream: &TcpStream) -> io::Result<()> {
        self.opened.as_mut().map_or(Ok(()), |opened| opened.tell(stream, Session::close))
    }
}

impl Opened {
    fn read(&mut self, stream: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.closed {
            let (_, received) = recv(stream, &mut buffer[self.filled..], RecvFlags::empty())?;
            if received == 0 {
                // Without the word of TLS, anybody on the path may have ended it.
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the connection ended before TLS did"));
            }
            let filled = self.filled + received;
            let mut count = 0;
            let (taken, closed) = self.session.open(&mut buffer[..filled], |bytes| count += bytes.len())?;
            buffer.copy_within(taken..filled, 0);
            (self.filled, self.closed) = (filled - taken, closed);
            if count > 0 {
                return Ok(count);
            }
        }
        Ok(0)
    }

    fn tell(
        &mut self,
        mut stream: &TcpStream,
        seal: impl FnOnce(&mut Session, &mut [u8]) -> io::Result<usize>,
    ) -> io::Result<()> {
        let mut sealed = [0; WORD_ROOM_BYTES];
        let length = seal(&mut self.session, &mut sealed)?;
        stream.write_all(&sealed[..length])
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
