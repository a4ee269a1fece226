//! TLS of one flow, without a socket: the flow's thread decides how much it reads and writes at once.

use std::{io, sync::Arc};

use rustls::{
    ClientConfig, Error, ServerConfig,
    client::UnbufferedClientConnection,
    pki_types::ServerName,
    server::UnbufferedServerConnection,
    unbuffered::{ConnectionState, UnbufferedStatus},
};

use crate::tls::NAME;

/// Application bytes of a full record (RFC 8446, section 5.1).
const RECORD_BYTES: usize = 1 << 14;
/// What a record of application data is more on the path: its header, its kind and a tag.
const RECORD_EXTRA_BYTES: usize = 5 + 1 + 16;
/// Most that any record takes on the path (section 5.2).
pub const RECORD_MAX_BYTES: usize = RECORD_BYTES + 256 + 5;

/// One end of a flow's TLS.
pub struct Session {
    connection: Connection,
}

enum Connection {
    Client(UnbufferedClientConnection),
    Server(UnbufferedServerConnection),
}

/// What comes after a piece of what was received, or of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// There may be more to do with what is there.
    Again,
    /// More has to come from the other end, and what is to be sent has to go.
    Wait,
    /// The other end has said that nothing more comes.
    Closed,
}

impl Session {
    /// Of the end that connects.
    ///
    /// # Errors
    /// What the library says.
    pub fn client(config: Arc<ClientConfig>) -> Result<Self, Error> {
        let name = ServerName::try_from(NAME).map_err(|error| Error::General(error.to_string()))?;
        Ok(Self { connection: Connection::Client(UnbufferedClientConnection::new(config, name)?) })
    }

    /// Of the end that listens.
    ///
    /// # Errors
    /// What the library says.
    pub fn server(config: Arc<ServerConfig>) -> Result<Self, Error> {
        Ok(Self { connection: Connection::Server(UnbufferedServerConnection::new(config)?) })
    }

    /// Whether the handshake is not over.
    pub fn is_handshaking(&self) -> bool {
        match &self.connection {
            Connection::Client(connection) => connection.is_handshaking(),
            Connection::Server(connection) => connection.is_handshaking(),
        }
    }

    /// Takes the next piece of what was received, in place; how many bytes are done with, and what comes next.
    /// `outgoing` gets what has to be sent, `take` application bytes.
    ///
    /// # Errors
    /// What came is not of the other end of this trial, or was changed.
    pub fn advance(
        &mut self,
        incoming: &mut [u8],
        outgoing: &mut Vec<u8>,
        take: impl FnMut(&[u8]),
    ) -> io::Result<(usize, Next)> {
        match &mut self.connection {
            Connection::Client(connection) => settle(connection.process_tls_records(incoming), outgoing, take),
            Connection::Server(connection) => settle(connection.process_tls_records(incoming), outgoing, take),
        }
    }

    /// Takes all whole records; how many bytes those were, and whether nothing more comes.
    ///
    /// # Errors
    /// What came is not of the other end of this trial, or was changed.
    pub fn open(&mut self, incoming: &mut [u8], mut take: impl FnMut(&[u8])) -> io::Result<(usize, bool)> {
        let (mut done, mut outgoing) = (0, Vec::new());
        loop {
            let (taken, next) = self.advance(&mut incoming[done..], &mut outgoing, &mut take)?;
            done += taken;
            if !outgoing.is_empty() {
                return Err(io::Error::other("the other end of TLS asks for an answer amid the data"));
            }
            if next != Next::Again {
                return Ok((done, next == Next::Closed));
            }
        }
    }

    /// Makes records of application bytes; how long they are. There must be [`sealed_room`].
    ///
    /// # Errors
    /// What the library says.
    pub fn seal(&mut self, plain: &[u8], sealed: &mut [u8]) -> io::Result<usize> {
        self.speak(Said::Bytes(plain), sealed)
    }

    /// Makes the record that says that nothing more comes.
    ///
    /// # Errors
    /// What the library says.
    pub fn close(&mut self, sealed: &mut [u8]) -> io::Result<usize> {
        self.speak(Said::Last, sealed)
    }

    fn speak(&mut self, said: Said<'_>, sealed: &mut [u8]) -> io::Result<usize> {
        match &mut self.connection {
            Connection::Client(connection) => spoken(connection.process_tls_records(&mut []), said, sealed),
            Connection::Server(connection) => spoken(connection.process_tls_records(&mut []), said, sealed),
        }
    }
}

/// How long records of so many application bytes are.
pub fn sealed_bytes(plain: usize) -> usize {
    plain + plain.div_ceil(RECORD_BYTES) * RECORD_EXTRA_BYTES
}

/// How much room they need: keys that have protected 2^24 records are replaced, which one more record says.
pub fn sealed_room(plain: usize) -> usize {
    sealed_bytes(plain) + 8 * RECORD_EXTRA_BYTES
}

/// How many application bytes the first `sealed` bytes of full records hold, without a record that is not whole.
pub fn whole_bytes(sealed: usize) -> usize {
    sealed / (RECORD_BYTES + RECORD_EXTRA_BYTES) * RECORD_BYTES
}

#[derive(Clone, Copy)]
enum Said<'a> {
    Bytes(&'a [u8]),
    Last,
}

fn spoken<Data>(status: UnbufferedStatus<'_, '_, Data>, said: Said<'_>, sealed: &mut [u8]) -> io::Result<usize> {
    match status.state.map_err(io::Error::other)? {
        ConnectionState::WriteTraffic(mut write) => match said {
            Said::Bytes(plain) => write.encrypt(plain, sealed),
            Said::Last => write.queue_close_notify(sealed),
        }
        .map_err(io::Error::other),
        other => Err(io::Error::other(format!("TLS cannot send now: {other:?}"))),
    }
}

fn settle<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    outgoing: &mut Vec<u8>,
    mut take: impl FnMut(&[u8]),
) -> io::Result<(usize, Next)> {
    let mut taken = status.discard;
    let next = match status.state.map_err(io::Error::other)? {
        ConnectionState::EncodeTlsData(mut encode) => {
            let begin = outgoing.len();
            outgoing.resize(begin + RECORD_MAX_BYTES, 0);
            let length = encode.encode(&mut outgoing[begin..]).map_err(io::Error::other)?;
            outgoing.truncate(begin + length);
            Next::Again
        }
        ConnectionState::TransmitTlsData(transmit) => {
            transmit.done();
            Next::Again
        }
        ConnectionState::ReadTraffic(mut read) => {
            while let Some(record) = read.next_record() {
                let record = record.map_err(io::Error::other)?;
                taken += record.discard;
                take(record.payload);
            }
            Next::Again
        }
        ConnectionState::WriteTraffic(_) | ConnectionState::BlockedHandshake => Next::Wait,
        ConnectionState::PeerClosed | ConnectionState::Closed => Next::Closed,
        other => return Err(io::Error::other(format!("TLS does what nobody asked for: {other:?}"))),
    };
    Ok((taken, next))
}
