//! How a source's bytes become records of TLS, and get into the kernel.

use std::{
    io::{self, Write},
    net::TcpStream,
};

use wire::RUNNING;

use super::session::{Session, sealed_bytes, sealed_room, whole_bytes};

/// One flow's way into the kernel.
pub struct Sealing<'a> {
    session: Session,
    /// What is sent, over and over.
    block: &'a [u8],
    /// Records of the whole block, or the last one.
    sealed: Vec<u8>,
    /// How much of it there is, and how much of that the kernel has taken.
    used: usize,
    taken: usize,
    /// What comes before the block's own records.
    ahead: usize,
    /// Application bytes of the block that were counted.
    counted: usize,
    last: bool,
}

impl<'a> Sealing<'a> {
    /// Sends this block, over and over.
    pub fn new(session: Session, block: &'a [u8]) -> Self {
        let sealed = vec![0; sealed_room(block.len())];
        Self { session, block, sealed, used: 0, taken: 0, ahead: 0, counted: 0, last: false }
    }

    /// Hands the socket at most the records of one block; returns how many application bytes those that it took as a
    /// whole hold.
    ///
    /// # Errors
    /// What the socket says; a timeout also if it took no whole record.
    pub fn write(&mut self, mut stream: &TcpStream) -> io::Result<usize> {
        if self.taken == self.used {
            self.used = self.session.seal(self.block, &mut self.sealed)?;
            self.ahead = self.used.saturating_sub(sealed_bytes(self.block.len()));
            (self.taken, self.counted) = (0, 0);
        }
        self.taken += stream.write(&self.sealed[self.taken..self.used])?;
        let whole = match self.last {
            true => 0,
            false if self.taken == self.used => self.block.len(),
            false => whole_bytes(self.taken.saturating_sub(self.ahead)),
        };
        let passed = whole - self.counted;
        self.counted = whole;
        if passed > 0 { Ok(passed) } else { Err(io::ErrorKind::WouldBlock.into()) }
    }

    /// Whether nothing is left to write: neither of a block that was begun, nor the word that nothing more comes.
    ///
    /// # Errors
    /// What the library says.
    pub fn is_finished(&mut self) -> io::Result<bool> {
        if self.taken == self.used && !self.last {
            self.used = self.session.close(&mut self.sealed)?;
            (self.taken, self.counted, self.last) = (0, 0, true);
        }
        Ok(self.taken == self.used)
    }

    /// Whether all that the sink has sent is that it runs, and that nothing more comes.
    ///
    /// # Errors
    /// It was changed on the way.
    pub fn heard(&mut self, sent: &mut [u8]) -> io::Result<bool> {
        let mut words: Vec<u8> = Vec::new();
        let (taken, closed) = self.session.open(sent, |bytes| words.extend_from_slice(bytes))?;
        Ok(taken == sent.len() && closed && words == [RUNNING])
    }
}
