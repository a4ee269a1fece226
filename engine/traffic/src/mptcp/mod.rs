//! One end of a trial of Multipath TCP (RFC 8684): byte streams like TCP's, of which each consists of several subflows.
//!
//! The connecting end makes the subflows, one for each further path that its request names, and the trial begins when all
//! of them stand. What falls back to TCP is no result.

mod path_manager;
mod sampler;
mod setting;
mod subflow_row;

use std::{
    net::{IpAddr, SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use socket2::{Domain, Protocol, Socket};
use sys::{MptcpInfo, mptcp_info};
use wire::{AddressPair, Encryption, FlowReport, Mode, MptcpSettings, RendezvousRole, Role, TcpSettings};

pub use self::subflow_row::SubflowRow;
use self::{path_manager::OwnSubflows, sampler::Sampler};
use crate::{
    Control, Outbox, Task, TrialError,
    defaults::{SUBFLOW_CHECK, SUBFLOWS_MAX},
    limits::within,
    samples::Delivery,
    tcp::{self, Kind, TcpFlow, TcpFlows, Transport, payload_buffers::Buffers},
};

const ESTABLISHED: u64 = 1;
/// Within one the other end answers the last segment of a subflow's handshake.
const REFUSAL_ROUND_TRIPS: u32 = 2;

/// The number of the local address among the connection's own, and the addresses of both ends.
type FurtherPath = (u8, IpAddr, SocketAddr);

/// Carries one end of a trial out, from the sockets to the report.
pub fn carry_out(task: &Task<'_, MptcpSettings>, control: &Control, outbox: &dyn Outbox) -> Result<(), TrialError> {
    let settings = &task.settings.tcp;
    check(settings)?;
    within("subflows", task.settings.subflows.unwrap_or(1).into(), 1, SUBFLOWS_MAX.into())?;
    let kind = Mptcp { settings, asked: task.settings.subflows, further: further(task.rendezvous) };
    let task = Task {
        trial: task.trial,
        role: task.role,
        token: task.token,
        answer: task.answer,
        rendezvous: task.rendezvous,
        settings,
    };
    tcp::carry_out_as(&kind, &task, control, outbox)
}

fn check(settings: &TcpSettings) -> Result<(), TrialError> {
    let refused = [
        ("mss_bytes", settings.mss_bytes.is_some()),
        ("pacing_rate_bps", settings.pacing_rate_bps.is_some()),
        ("a mode other than copy", settings.mode != Mode::Copy),
        ("encryption", settings.encryption != Encryption::None),
        ("until", settings.until.is_some()),
    ];
    match refused.iter().find(|(_, asked)| *asked) {
        Some((what, _)) => {
            Err(TrialError::Settings(format!("found {what}, expected none: there is no such setting for MPTCP")))
        }
        None => Ok(()),
    }
}

fn further(rendezvous: &RendezvousRole) -> Option<&[AddressPair]> {
    match rendezvous {
        RendezvousRole::Connect { further, .. } => Some(further),
        RendezvousRole::Listen { .. } => None,
    }
}

/// Multipath TCP.
struct Mptcp<'a> {
    settings: &'a TcpSettings,
    /// How many subflows each connection is to have.
    asked: Option<u32>,
    /// Paths beside the first one, of the end that connects; the other end takes what comes.
    further: Option<&'a [AddressPair]>,
}

impl Kind for Mptcp<'_> {
    type Sampler = Sampler;
    type Work = Buffers;
    const TRANSPORT: Transport = Transport {
        protocol: Protocol::MPTCP,
        refused: "cannot make an MPTCP socket; is net.mptcp.enabled 1 on this host?",
        single: false,
    };
    /// Subflows join by path of the socket that listens.
    const LISTENS_ON: bool = true;

    fn open(&self, domain: Domain) -> Result<Socket, TrialError> {
        let timeout = Duration::from_micros(self.settings.connect_timeout_us);
        let _own = self.makes_subflows(domain == Domain::IPV4).then(|| OwnSubflows::begin(timeout)).transpose()?;
        tcp::open(domain, Self::TRANSPORT)
    }

    fn wait_until_ready(&self, streams: &[TcpStream], control: &Control) -> Result<(), TrialError> {
        let mut wanted = None;
        for (flow, stream) in (0..).zip(streams) {
            let info = info_of(flow, stream)?;
            if let Some(paths) = self.paths(flow, stream)? {
                wanted = Some(paths.len() + 1);
                for (number, local, remote) in paths {
                    path_manager::make_subflow(info.token, number, local, remote)
                        .map_err(|source| TrialError::Subflow { flow, local, remote, source })?;
                }
            }
        }
        wanted.map_or(Ok(()), |wanted| self.wait_for_subflows(wanted, streams, control))
    }

    fn work(&self, task: &Task<'_, TcpSettings>) -> Result<Buffers, TrialError> {
        Buffers::new(task)
    }

    fn sampler(&self, role: Role, flows: &[TcpFlow], _: &TcpSettings) -> Sampler {
        Sampler::new(role, flows)
    }

    fn deliver(
        sampler: Sampler,
        flows: TcpFlows,
        tables: &mut Delivery<'_>,
    ) -> Result<(Vec<FlowReport>, Option<TrialError>), TrialError> {
        sampler.deliver(flows, tables)
    }
}

impl Mptcp<'_> {
    /// This end makes the subflows of a connection of this IP version; else the path managers of both hosts do.
    fn makes_subflows(&self, is_ipv4: bool) -> bool {
        self.further.is_some_and(|further| self.asked.is_some() || further.iter().any(|path| path_is(path, is_ipv4)))
    }

    /// A connection's further paths; None where this end makes no subflows.
    fn paths(&self, flow: u32, stream: &TcpStream) -> Result<Option<Vec<FurtherPath>>, TrialError> {
        let ends = stream.local_addr().and_then(|local| Ok((local, stream.peer_addr()?)));
        let (own, peer) = ends.map_err(|source| lost(flow, source))?;
        let (own, port) = (own.ip().to_canonical(), peer.port());
        let peer = peer.ip().to_canonical();
        if !self.makes_subflows(peer.is_ipv4()) {
            return Ok(None);
        }
        let mut usable: Vec<(IpAddr, SocketAddr)> = (self.further.unwrap_or_default().iter())
            .filter(|path| path_is(path, peer.is_ipv4()))
            .map(|path| (path.local.unwrap_or(own), SocketAddr::new(path.remote.unwrap_or(peer), port)))
            .collect();
        let wanted = self.asked.map_or(usable.len(), |asked| asked as usize - 1);
        if wanted > usable.len() {
            let (subflows, paths) = (wanted + 1, usable.len() + 1);
            let text =
                format!("found {paths} paths of the connection's IP version, expected {subflows} for so many subflows");
            return Err(TrialError::Settings(text));
        }
        usable.truncate(wanted);
        // The kernel has one number for each local address; 0 is the connection's own.
        let mut known = vec![own];
        let numbered = usable.into_iter().map(|(local, remote)| {
            let number = known.iter().position(|address| *address == local).unwrap_or_else(|| {
                known.push(local);
                known.len() - 1
            });
            (u8::try_from(number).unwrap_or(u8::MAX), local, remote)
        });
        Ok(Some(numbered.collect()))
    }

    /// Waits until all subflows stand, and stay: the other end may refuse one that this end takes to be established.
    fn wait_for_subflows(&self, wanted: usize, streams: &[TcpStream], control: &Control) -> Result<(), TrialError> {
        let timeout = Duration::from_micros(self.settings.connect_timeout_us);
        let deadline = Instant::now() + timeout;
        let mut stand_since = None;
        loop {
            let mut other = None;
            let mut slowest = Duration::ZERO;
            for (flow, stream) in (0..).zip(streams) {
                let round_trips = round_trips(&info_of(flow, stream)?);
                slowest = slowest.max(round_trips.iter().copied().max().unwrap_or_default());
                if round_trips.len() != wanted {
                    other = other.or(Some((flow, round_trips.len())));
                }
            }
            let now = Instant::now();
            match other {
                None => {
                    let stood = now.duration_since(*stand_since.get_or_insert(now));
                    if stood >= slowest * REFUSAL_ROUND_TRIPS + SUBFLOW_CHECK {
                        return Ok(());
                    }
                }
                Some((flow, found)) if now >= deadline => {
                    return Err(TrialError::Subflows { flow, found, wanted, timeout });
                }
                Some(_) => stand_since = None,
            }
            if control.stopped() {
                return Err(TrialError::Stopped);
            }
            thread::sleep(SUBFLOW_CHECK);
        }
    }
}

/// The addresses that a path names are of this IP version.
fn path_is(path: &AddressPair, is_ipv4: bool) -> bool {
    [path.local, path.remote].iter().flatten().all(|address| address.is_ipv4() == is_ipv4)
}

/// Of each subflow that is established.
fn round_trips(info: &MptcpInfo) -> Vec<Duration> {
    let established = info.subflows.iter().filter(|one| one.tcp_info.get("state") == Some(ESTABLISHED));
    established.map(|one| Duration::from_micros(one.tcp_info.get("rtt_us").unwrap_or(0))).collect()
}

fn info_of(flow: u32, stream: &TcpStream) -> Result<MptcpInfo, TrialError> {
    match mptcp_info(stream).map_err(|source| lost(flow, source))? {
        Some(info) if !info.fell_back => Ok(info),
        _ => Err(TrialError::FellBack { flow }),
    }
}

fn lost(flow: u32, source: std::io::Error) -> TrialError {
    TrialError::Socket { what: format!("the kernel does not tell of the subflows of flow {flow}"), source }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

    use super::*;
    use crate::file;

    /// A connection over the loopback of an IP version, as the end that connects has it.
    fn connected(loopback: IpAddr) -> (TcpListener, TcpStream) {
        let listener = TcpListener::bind((loopback, 0)).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (listener, stream)
    }

    #[test]
    fn only_further_addresses_of_the_connections_version_make_subflows() {
        let settings = file::tests::settings().tcp;
        let over_ipv4 = [AddressPair { local: Some(Ipv4Addr::new(127, 0, 0, 2).into()), remote: None }];
        let kind = Mptcp { settings: &settings, asked: None, further: Some(&over_ipv4) };
        let (_listener, stream) = connected(Ipv4Addr::LOCALHOST.into());
        assert_eq!(kind.paths(0, &stream).unwrap().unwrap().len(), 1);
        let (_listener, stream) = connected(Ipv6Addr::LOCALHOST.into());
        assert_eq!(kind.paths(0, &stream).unwrap(), None, "the path managers of both hosts decide");
        assert!(!kind.makes_subflows(false) && kind.makes_subflows(true));
        let asked = Mptcp { asked: Some(2), ..kind };
        assert!(matches!(asked.paths(0, &stream), Err(TrialError::Settings(_))));
    }
}
