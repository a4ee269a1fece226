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
    defaults::{KEEPALIVE_IDLE, KEEPALIVE_INTERVAL, STOP_CHECK, STOPPING_LEAVE, VANISHED},
    urgency::Urgency,
};

/// The connection over which a test is led.
pub struct Control<'a> {
    stream: TcpStream,
    deadlines: Deadlines,
    urgency: &'a Urgency,
}

/// Waits are cut into pieces: patience may end while a client is waited for.
const PIECE: Duration = STOP_CHECK;

/// Has the kernel end a connection whose peer does not answer within a time.
///
/// # Errors
/// What `setsockopt` says.
pub fn notice_vanishing(stream: &TcpStream, within: Duration) -> io::Result<()> {
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE_IDLE).with_interval(KEEPALIVE_INTERVAL))?;
    socket.set_tcp_user_timeout(Some(within))
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
    /// The server is to end.
    #[error("the server ends")]
    Stops,
    /// No state.
    #[error(transparent)]
    State(#[from] UnknownState),
    /// No JSON.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

impl<'a> Control<'a> {
    /// Takes over the connection of a client whose test begins.
    ///
    /// # Errors
    /// If its settings cannot be changed.
    pub fn new(stream: TcpStream, deadlines: Deadlines, urgency: &'a Urgency) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        notice_vanishing(&stream, VANISHED)?;
        Ok(Self { stream, deadlines, urgency })
    }

    /// Bears that a client is not heard of for so long: its datagrams may fill the path on which it answers.
    ///
    /// # Errors
    /// If the connection's settings cannot be changed.
    pub fn bear_silence(&self, longest: Duration) -> io::Result<()> {
        notice_vanishing(&self.stream, longest.max(VANISHED))
    }

    /// Moves the test on.
    ///
    /// # Errors
    /// [`ControlError`] if the client cannot be reached.
    pub fn say(&self, state: State) -> Result<(), ControlError> {
        self.write(&[state.byte()], self.deadlines.write)
    }

    /// Says what went wrong.
    ///
    /// # Errors
    /// [`ControlError`] if the client cannot be reached.
    pub fn say_error(&self, code: ErrorCode, errno: i32) -> Result<(), ControlError> {
        let error = ServerError { code, errno }.encode();
        self.write(&[&[State::ServerError.byte()][..], &error].concat(), self.deadlines.write)
    }

    /// Says that the server ends: what there is no room for at once is not said.
    pub fn say_end(&self) {
        // A client that cannot be reached will notice.
        let _ = (&self.stream).write(&[State::ServerTerminate.byte()]);
    }

    /// Sends JSON, which may be long.
    ///
    /// # Errors
    /// [`ControlError`] if the client cannot be reached, or does not take it in time.
    pub fn send(&self, message: &impl Serialize) -> Result<(), ControlError> {
        self.write(&encode_frame(message)?, self.deadlines.results)
    }

    /// The next state, if there is one within `longest`.
    ///
    /// # Errors
    /// [`ControlError`] if the connection is closed, the byte is no state, or the server is to end.
    pub fn next_state(&self, longest: Duration) -> Result<Option<State>, ControlError> {
        if !self.wait(PollFlags::IN, longest)? {
            return Ok(None);
        }
        let mut byte = [0];
        match (&self.stream).read(&mut byte) {
            Ok(0) => Err(ControlError::Closed),
            Ok(_) => Ok(Some(State::try_from(byte[0])?)),
            Err(error) if is_for_now(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The next state, if there is one within `longest`; within less, as soon as others wait for the place.
    ///
    /// # Errors
    /// As [`Control::next_state`].
    pub fn last_state(&self, longest: Duration) -> Result<Option<State>, ControlError> {
        let begin = Instant::now();
        while let Some(left) = self.left(begin, longest) {
            if let Some(state) = self.next_state(left.min(PIECE))? {
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    /// Takes JSON of at most `most` bytes. Memory grows with what has come, not with what was announced.
    ///
    /// # Errors
    /// [`ControlError`] if it does not come within `timeout`, or is not what was expected.
    pub fn receive<T: DeserializeOwned>(&self, most: usize, timeout: Duration) -> Result<T, ControlError> {
        let begin = Instant::now();
        let mut text = self.read_to(LENGTH_BYTES, begin, timeout)?;
        let header = text.first_chunk().copied().unwrap_or_default();
        let length = frame_length(header, most)?;
        text = self.read_to(length, begin, timeout)?;
        Ok(parse_json(&text)?)
    }

    /// Ends the conversation so that the client can still read what was said last.
    pub fn close(self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        let begin = Instant::now();
        let mut rest = [0; 4096];
        loop {
            let stops = self.urgency.stops();
            let longest = if stops { self.deadlines.leaving.min(STOPPING_LEAVE) } else { self.deadlines.leaving };
            let Some(left) = longest.checked_sub(begin.elapsed()) else { return };
            if !poll_one(&self.stream, PollFlags::IN, left.min(PIECE)) {
                continue;
            }
            match (&self.stream).read(&mut rest) {
                Ok(0) => return,
                Err(error) if !is_for_now(&error) => return,
                _ => {}
            }
        }
    }

    /// Writes all of it until a deadline, however slowly the client reads.
    fn write(&self, mut bytes: &[u8], longest: Duration) -> Result<(), ControlError> {
        let begin = Instant::now();
        while !bytes.is_empty() {
            match (&self.stream).write(bytes) {
                Ok(0) => return Err(ControlError::Closed),
                Ok(length) => bytes = bytes.get(length..).unwrap_or_default(),
                Err(error) if is_for_now(&error) => {
                    let left = self.left(begin, longest).ok_or(ControlError::Timeout(longest))?;
                    self.wait(PollFlags::OUT, left.min(PIECE))?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn read_to(&self, length: usize, begin: Instant, timeout: Duration) -> Result<Vec<u8>, ControlError> {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        while bytes.len() < length {
            let left = self.left(begin, timeout).ok_or(ControlError::Timeout(timeout))?;
            let room = length.saturating_sub(bytes.len()).min(chunk.len());
            match (&self.stream).read(&mut chunk[..room]) {
                Ok(0) => return Err(ControlError::Closed),
                Ok(read) => bytes.extend_from_slice(&chunk[..read]),
                Err(error) if is_for_now(&error) => drop(self.wait(PollFlags::IN, left.min(PIECE))?),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(bytes)
    }

    /// What is left of a time for something that the client has to do.
    fn left(&self, begin: Instant, longest: Duration) -> Option<Duration> {
        self.urgency.patience(longest).checked_sub(begin.elapsed())
    }

    /// Whether the connection has become ready for something.
    fn wait(&self, what: PollFlags, longest: Duration) -> Result<bool, ControlError> {
        let own = PollFd::from_borrowed_fd(self.stream.as_fd(), what);
        let mut watched = [own, PollFd::from_borrowed_fd(self.urgency.ends(), PollFlags::IN)];
        let longest = Timespec::try_from(longest).map_err(io::Error::other)?;
        // An interrupted poll only means looking once more.
        let _ = poll(&mut watched, Some(&longest));
        if self.urgency.stops() {
            return Err(ControlError::Stops);
        }
        Ok(!watched[0].revents().is_empty())
    }
}

fn poll_one(stream: &TcpStream, what: PollFlags, longest: Duration) -> bool {
    let mut watched = [PollFd::from_borrowed_fd(stream.as_fd(), what)];
    let longest = Timespec::try_from(longest).ok();
    poll(&mut watched, longest.as_ref()).is_ok_and(|ready| ready > 0)
}

fn is_for_now(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_client_whose_datagrams_fill_the_path_may_be_silent_for_longer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let urgency = Urgency::new().unwrap();
        let control = Control::new(listener.accept().unwrap().0, Deadlines::default(), &urgency).unwrap();
        let borne = || SockRef::from(&control.stream).tcp_user_timeout().unwrap();
        assert_eq!(borne(), Some(VANISHED));
        control.bear_silence(Duration::from_secs(30)).unwrap();
        assert_eq!(borne(), Some(Duration::from_secs(30)));
        control.bear_silence(Duration::from_secs(1)).unwrap();
        assert_eq!(borne(), Some(VANISHED), "less is none to bear");
    }
}
