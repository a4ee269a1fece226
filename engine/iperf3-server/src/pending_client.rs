//! A client that has connected and has not yet said what for. It costs one socket and a bounded buffer.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, TcpStream},
    time::Instant,
};

use iperf3::{
    COOKIE_BYTES, Cookie, ErrorCode, LENGTH_BYTES, Params, ServerError, State, frame_length, limits::PARAMS_BYTES_MAX,
    parse_json,
};
use serving::Origin;

use crate::{authentication::now_s, deadlines::Deadlines};

/// A connection whose purpose is not known yet.
pub struct PendingClient {
    /// Never waits.
    pub stream: TcpStream,
    /// Who it is.
    pub peer: IpAddr,
    /// From where it comes.
    pub origin: Origin,
    /// When it was accepted, as a number: streams have their roles in this order.
    pub order: u64,
    /// When it has to be further than it is.
    pub deadline: Instant,
    /// Whether it may have said something.
    pub ready: bool,
    deadlines: Deadlines,
    stage: Stage,
    bytes: Vec<u8>,
}

enum Stage {
    Cookie,
    Length(Cookie),
    Params(Cookie, usize),
    Authentication(Box<Request>),
    Leaving,
}

/// The request of a pending client whose user is not authenticated yet.
pub struct Request {
    /// Name of its test.
    pub cookie: Cookie,
    /// The parameters that it requests; checked.
    pub params: Params,
    /// When it was received, by the wall clock, in seconds since 1970.
    pub received_at_s: i64,
}

/// How far a pending client has got.
#[derive(Debug)]
pub enum Progress {
    /// More has to come.
    Waits,
    /// It closed, or what it said is no iperf3.
    Gone,
    /// It has named a test.
    Named(Cookie),
    /// It wants to test.
    Requests(Cookie, Box<Params>),
    /// What it wants could not be read.
    Unreadable,
}

impl PendingClient {
    /// Somebody has connected.
    ///
    /// # Errors
    /// If the socket cannot be made one that does not wait.
    pub fn new(stream: TcpStream, peer: IpAddr, order: u64, deadlines: Deadlines, now: Instant) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let deadline = now + deadlines.cookie;
        let origin = peer.into();
        Ok(Self {
            stream,
            peer,
            origin,
            order,
            deadline,
            ready: true,
            deadlines,
            stage: Stage::Cookie,
            bytes: Vec::new(),
        })
    }

    /// Reads what has come: never more than belongs to what is expected, since a stream's data may follow at once.
    pub fn advance(&mut self) -> Progress {
        loop {
            match self.fill() {
                Ok(true) => {}
                Ok(false) => return Progress::Waits,
                Err(_) => return Progress::Gone,
            }
            let bytes = std::mem::take(&mut self.bytes);
            match &self.stage {
                Stage::Cookie => {
                    return match <[u8; COOKIE_BYTES]>::try_from(&bytes[..]).map(Cookie::parse) {
                        Ok(Ok(cookie)) => Progress::Named(cookie),
                        _ => Progress::Gone,
                    };
                }
                Stage::Length(cookie) => {
                    let cookie = *cookie;
                    let length = bytes.first_chunk().map(|header| frame_length(*header, PARAMS_BYTES_MAX));
                    match length {
                        Some(Ok(length)) => self.stage = Stage::Params(cookie, length),
                        _ => return Progress::Unreadable,
                    }
                }
                Stage::Params(cookie, _) => {
                    return match parse_json(&bytes) {
                        Ok(params) => Progress::Requests(*cookie, Box::new(params)),
                        Err(_) => Progress::Unreadable,
                    };
                }
                // `fill` is never content with what they say.
                Stage::Authentication(_) | Stage::Leaving => return Progress::Waits,
            }
        }
    }

    /// Requests its parameters.
    ///
    /// # Errors
    /// If the connection is gone.
    pub fn request_params(&mut self, cookie: Cookie, now: Instant) -> io::Result<()> {
        self.stream.write_all(&[State::ParamExchange.byte()])?;
        self.stage = Stage::Length(cookie);
        self.deadline = now + self.deadlines.params;
        Ok(())
    }

    /// Has to wait until its user is authenticated.
    pub fn wait_for_verdict(&mut self, cookie: Cookie, params: Params, now: Instant) {
        self.stage = Stage::Authentication(Box::new(Request { cookie, params, received_at_s: now_s() }));
        self.deadline = now + self.deadlines.authentication;
    }

    /// Its request, as long as its user is not authenticated.
    #[must_use]
    pub fn request(&self) -> Option<&Request> {
        match &self.stage {
            Stage::Authentication(request) => Some(request),
            _ => None,
        }
    }

    /// Its connection and its request, now that its user is authenticated; `None` if it did not wait for that.
    #[must_use]
    pub fn admitted(self) -> Option<(TcpStream, Request)> {
        match self.stage {
            Stage::Authentication(request) => Some((self.stream, *request)),
            _ => None,
        }
    }

    /// Says that there is no place, and waits for the peer to close.
    pub fn deny(&mut self, now: Instant) {
        self.leave(&[State::AccessDenied.byte()], now);
    }

    /// Says what is wrong, and waits for the peer to close.
    pub fn refuse(&mut self, code: ErrorCode, now: Instant) {
        let error = ServerError { code, errno: 0 }.encode();
        self.leave(&[&[State::ServerError.byte()][..], &error].concat(), now);
    }

    fn leave(&mut self, message: &[u8], now: Instant) {
        // A client that cannot be reached is gone.
        let _ = self.stream.write_all(message);
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
        self.stage = Stage::Leaving;
        self.deadline = now + self.deadlines.leaving;
    }

    /// Whether everything that was expected is there.
    fn fill(&mut self) -> io::Result<bool> {
        let expected = match &self.stage {
            Stage::Cookie => COOKIE_BYTES,
            Stage::Length(_) => LENGTH_BYTES,
            Stage::Params(_, length) => *length,
            Stage::Authentication(_) => return self.keep_silence(),
            Stage::Leaving => return self.discard(),
        };
        let mut chunk = [0; 1024];
        while self.bytes.len() < expected {
            let room = (expected - self.bytes.len()).min(chunk.len());
            match self.stream.read(&mut chunk[..room]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => self.bytes.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// A client has nothing to send until there is a verdict: anything received, or a close, means that it has given up.
    fn keep_silence(&mut self) -> io::Result<bool> {
        match self.stream.read(&mut [0]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
            Ok(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// A close with unread bytes would take the answer back.
    fn discard(&mut self) -> io::Result<bool> {
        let mut chunk = [0; 4096];
        for _ in 0..4 {
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Ok(_) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}
