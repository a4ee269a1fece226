//! What a source sends, and how its bytes get into the kernel.

use std::{
    io::{self, PipeReader, PipeWriter, Write},
    iter,
    net::TcpStream,
    os::fd::AsFd,
};

use rustix::{
    io::Errno,
    pipe::{SpliceFlags, fcntl_setpipe_size, splice},
};
use sys::{ConstantPages, Pages};
use wire::Mode;

use super::encryption::{Sealing, Session};
use crate::defaults::{LENT_PAYLOADS, PIPE_BYTES};

/// The bytes that the flows of a source send, over and over.
pub struct Payload {
    /// One that is copied serves all flows. Of one that is lent each flow has its own, as far as they go round: the kernel
    /// counts who uses a huge page in one place, which the processors would take from each other.
    blocks: Vec<ConstantPages>,
    mode: Mode,
}

/// One flow's way into the kernel.
pub enum Feed<'a> {
    /// The kernel copies from the application's buffer.
    Copy(&'a [u8]),
    /// The kernel sends the buffer's own pages, which go to the socket by way of a pipe.
    Lend(Lending<'a>),
    /// TLS makes records of the application's buffer, which the kernel copies.
    Seal(Box<Sealing<'a>>),
}

/// A pipe, and what of the payload is in it.
pub struct Lending<'a> {
    pages: &'a ConstantPages,
    reader: PipeReader,
    writer: PipeWriter,
    /// Up to where the payload has been put into the pipe.
    lent: usize,
    /// Bytes in the pipe.
    waiting: usize,
    /// Whether more always follows at once, so that the kernel may wait to fill a segment.
    more: SpliceFlags,
}

impl Payload {
    /// Makes `length` bytes, fewer where no pipe takes so many at once, that do not compress, so that nothing on the path
    /// can make a flow faster than it is.
    ///
    /// # Errors
    /// There is not so much memory.
    pub fn new(flows: usize, length: usize, mode: Mode) -> io::Result<Self> {
        let (count, length) = match mode {
            Mode::Copy => (1, length),
            Mode::Zerocopy | Mode::Discard => (flows.clamp(1, LENT_PAYLOADS), length.min(PIPE_BYTES)),
        };
        let bytes = random_bytes(length);
        let blocks = (0..count).map(|_| constant(&bytes)).collect::<io::Result<_>>()?;
        Ok(Self { blocks, mode })
    }

    /// The way into the kernel of one flow that TLS protects.
    pub fn sealed(&self, session: Session) -> Feed<'_> {
        Feed::Seal(Box::new(Sealing::new(session, &self.blocks[0])))
    }

    /// The way into the kernel of one flow; `at_once` where no segment may wait for the next write to fill it.
    ///
    /// # Errors
    /// The process has too many open files for another pipe, or may not have one as large as the other flows'.
    pub fn feed(&self, flow: usize, at_once: bool) -> io::Result<Feed<'_>> {
        let pages = &self.blocks[flow % self.blocks.len()];
        if self.mode == Mode::Copy {
            return Ok(Feed::Copy(pages));
        }
        let (reader, writer) = io::pipe()?;
        let bytes = pages.len();
        fcntl_setpipe_size(&writer, bytes).map_err(|error| pipe_refused(bytes, error))?;
        let more = if at_once { SpliceFlags::empty() } else { SpliceFlags::MORE };
        Ok(Feed::Lend(Lending { pages, reader, writer, lent: 0, waiting: 0, more }))
    }
}

impl Feed<'_> {
    /// Hands the socket at most one payload; returns how many bytes it took.
    ///
    /// # Errors
    /// What the socket says, a timeout included.
    pub fn write(&mut self, mut stream: &TcpStream) -> io::Result<usize> {
        match self {
            Self::Copy(block) => stream.write(block),
            Self::Lend(lending) => lending.write(stream),
            Self::Seal(sealing) => sealing.write(stream),
        }
    }

    /// Whether the socket has all that belongs to what it was handed; else it is to be handed more.
    ///
    /// # Errors
    /// What TLS says.
    pub fn is_finished(&mut self) -> io::Result<bool> {
        match self {
            Self::Copy(_) | Self::Lend(_) => Ok(true),
            Self::Seal(sealing) => sealing.is_finished(),
        }
    }

    /// Whether what the sink sent, beside the word that it runs, is what ends a flow.
    ///
    /// # Errors
    /// What TLS says.
    pub fn heard(&mut self, sent: &mut [u8]) -> io::Result<bool> {
        match self {
            Self::Copy(_) | Self::Lend(_) => Ok(sent.is_empty()),
            Self::Seal(sealing) => sealing.heard(sent),
        }
    }
}

impl Lending<'_> {
    fn write(&mut self, stream: &TcpStream) -> io::Result<usize> {
        if self.waiting == 0 {
            self.waiting = self.pages.lend(self.lent, self.pages.len(), &self.writer)?;
            self.lent = (self.lent + self.waiting) % self.pages.len();
        }
        let flags = SpliceFlags::MOVE | self.more;
        let sent = splice(&self.reader, None, stream.as_fd(), None, self.waiting, flags)?;
        self.waiting -= sent;
        Ok(sent)
    }
}

/// A user has so much for all pipes together; with smaller ones some flows would write less at once than others.
fn pipe_refused(bytes: usize, error: Errno) -> io::Error {
    let error = io::Error::from(error);
    let limits = "see fs.pipe-max-size and fs.pipe-user-pages-soft";
    io::Error::new(error.kind(), format!("a pipe of {bytes} B, as this mode needs for each flow: {error}, {limits}"))
}

fn constant(bytes: &[u8]) -> io::Result<ConstantPages> {
    let mut pages = Pages::new(bytes.len())?;
    pages.copy_from_slice(bytes);
    pages.freeze()
}

/// Bytes that do not compress.
pub fn random_bytes(count: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    iter::repeat_with(next).take(count).collect()
}

#[cfg(test)]
mod tests {
    use std::{io::Read, net::TcpListener};

    use super::*;

    #[test]
    fn a_payload_has_all_byte_values() {
        let payload = Payload::new(3, 1 << 16, Mode::Copy).unwrap();
        let mut values = payload.blocks[0].to_vec();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), 256);
    }

    #[test]
    fn every_mode_sends_the_payload_over_and_over() {
        for (mode, length) in [(Mode::Copy, 5000), (Mode::Zerocopy, 5000), (Mode::Discard, 3 << 20)] {
            let payload = Payload::new(3, length, mode).unwrap();
            let block = &payload.blocks[0];
            assert_eq!(block.len(), length.min(PIPE_BYTES), "{mode:?}");
            let arrived = sent_through_a_socket(&payload, 2 * block.len());
            assert!(arrived.chunks(block.len()).all(|chunk| chunk == &block[..]), "{mode:?}");
        }
    }

    #[test]
    fn what_is_lent_is_shared_only_when_there_are_very_many_flows() {
        for (mode, flows, blocks) in [(Mode::Copy, 40, 1), (Mode::Zerocopy, 3, 3), (Mode::Discard, 40, LENT_PAYLOADS)] {
            assert_eq!(Payload::new(flows, 4096, mode).unwrap().blocks.len(), blocks, "{mode:?}");
        }
    }

    fn sent_through_a_socket(payload: &Payload, bytes: usize) -> Vec<u8> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let source = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut sink, _) = listener.accept().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut feed = payload.feed(4, true).unwrap();
                let mut sent = 0;
                while sent < bytes {
                    sent += feed.write(&source).unwrap();
                }
            });
            let mut arrived = vec![0; bytes];
            sink.read_exact(&mut arrived).unwrap();
            arrived
        })
    }
}
