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

use super::asker::{Asker, Heard};
use crate::{Task, address::set_dscp, rendezvous::Rendezvous};

/// Asks with connections, which stand once the sink's kernel has answered.
pub struct ConnectAsker<'a> {
    settings: &'a RttSettings,
    local: io::Result<SocketAddr>,
    peer: SocketAddr,
    /// For the next question: making it must not count as time of connecting.
    spare: Option<Socket>,
    open: VecDeque<(u64, Socket)>,
}

impl<'a> ConnectAsker<'a> {
    /// To the port of the rendezvous.
    pub fn new(task: &'a Task<'_, RttSettings>, rendezvous: &Rendezvous) -> Self {
        let (local, open) = (rendezvous.socket.local_addr(), VecDeque::new());
        let mut asker = Self { settings: task.settings, local, peer: rendezvous.peer, spare: None, open };
        asker.spare = asker.socket().ok();
        asker
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

impl Asker for ConnectAsker<'_> {
    fn ask(&mut self, sequence: u64, _: u32) -> io::Result<()> {
        let socket = self.spare.take().map_or_else(|| self.socket(), Ok)?;
        match socket.connect(&self.peer.into()) {
            Err(error) if error.raw_os_error() != Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => Err(error),
            _ => {
                self.open.push_back((sequence, socket));
                Ok(())
            }
        }
    }

    fn hear(&mut self, first_open: u64, heard: &mut dyn FnMut(Heard)) {
        self.open.retain(|(sequence, socket)| {
            let refused = !matches!(socket.take_error(), Ok(None));
            if *sequence < first_open || refused {
                return false;
            }
            let stands = socket.peer_addr().is_ok();
            if stands {
                let seen = Instant::now();
                heard(Heard { sequence: *sequence, arrived: seen, seen });
            }
            !stands
        });
        self.spare = self.spare.take().or_else(|| self.socket().ok());
    }

    fn watch<'a>(&'a self, watched: &mut Vec<PollFd<'a>>) {
        watched.extend(self.open.iter().map(|(_, socket)| PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::OUT)));
    }
}
