//! How a source's bytes become records of TLS, and get into the kernel.

use std::{
    io::{self, Write},
    net::TcpStream,
    ops::Range,
};

use wire::RUNNING;

use super::session::{Session, sealed_bytes, sealed_room, whole_bytes};

/// Application bytes that are sealed at once, at most: a multiple of what a record holds.
const PIECE_BYTES: usize = 1 << 20;

/// One flow's way into the kernel.
pub struct Sealing<'a> {
    session: Session,
    /// What is sent, over and over.
    block: &'a [u8],
    /// The piece of it that was sealed last.
    piece: Range<usize>,
    /// Records of that piece, or the last one.
    sealed: Vec<u8>,
    /// How much of it there is, and how much of that the kernel has taken.
    used: usize,
    taken: usize,
    /// What comes before the piece's own records.
    ahead: usize,
    /// Application bytes of the piece that were counted.
    counted: usize,
    last: bool,
}

impl<'a> Sealing<'a> {
    /// Sends this block, over and over.
    pub fn new(session: Session, block: &'a [u8]) -> Self {
        let sealed = vec![0; sealed_room(block.len().min(PIECE_BYTES))];
        Self { session, block, piece: 0..0, sealed, used: 0, taken: 0, ahead: 0, counted: 0, last: false }
    }

    /// Hands the socket at most the records of one piece of the block; returns how many application bytes those that it took as a
    /// whole hold.
    ///
    /// # Errors
    /// What the socket says; a timeout also if it took no whole record.
    pub fn write(&mut self, mut stream: &TcpStream) -> io::Result<usize> {
        if self.taken == self.used {
            let begin = self.piece.end % self.block.len();
            self.piece = begin..self.block.len().min(begin + PIECE_BYTES);
            self.used = self.session.seal(&self.block[self.piece.clone()], &mut self.sealed)?;
            self.ahead = self.used.saturating_sub(sealed_bytes(self.piece.len()));
            (self.taken, self.counted) = (0, 0);
        }
        self.taken += stream.write(&self.sealed[self.taken..self.used])?;
        let whole = match self.last {
            true => 0,
            false if self.taken == self.used => self.piece.len(),
            false => whole_bytes(self.taken.saturating_sub(self.ahead)),
        };
        let passed = whole - self.counted;
        self.counted = whole;
        if passed > 0 { Ok(passed) } else { Err(io::ErrorKind::WouldBlock.into()) }
    }

    /// Whether nothing is left to write: neither of a piece that was begun, nor the word that nothing more comes.
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

#[cfg(test)]
mod tests {
    use std::{io::Read, net::TcpListener, sync::Arc, thread};

    use rustls::{CipherSuiteCommon, SupportedCipherSuite, Tls13CipherSuite};
    use wire::Token;

    use super::*;
    use crate::{
        tcp::encryption::session::Next,
        tls::{Secrets, provider},
    };

    /// Two ends after their handshake; the keys of the first one protect so many records.
    fn ends(records: u64) -> (Session, Session) {
        let secrets = Secrets { token: Token([1; 16]), answer: Token([2; 16]) };
        let mut provider = provider();
        let SupportedCipherSuite::Tls13(usual) = provider.cipher_suites[0];
        let common = CipherSuiteCommon { confidentiality_limit: records, ..usual.common };
        let rare = Tls13CipherSuite { common, ..*usual };
        provider.cipher_suites = vec![SupportedCipherSuite::Tls13(Box::leak(Box::new(rare)))];
        let mut client = Session::client(Arc::new(secrets.client_by(provider).unwrap())).unwrap();
        let mut server = secrets.server().unwrap();
        server.send_tls13_tickets = 0;
        let mut server = Session::server(Arc::new(server)).unwrap();
        let (mut to_client, mut to_server) = (Vec::new(), Vec::new());
        while client.is_handshaking() || server.is_handshaking() {
            shake(&mut client, &mut to_client, &mut to_server);
            shake(&mut server, &mut to_server, &mut to_client);
        }
        (client, server)
    }

    fn shake(session: &mut Session, incoming: &mut Vec<u8>, outgoing: &mut Vec<u8>) {
        while let (taken, Next::Again) = session.advance(incoming, outgoing, |_| panic!("no data yet")).unwrap() {
            incoming.drain(..taken);
        }
    }

    #[test]
    fn a_long_block_is_sealed_piece_by_piece() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let (near_end, mut far_end) = ends(u64::MAX);
        let block: Vec<u8> = (0..(3_u32 << 20) + 70_001).map(|number| (number % 251).to_le_bytes()[0]).collect();
        let mut sealing = Sealing::new(near_end, &block);
        assert!(sealing.sealed.len() < 2 << 20, "memory of each flow");
        let reader = thread::spawn(move || {
            let (mut sealed, mut opened) = (Vec::new(), Vec::new());
            far.read_to_end(&mut sealed).unwrap();
            far_end.open(&mut sealed, |bytes| opened.extend_from_slice(bytes)).unwrap();
            opened
        });
        let mut sent = 0;
        while sent < 2 * block.len() {
            sent += sealing.write(&stream).unwrap_or(0);
        }
        while !sealing.is_finished().unwrap() {
            sent += sealing.write(&stream).unwrap_or(0);
        }
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let opened = reader.join().unwrap();
        assert_eq!(opened.len(), sent);
        assert!(opened.chunks(block.len()).all(|chunk| *chunk == block[..chunk.len()]));
    }

    #[test]
    fn keys_that_have_protected_enough_are_replaced_and_every_byte_counts_once() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let (near_end, mut far_end) = ends(5);
        let block = vec![7; 40_000];
        let mut sealing = Sealing::new(near_end, &block);
        let reader = thread::spawn(move || {
            let mut sealed = Vec::new();
            far.read_to_end(&mut sealed).unwrap();
            let mut opened = Vec::new();
            let ended = far_end.open(&mut sealed, |bytes| opened.extend_from_slice(bytes)).unwrap();
            let mut words = vec![0; 256];
            let mut length = far_end.seal(&[RUNNING], &mut words).unwrap();
            length += far_end.close(&mut words[length..]).unwrap();
            words.truncate(length);
            (ended == (sealed.len(), true), opened, words)
        });
        let (mut sent, mut replaced) = (0, false);
        while sent < 20 * block.len() {
            sent += sealing.write(&stream).unwrap_or(0);
            replaced |= sealing.ahead > 0;
        }
        assert!(replaced, "keys of five records have lasted for sixty");
        while !sealing.is_finished().unwrap() {
            sent += sealing.write(&stream).unwrap_or(0);
        }
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let (whole, opened, mut words) = reader.join().unwrap();
        assert!(whole);
        assert_eq!(opened.len(), sent);
        assert!(opened.iter().all(|byte| *byte == 7));
        assert!(sealing.heard(&mut words).unwrap());
    }
}
