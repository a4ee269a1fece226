//! The listening side: takes the trial's flows, closes and counts everybody else.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::Socket;
use wire::{Granted, OPENING_BYTES, Opening, PortRange, RejectedConnections, TcpSettings};

use super::kind::Kind;
use crate::{
    Control, Task, TrialError,
    address::{local_address, on_free_port},
    defaults::{HANDSHAKE_TIMEOUT, PENDING_HANDSHAKES, SPARE_BACKLOG, STOP_CHECK},
    granted_window::verify_window,
};

/// A socket that listens for one trial's flows.
pub struct Listener {
    socket: Socket,
    /// The port it listens on.
    pub port: u16,
    /// What the kernel granted.
    pub granted: Granted,
}

/// A connection whose opening has not come completely.
struct Pending {
    stream: TcpStream,
    bytes: [u8; OPENING_BYTES],
    filled: usize,
    deadline: Instant,
}

enum Verdict {
    Wait,
    Flow(u32),
    Rejected(fn(&mut RejectedConnections) -> &mut u32),
}

/// Binds and listens, with the window set and verified before any connection can come.
pub fn listen<K: Kind>(
    kind: &K,
    task: &Task<'_, TcpSettings>,
    bind: Option<IpAddr>,
    ports: Option<PortRange>,
) -> Result<Listener, TrialError> {
    on_free_port(local_address(bind, task.settings.family)?, ports, |local| listen_on(kind, task, local))
}

/// How many connections the kernel is asked to have room for.
pub fn backlog(settings: &TcpSettings) -> u32 {
    settings.flows + SPARE_BACKLOG
}

fn listen_on<K: Kind>(kind: &K, task: &Task<'_, TcpSettings>, local: SocketAddr) -> Result<Listener, TrialError> {
    let settings = task.settings;
    let socket = kind.socket(local, task.role, settings)?;
    let granted = verify_window(&socket, task.role, settings.window_bytes, settings.clip_allowed)?;
    let backlog = i32::try_from(backlog(settings)).unwrap_or(i32::MAX);
    let begin = || {
        if local.is_ipv6() {
            socket.set_only_v6(settings.family == Some(6))?;
        }
        socket.set_reuse_address(true)?;
        socket.bind(&local.into())?;
        socket.listen(backlog)?;
        socket.set_nonblocking(true)?;
        socket.local_addr()
    };
    let bound = begin().map_err(|source| TrialError::Socket { what: format!("cannot listen on {local}"), source })?;
    let port = bound.as_socket().map_or(0, |address| address.port());
    Ok(Listener { socket, port, granted })
}

/// Whether the next connection may still be taken although this one could not.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted)
}

impl Listener {
    /// Takes connections until every flow of the trial is there, in the order of their index.
    pub fn accept_flows(
        &self,
        task: &Task<'_, TcpSettings>,
        control: &Control,
    ) -> Result<(Vec<TcpStream>, RejectedConnections), TrialError> {
        let timeout = Duration::from_micros(task.settings.connect_timeout_us);
        let deadline = Instant::now() + timeout;
        let mut flows: Vec<Option<TcpStream>> = (0..task.settings.flows).map(|_| None).collect();
        let mut pending: Vec<Pending> = Vec::new();
        let mut rejected = RejectedConnections::default();
        loop {
            let missing = flows.iter().filter(|flow| flow.is_none()).count();
            if missing == 0 {
                rejected.unfinished += u32::try_from(pending.len()).unwrap_or(u32::MAX);
                return Ok((flows.into_iter().flatten().collect(), rejected));
            }
            if control.stopped() {
                return Err(TrialError::Stopped);
            }
            if Instant::now() >= deadline {
                return Err(TrialError::AcceptTimeout {
                    missing,
                    flows: task.settings.flows,
                    port: self.port,
                    timeout,
                });
            }
            self.wait(&pending);
            self.take_connections(&mut pending, missing + PENDING_HANDSHAKES, &mut rejected)?;
            settle(&mut pending, task, &mut flows, &mut rejected, control)?;
        }
    }

    fn wait(&self, pending: &[Pending]) {
        let mut watched = vec![PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN)];
        watched.extend(pending.iter().map(|one| PollFd::from_borrowed_fd(one.stream.as_fd(), PollFlags::IN)));
        let timeout = Timespec::try_from(STOP_CHECK).ok();
        // An interrupted or failed poll only means looking once more: the loop has its own deadline.
        let _ = poll(&mut watched, timeout.as_ref());
    }

    /// Takes what waits, at most `room` connections, so that a flood cannot keep the caller from its deadline.
    fn take_connections(
        &self,
        pending: &mut Vec<Pending>,
        room: usize,
        rejected: &mut RejectedConnections,
    ) -> Result<(), TrialError> {
        for _ in 0..room {
            let socket = match self.socket.accept() {
                Ok((socket, _)) => socket,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if is_passing(&error) => continue,
                Err(source) => {
                    return Err(TrialError::Socket { what: "cannot accept a connection".into(), source });
                }
            };
            if socket.set_nonblocking(true).is_err() {
                continue;
            }
            if pending.len() >= room {
                pending.remove(0);
                rejected.crowded_out += 1;
            }
            let deadline = Instant::now() + HANDSHAKE_TIMEOUT;
            pending.push(Pending { stream: socket.into(), bytes: [0; OPENING_BYTES], filled: 0, deadline });
        }
        Ok(())
    }
}

fn settle(
    pending: &mut Vec<Pending>,
    task: &Task<'_, TcpSettings>,
    flows: &mut [Option<TcpStream>],
    rejected: &mut RejectedConnections,
    control: &Control,
) -> Result<(), TrialError> {
    let now = Instant::now();
    let mut index = 0;
    while index < pending.len() {
        let verdict = pending[index].read_on(task, flows, now);
        match verdict {
            Verdict::Wait => index += 1,
            Verdict::Flow(flow) => {
                let mut stream = pending.remove(index).stream;
                let Ok(peer) = stream.peer_addr() else {
                    rejected.unfinished += 1;
                    continue;
                };
                // Whoever has the token is of this trial: from where it must not be, the trial ends.
                control.check_peer(peer.ip())?;
                let opening = Opening { token: task.token, flow };
                // The answer is 20 bytes into an empty send buffer: it cannot block.
                if stream.write_all(&opening.answer(task.answer)).is_ok() {
                    flows[flow as usize] = Some(stream);
                } else {
                    rejected.unfinished += 1;
                }
            }
            Verdict::Rejected(counter) => {
                pending.remove(index);
                *counter(rejected) += 1;
            }
        }
    }
    Ok(())
}

impl Pending {
    fn read_on(&mut self, task: &Task<'_, TcpSettings>, flows: &[Option<TcpStream>], now: Instant) -> Verdict {
        match self.stream.read(&mut self.bytes[self.filled..]) {
            Ok(0) => return Verdict::Rejected(|rejected| &mut rejected.unfinished),
            Ok(count) => self.filled += count,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => return Verdict::Rejected(|rejected| &mut rejected.unfinished),
        }
        if self.filled < OPENING_BYTES {
            if now >= self.deadline {
                return Verdict::Rejected(|rejected| &mut rejected.unfinished);
            }
            return Verdict::Wait;
        }
        match Opening::decode(&self.bytes) {
            Err(_) => Verdict::Rejected(|rejected| &mut rejected.not_an_engine),
            Ok(opening) if opening.token != task.token => Verdict::Rejected(|rejected| &mut rejected.wrong_token),
            Ok(Opening { flow, .. }) => match flows.get(flow as usize) {
                Some(None) => Verdict::Flow(flow),
                _ => Verdict::Rejected(|rejected| &mut rejected.wrong_flow),
            },
        }
    }
}
