//! What differs between kinds of byte streams.

use std::net::{SocketAddr, TcpStream};

use socket2::{Domain, Socket};
use wire::{FlowReport, Role, TcpSettings};

use super::{
    flow::{TcpFlow, TcpFlows},
    sampler::Sampler,
    socket::{self, TCP, Transport},
};
use crate::{Control, TrialError, coordinator::Sampling, samples::Delivery};

/// A kind of byte streams.
pub trait Kind {
    /// Who samples them.
    type Sampler: Sampling<Connection = TcpStream>;
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

    /// A sampler for these flows.
    fn sampler(role: Role, flows: &[TcpFlow]) -> Self::Sampler;

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

/// Plain TCP.
pub struct Tcp;

impl Kind for Tcp {
    type Sampler = Sampler;
    const TRANSPORT: Transport = TCP;
    const LISTENS_ON: bool = false;

    fn wait_until_ready(&self, _: &[TcpStream], _: &Control) -> Result<(), TrialError> {
        Ok(())
    }

    fn sampler(role: Role, flows: &[TcpFlow]) -> Sampler {
        Sampler::new(role, flows)
    }

    fn deliver(
        sampler: Sampler,
        flows: TcpFlows,
        tables: &mut Delivery<'_>,
    ) -> Result<(Vec<FlowReport>, Option<TrialError>), TrialError> {
        Ok((sampler.deliver(flows, tables)?, None))
    }
}
