//! The connecting side: sends the opening of each flow until it is answered, all flows at once.

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wire::{Granted, Opening, UdpSettings};

use super::{
    established::{Established, MissingFlow},
    socket,
    stream::{Opened, Stream},
};
use crate::{
    Control, Task, TrialError,
    address::{family_of, resolve},
    defaults::{DATAGRAMS_AT_ONCE, OPENING_INTERVAL, STOP_CHECK},
};

/// A flow on its way to the other end.
struct Attempt {
    stream: Stream,
    flow: u32,
    answered: bool,
    /// Why not, as far as that is known.
    reason: Option<String>,
}

/// Opens every flow. Those that are not answered in time are missing; it fails if none is answered.
pub fn connect_flows(
    task: &Task<'_, UdpSettings>,
    address: &str,
    port: u16,
    bind: Option<IpAddr>,
    control: &Control,
) -> Result<Established, TrialError> {
    let settings = task.settings;
    let remote = resolve(address, port, family_of(settings.family, bind))?;
    control.check_peer(remote.ip())?;
    let (mut attempts, granted) = begin(task, remote, bind)?;
    let timeout = Duration::from_micros(settings.connect_timeout_us);
    let deadline = Instant::now() + timeout;
    let mut send_at = Instant::now();
    while attempts.iter().any(|attempt| !attempt.answered) && Instant::now() < deadline {
        if control.stopped() {
            return Err(TrialError::Stopped);
        }
        if Instant::now() >= send_at {
            attempts.iter_mut().filter(|attempt| !attempt.answered).for_each(|attempt| attempt.send_opening(task));
            send_at = Instant::now() + OPENING_INTERVAL;
        }
        wait(&attempts, send_at.saturating_duration_since(Instant::now()));
        attempts.iter_mut().filter(|attempt| !attempt.answered).for_each(Attempt::listen);
    }
    let (flows, missing): (Vec<_>, Vec<_>) = attempts.into_iter().partition(|attempt| attempt.answered);
    if flows.is_empty() {
        let reason = missing.into_iter().find_map(|attempt| attempt.reason);
        let address = reason.map_or_else(|| remote.to_string(), |reason| format!("{remote} ({reason})"));
        return Err(TrialError::ConnectTimeout {
            missing: settings.flows as usize,
            flows: settings.flows,
            address,
            timeout,
        });
    }
    let missing = missing.into_iter().map(|attempt| attempt.missing_flow(remote, timeout)).collect();
    let flows = flows.into_iter().map(|attempt| (attempt.flow, attempt.stream)).collect();
    Ok(Established { flows, missing, granted, rejected: wire::RejectedConnections::default() })
}

fn begin(
    task: &Task<'_, UdpSettings>,
    remote: SocketAddr,
    bind: Option<IpAddr>,
) -> Result<(Vec<Attempt>, Granted), TrialError> {
    let opened = Opened { token: task.token, answer: task.answer, listening: false };
    let mut granted = Granted::default();
    let mut attempts = Vec::new();
    for flow in 0..task.settings.flows {
        let failed = |source| TrialError::Connect { flow, address: remote.to_string(), source };
        let (socket, of_this) = socket::make(remote, task)?;
        granted = of_this;
        if let Some(local) = bind {
            let failed = |source| TrialError::Socket { what: format!("cannot send from {local}"), source };
            socket.bind(&SocketAddr::new(local, 0).into()).map_err(failed)?;
        }
        socket.connect(&remote.into()).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let stream = Stream::new(UdpSocket::from(socket), flow, opened);
        attempts.push(Attempt { stream, flow, answered: false, reason: None });
    }
    Ok((attempts, granted))
}

fn wait(attempts: &[Attempt], longest: Duration) {
    let missing = attempts.iter().filter(|attempt| !attempt.answered);
    let mut watched: Vec<PollFd<'_>> =
        missing.map(|attempt| PollFd::from_borrowed_fd(attempt.stream.socket.as_fd(), PollFlags::IN)).collect();
    let timeout = Timespec::try_from(longest.min(STOP_CHECK)).ok();
    // An interrupted or failed poll only means looking once more: the caller has its own deadline.
    let _ = poll(&mut watched, timeout.as_ref());
}

impl Attempt {
    fn send_opening(&mut self, task: &Task<'_, UdpSettings>) {
        let opening = Opening { token: task.token, flow: self.flow };
        if let Err(error) = self.stream.socket.send(&opening.encode()) {
            self.reason = Some(error.to_string());
        }
    }

    /// Reads what was received. A datagram that is not the answer may be somebody else's: the wait goes on.
    fn listen(&mut self) {
        let mut bytes = [0; 64];
        for _ in 0..DATAGRAMS_AT_ONCE {
            match self.stream.socket.recv(&mut bytes) {
                Ok(length) if self.stream.is_answer(&bytes[..length]) => {
                    self.answered = true;
                    return;
                }
                Ok(_) => self.reason = Some("what answered is not the engine of this trial".into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // A port where nobody listens yet: the opening is sent again.
                Err(error) => {
                    self.reason = Some(error.to_string());
                    return;
                }
            }
        }
    }

    fn missing_flow(self, remote: SocketAddr, timeout: Duration) -> MissingFlow {
        let why = self.reason.as_deref().unwrap_or("is a firewall in the way?");
        let reason = format!("{remote} did not answer within {} s: {why}", timeout.as_secs_f64());
        MissingFlow { flow: self.flow, reason, heard: self.reason }
    }
}
