//! The connecting side: all flows at once, so that setting up costs two round trips and not two for each flow.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::SockRef;
use wire::{ANSWER_BYTES, Granted, Opening, TcpSettings};

use super::kind::Kind;
use crate::{
    Control, Task, TrialError,
    address::{family_of, resolve},
    defaults::STOP_CHECK,
    granted_window::verify_window,
};

/// A flow on its way to the other end.
struct Attempt {
    stream: TcpStream,
    opening: Opening,
    state: State,
}

enum State {
    Connecting,
    AwaitingAnswer { bytes: [u8; ANSWER_BYTES], filled: usize },
    Done,
}

/// Connects every flow and shakes hands, in the order of the flows' index.
pub fn connect_flows<K: Kind>(
    kind: &K,
    task: &Task<'_, TcpSettings>,
    address: &str,
    port: u16,
    bind: Option<IpAddr>,
    control: &Control,
) -> Result<(Vec<TcpStream>, Granted), TrialError> {
    let remote = resolve(address, port, family_of(task.settings.family, bind))?;
    control.check_peer(remote.ip())?;
    let (mut attempts, granted) = begin(kind, task, remote, bind)?;
    let timeout = Duration::from_micros(task.settings.connect_timeout_us);
    let deadline = Instant::now() + timeout;
    loop {
        for attempt in &mut attempts {
            attempt.advance(task, remote)?;
        }
        let missing = attempts.iter().filter(|attempt| !attempt.is_done()).count();
        if missing == 0 {
            return Ok((attempts.into_iter().map(|attempt| attempt.stream).collect(), granted));
        }
        if control.stopped() {
            return Err(TrialError::Stopped);
        }
        if Instant::now() >= deadline {
            let flows = task.settings.flows;
            return Err(TrialError::ConnectTimeout { missing, flows, address: remote.to_string(), timeout });
        }
        wait(&attempts);
    }
}

fn begin<K: Kind>(
    kind: &K,
    task: &Task<'_, TcpSettings>,
    remote: SocketAddr,
    bind: Option<IpAddr>,
) -> Result<(Vec<Attempt>, Granted), TrialError> {
    let mut granted = Granted::default();
    let mut attempts = Vec::new();
    for flow in 0..task.settings.flows {
        let socket = kind.socket(remote, task.role, task.settings)?;
        granted = verify_window(&socket, task.role, task.settings.window_bytes, task.settings.clip_allowed)?;
        let failed = |source| TrialError::Connect { flow, address: remote.to_string(), source };
        if let Some(local) = bind {
            let failed = |source| TrialError::Socket { what: format!("cannot send from {local}"), source };
            socket.bind(&SocketAddr::new(local, 0).into()).map_err(failed)?;
        }
        socket.set_nonblocking(true).map_err(failed)?;
        match socket.connect(&remote.into()) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => {}
            Err(error) => return Err(failed(error)),
        }
        let opening = Opening { token: task.token, flow };
        attempts.push(Attempt { stream: socket.into(), opening, state: State::Connecting });
    }
    Ok((attempts, granted))
}

fn wait(attempts: &[Attempt]) {
    let mut watched: Vec<PollFd<'_>> = attempts
        .iter()
        .filter_map(|attempt| {
            let interest = match attempt.state {
                State::Connecting => PollFlags::OUT,
                State::AwaitingAnswer { .. } => PollFlags::IN,
                State::Done => return None,
            };
            Some(PollFd::from_borrowed_fd(attempt.stream.as_fd(), interest))
        })
        .collect();
    let timeout = Timespec::try_from(STOP_CHECK).ok();
    // An interrupted or failed poll only means looking once more: the caller has its own deadline.
    let _ = poll(&mut watched, timeout.as_ref());
}

impl Attempt {
    fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    /// Goes as far as it can without waiting.
    fn advance(&mut self, task: &Task<'_, TcpSettings>, remote: SocketAddr) -> Result<(), TrialError> {
        let flow = self.opening.flow;
        let failed = |source| TrialError::Connect { flow, address: remote.to_string(), source };
        if matches!(self.state, State::Connecting) {
            if let Some(error) = SockRef::from(&self.stream).take_error().map_err(failed)? {
                return Err(failed(error));
            }
            if self.stream.peer_addr().is_err() {
                return Ok(());
            }
            // The opening is 24 bytes into an empty send buffer: it cannot block.
            self.stream.write_all(&self.opening.encode()).map_err(failed)?;
            self.state = State::AwaitingAnswer { bytes: [0; ANSWER_BYTES], filled: 0 };
        }
        let State::AwaitingAnswer { bytes, filled } = &mut self.state else {
            return Ok(());
        };
        let refused = |reason: String| TrialError::Handshake { flow, address: remote.to_string(), reason };
        match self.stream.read(&mut bytes[*filled..]) {
            Ok(0) => return Err(refused("the other end closed the connection during the handshake".into())),
            Ok(count) => *filled += count,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(refused(error.to_string())),
        }
        if *filled == ANSWER_BYTES {
            self.opening.check_answer(task.answer, bytes).map_err(|error| refused(error.to_string()))?;
            self.state = State::Done;
        }
        Ok(())
    }
}
