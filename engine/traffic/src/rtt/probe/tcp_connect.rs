use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    os::fd::AsFd,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags};
use socket2::{Domain, Protocol, Socket, Type};
use wire::RttSettings;

use super::prober::{Prober, Response};
use crate::{Task, address::set_dscp, rendezvous::Rendezvous};

/// Probes with connections, which are established once the sink's kernel has answered.
pub struct ConnectProber<'a> {
    settings: &'a RttSettings,
    local: io::Result<SocketAddr>,
    peer: SocketAddr,
    /// For the next probe: making it must not count as time of connecting.
    spare: Option<Socket>,
    open: VecDeque<(u64, Socket)>,
}

impl<'a> ConnectProber<'a> {
    /// To the port of the rendezvous.
    pub fn new(task: &'a Task<'_, RttSettings>, rendezvous: &Rendezvous) -> Self {
        let (local, open) = (rendezvous.socket.local_addr(), VecDeque::new());
        let mut prober = Self { settings: task.settings, local, peer: rendezvous.peer, spare: None, open };
        prober.spare = prober.socket().ok();
        prober
    }

    fn socket(&self) -> io::Result<Socket> {
        let socket = Socket::new(Domain::for_address(self.peer), Type::STREAM, Some(Protocol::TCP))?;
        if let Ok(mut local) = self.local.as_ref().copied() {
            local.set_port(0);
            socket.bind(&local.into())?;
        }
        // Closed with a reset: otherwise each connection would keep its port for a minute.
        socket.set_linger(Some(Duration::ZERO))?;
        socket.set_nonblocking(true)?;
        if let Some(dscp) = self.settings.dscp {
            set_dscp(&socket, self.peer, self.settings.family, dscp).map_err(io::Error::other)?;
        }
        Ok(socket)
    }
}

impl Prober for ConnectProber<'_> {
    fn send(&mut self, sequence: u64, _: u32) -> io::Result<()> {
        let socket = self.spare.take().map_or_else(|| self.socket(), Ok)?;
        match socket.connect(&self.peer.into()) {
            Err(error) if error.raw_os_error() != Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => Err(error),
            _ => {
                self.open.push_back((sequence, socket));
                Ok(())
            }
        }
    }

    fn receive(&mut self, first_outstanding: u64, received: &mut dyn FnMut(Response)) {
        self.open.retain(|(sequence, socket)| {
            let refused = !matches!(socket.take_error(), Ok(None));
            if *sequence < first_outstanding || refused {
                return false;
            }
            let established = socket.peer_addr().is_ok();
            if established {
                let seen = Instant::now();
                received(Response { sequence: *sequence, arrived: seen, seen });
            }
            !established
        });
        self.spare = self.spare.take().or_else(|| self.socket().ok());
    }

    fn watch<'a>(&'a self, watched: &mut Vec<PollFd<'a>>) {
        watched.extend(self.open.iter().map(|(_, socket)| PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::OUT)));
    }
}
