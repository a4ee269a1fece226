//! A test's control connection: messages whole or not at all, each with a deadline.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use iperf3::{
    ErrorCode, FrameError, LENGTH_BYTES, ServerError, State, UnknownState, encode_frame, frame_length, parse_json,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Serialize, de::DeserializeOwned};
use socket2::{SockRef, TcpKeepalive};
use thiserror::Error;

use crate::{
    deadlines::Deadlines,
    defaults::{KEEPALIVE_IDLE, KEEPALIVE_INTERVAL, KEEPALIVE_PROBES, STOP_CHECK},
};

/// The connection over which a test is led.
pub struct Control(TcpStream, Deadlines);

/// Has the kernel end a connection whose peer does not answer for seconds.
///
/// # Errors
/// What `setsockopt` says.
pub fn notice_vanishing(stream: &TcpStream) -> io::Result<()> {
    let socket = SockRef::from(stream);
    let keepalive =
        TcpKeepalive::new().with_time(KEEPALIVE_IDLE).with_interval(KEEPALIVE_INTERVAL).with_retries(KEEPALIVE_PROBES);
    socket.set_tcp_keepalive(&keepalive)?;
    socket.set_tcp_user_timeout(Some(KEEPALIVE_IDLE + KEEPALIVE_INTERVAL * KEEPALIVE_PROBES))
}

/// Why nothing can be said, or what was said cannot be understood.
#[derive(Debug, Error)]
pub enum ControlError {
    /// The client is gone.
    #[error("the control connection closed")]
    Closed,
    /// The client does not answer any more.
    #[error("the control connection failed: {0}")]
    Io(#[from] io::Error),
    /// It took too long.
    #[error("the client said nothing within {} s", .0.as_secs())]
    Timeout(Duration),
    /// No state.
    #[error(transparent)]
    State(#[from] UnknownState),
    /// No JSON.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

impl Control {
    /// Takes over a newcomer's connection.
    ///
    /// # Errors
    /// If its settings cannot be changed.
    pub fn new(stream: TcpStream, deadlines: Deadlines) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(deadlines.write))?;
        notice_vanishing(&stream)?;
        Ok(Self(stream, deadlines))
    }

    /// Moves the test on.
    ///
    /// # Errors
    /// [`ControlError`] if the client cannot be reached.
    pub fn say(&self, state: State) -> Result<(), ControlError> {
        Ok((&self.0).write_all(&[state.byte()])?)
    }

    /// Says what went wrong.
    ///
    /// # Errors
    /// [`ControlError`] if the client cannot be reached.
    pub fn say_error(&self, code: ErrorCode, errno: i32) -> Result<(), ControlError> {
        let error = ServerError { code, errno }.encode();
        Ok((&self.0).write_all(&[&[State::ServerError.byte()][..], &error].concat())?)
    }

    /// Sends JSON.
    ///
    /// # Errors
    /// [`ControlError`] if the client cannot be reached.
    pub fn send(&self, message: &impl Serialize) -> Result<(), ControlError> {
        Ok((&self.0).write_all(&encode_frame(message)?)?)
    }

    /// The next state, if there is one within `longest`.
    ///
    /// # Errors
    /// [`ControlError`] if the connection is closed, or the byte is no state.
    pub fn next_state(&self, longest: Duration) -> Result<Option<State>, ControlError> {
        let mut watched = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)];
        let longest = Timespec::try_from(longest).map_err(io::Error::other)?;
        // An interrupted poll only means looking once more.
        if !poll(&mut watched, Some(&longest)).is_ok_and(|ready| ready > 0) {
            return Ok(None);
        }
        let mut byte = [0];
        match (&self.0).read(&mut byte)? {
            0 => Err(ControlError::Closed),
            _ => Ok(Some(State::try_from(byte[0])?)),
        }
    }

    /// Takes JSON of at most `most` bytes. Memory grows with what has come, not with what was announced.
    ///
    /// # Errors
    /// [`ControlError`] if it does not come within `timeout`, or is not what was expected.
    pub fn receive<T: DeserializeOwned>(&self, most: usize, timeout: Duration) -> Result<T, ControlError> {
        let deadline = Instant::now() + timeout;
        let mut text = self.read_to(LENGTH_BYTES, deadline, timeout)?;
        let header = text.first_chunk().copied().unwrap_or_default();
        let length = frame_length(header, most)?;
        text = self.read_to(length, deadline, timeout)?;
        Ok(parse_json(&text)?)
    }

    /// Ends the conversation so that the client can still read what was said last.
    pub fn close(self) {
        let _ = self.0.shutdown(Shutdown::Write);
        let deadline = Instant::now() + self.1.leaving;
        let mut rest = [0; 4096];
        let _ = self.0.set_read_timeout(Some(STOP_CHECK.min(self.1.leaving)));
        while Instant::now() < deadline {
            match (&self.0).read(&mut rest) {
                Ok(0) => return,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return,
                _ => {}
            }
        }
    }

    fn read_to(&self, length: usize, deadline: Instant, timeout: Duration) -> Result<Vec<u8>, ControlError> {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        while bytes.len() < length {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ControlError::Timeout(timeout));
            }
            self.0.set_read_timeout(Some(left))?;
            let room = (length - bytes.len()).min(chunk.len());
            match (&self.0).read(&mut chunk[..room]) {
                Ok(0) => return Err(ControlError::Closed),
                Ok(read) => bytes.extend_from_slice(&chunk[..read]),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(bytes)
    }
}
