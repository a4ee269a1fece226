//! What differs between kinds of byte streams.

use std::{
    net::{SocketAddr, TcpStream},
    thread::Scope,
    time::Duration,
};

use socket2::{Domain, Socket};
use wire::{Encryption, FlowReport, Role, TcpSettings};

use super::{
    encryption::Session,
    flow::{TcpFlow, TcpFlows},
    payload_buffers::{Buffers, Carriers},
    sampler::Sampler,
    sink,
    socket::{self, TCP, Transport},
    source,
};
use crate::{Control, Task, TrialError, coordinator::Sampling, samples::Delivery};

/// What the flows of one end do.
pub trait Work {
    /// Has TLS protect all flows, one session each. What flows do that take no encryption needs nothing.
    fn protect(&mut self, _: Vec<Session>) {}

    /// Starts the threads of all flows.
    ///
    /// # Errors
    /// There are no more threads, or not so many buffers.
    fn spawn_all<'scope>(
        &'scope mut self,
        scope: &'scope Scope<'scope, '_>,
        flows: &'scope TcpFlows,
        settings: &'scope TcpSettings,
    ) -> Result<(), TrialError>;
}

/// A kind of byte streams.
pub trait Kind {
    /// Who samples them.
    type Sampler: Sampling<Connection = TcpStream>;
    /// What they are for.
    type Work: Work;
    /// What carries them.
    const TRANSPORT: Transport;
    /// The listening socket stays for as long as the trial lasts.
    const LISTENS_ON: bool;

    /// A socket without any setting.
    ///
    /// # Errors
    /// The kernel gives none.
    fn open(&self, domain: Domain) -> Result<Socket, TrialError> {
        socket::open(domain, Self::TRANSPORT)
    }

    /// A socket with every setting that must be there before `connect` or `listen`.
    ///
    /// # Errors
    /// The kernel gives none, or refuses a setting.
    fn socket(&self, local: SocketAddr, role: Role, settings: &TcpSettings) -> Result<Socket, TrialError> {
        let socket = self.open(Domain::for_address(local))?;
        socket::set(&socket, local, role, settings)?;
        Ok(socket)
    }

    /// Waits until connected streams are what the trial needs.
    ///
    /// # Errors
    /// They do not become so, or the trial is stopped.
    fn wait_until_ready(&self, streams: &[TcpStream], control: &Control) -> Result<(), TrialError>;

    /// What the flows will do, got ready before any of them stands.
    ///
    /// # Errors
    /// It cannot be got ready on this host.
    fn work(&self, task: &Task<'_, TcpSettings>) -> Result<Self::Work, TrialError>;

    /// How a source knows that the first bytes of a flow were read at the sink.
    fn sink_has_received(&self, settings: &TcpSettings) -> fn(&TcpFlow) -> bool {
        match settings.encryption {
            Encryption::None => source::sink_has_received,
            Encryption::Tls => source::sink_has_spoken,
        }
    }

    /// How long each flow lasts at least at a sink, from when all of them run.
    fn least_duration(&self, settings: &TcpSettings) -> Duration {
        Duration::from_micros(settings.until.map_or(settings.duration_us, |until| until.at_least_us))
    }

    /// A sampler for these flows.
    fn sampler(&self, role: Role, flows: &[TcpFlow], settings: &TcpSettings) -> Self::Sampler;

    /// Hands all tables over; what became of the flows, and what keeps the trial from being whole although all ended well.
    ///
    /// # Errors
    /// Samples cannot be read back.
    fn deliver(
        sampler: Self::Sampler,
        flows: TcpFlows,
        tables: &mut Delivery<'_>,
    ) -> Result<(Vec<FlowReport>, Option<TrialError>), TrialError>;
}

impl Work for Buffers {
    fn protect(&mut self, sessions: Vec<Session>) {
        self.seal(sessions);
    }

    fn spawn_all<'scope>(
        &'scope mut self,
        scope: &'scope Scope<'scope, '_>,
        flows: &'scope TcpFlows,
        settings: &'scope TcpSettings,
    ) -> Result<(), TrialError> {
        self.spawn_with(scope, flows, settings, Carriers { send: source::send, receive: sink::receive })
    }
}

/// Plain TCP.
pub struct Tcp;

impl Kind for Tcp {
    type Sampler = Sampler;
    type Work = Buffers;
    const TRANSPORT: Transport = TCP;
    const LISTENS_ON: bool = false;

    fn wait_until_ready(&self, _: &[TcpStream], _: &Control) -> Result<(), TrialError> {
        Ok(())
    }

    fn work(&self, task: &Task<'_, TcpSettings>) -> Result<Buffers, TrialError> {
        Buffers::new(task)
    }

    fn sampler(&self, role: Role, flows: &[TcpFlow], settings: &TcpSettings) -> Sampler {
        let sampler = Sampler::new(role, flows);
        if role == Role::Source && settings.until.is_some() { sampler.remembering() } else { sampler }
    }

    fn deliver(
        sampler: Sampler,
        flows: TcpFlows,
        tables: &mut Delivery<'_>,
    ) -> Result<(Vec<FlowReport>, Option<TrialError>), TrialError> {
        Ok((sampler.deliver(flows, tables)?, None))
    }
}
