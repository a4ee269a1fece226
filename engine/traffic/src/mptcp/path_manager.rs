//! Subflows that this process makes itself, connection by connection (`mptcp_pm` of generic netlink).
//!
//! Linux decides when a socket is made who manages its paths: the kernel, by endpoints and limits that all connections of
//! the host share, or a program. While one of ours is made, the host's setting says a program; then it is put back. So
//! nothing of the host is changed for longer than that, and no connection of others gets subflows or loses any. (One that
//! others begin or accept in these microseconds has one subflow.)

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr as UnixAddress, UnixListener},
    },
    path::Path,
    thread,
    time::{Duration, Instant},
};

use netlink_packet_core::{DecodeError, DefaultNla, Emitable, NLM_F_ACK, ParseableParametrized};
use netlink_packet_generic::{
    GenlFamily, GenlHeader, GenlMessage,
    ctrl::{GenlCtrl, GenlCtrlCmd, nlas::GenlCtrlAttrs},
};

use super::setting::{self, Changed};
use crate::{
    TrialError,
    defaults::SUBFLOW_CHECK,
    host::rtnetlink,
    netlink::{self, Protocol},
};

const SETTING: &str = "/proc/sys/net/mptcp/pm_type";
const BY_A_PROGRAM: &str = "1";
/// An abstract address is there once in each network namespace, as the setting is, and free again when its process ends.
const LOCK: &[u8] = b"flowsweep/net.mptcp.pm_type";

const FAMILY: &str = "mptcp_pm";
const VERSION: u8 = 1;
const CREATE_SUBFLOW: u8 = 10;
const NESTED: u16 = 1 << 15;
const ATTR_ADDRESS: u16 = 1 | NESTED;
const ATTR_TOKEN: u16 = 4;
const ATTR_REMOTE: u16 = 6 | NESTED;
const ADDRESS_FAMILY: u16 = 1;
const ADDRESS_ID: u16 = 2;
const ADDRESS_IPV4: u16 = 3;
const ADDRESS_IPV6: u16 = 4;
const ADDRESS_PORT: u16 = 5;
const ADDRESS_DEVICE: u16 = 7;
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;

/// While it lives, sockets that are made leave their paths to this process: for moments, no longer.
pub struct OwnSubflows {
    _changed: Changed,
    // After that: the setting is put back before another engine may change it.
    _lock: UnixListener,
}

impl OwnSubflows {
    /// Has the host leave the paths of new sockets to programs.
    ///
    /// # Errors
    /// The engine may not; or another one makes sockets for longer than `timeout`.
    pub fn begin(timeout: Duration) -> Result<Self, TrialError> {
        let refused = |source| TrialError::Socket {
            what: format!("cannot make subflows of its own: the engine needs CAP_NET_ADMIN, and {SETTING} to write to"),
            source,
        };
        let lock = lock(timeout).map_err(|source| TrialError::Socket {
            what: format!("another engine has set {SETTING} for too long"),
            source,
        })?;
        let changed = Changed::begin(Path::new(SETTING), BY_A_PROGRAM, setting::record("pm_type")).map_err(refused)?;
        Ok(Self { _changed: changed, _lock: lock })
    }
}

/// Waits until no other engine has the setting.
fn lock(timeout: Duration) -> io::Result<UnixListener> {
    let deadline = Instant::now() + timeout;
    loop {
        match UnixAddress::from_abstract_name(LOCK).and_then(|address| UnixListener::bind_addr(&address)) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < deadline => {
                thread::sleep(SUBFLOW_CHECK);
            }
            lock => return lock,
        }
    }
}

/// Adds a subflow to a connection of this host.
///
/// # Arguments
/// `token`: the connection's; `number`: of the local address within it, 0 if it is its first one.
///
/// # Errors
/// This host has no such address, or the kernel does not allow it.
pub fn make_subflow(token: u32, number: u8, local: IpAddr, remote: SocketAddr) -> io::Result<()> {
    let no_address = || io::Error::new(io::ErrorKind::AddrNotAvailable, "this host has no such address");
    let device = rtnetlink::device_of(local)?.ok_or_else(no_address)?;
    let request = CreateSubflow { token, number, local, device, remote };
    let header = GenlHeader { cmd: CREATE_SUBFLOW, version: VERSION };
    netlink::request(Protocol::Generic, GenlMessage::new(header, request, family_id()?), NLM_F_ACK)?;
    Ok(())
}

fn family_id() -> io::Result<u16> {
    let name = GenlCtrlAttrs::FamilyName(FAMILY.into());
    let request = GenlMessage::from_payload(GenlCtrl { cmd: GenlCtrlCmd::GetFamily, nlas: vec![name] });
    let answers = netlink::request(Protocol::Generic, request, 0)?;
    let id = answers.into_iter().flat_map(|answer| answer.payload.nlas).find_map(|attribute| match attribute {
        GenlCtrlAttrs::FamilyId(id) => Some(id),
        _ => None,
    });
    id.ok_or_else(|| io::Error::other(format!("the kernel knows no {FAMILY}")))
}

#[derive(Clone, Copy)]
struct CreateSubflow {
    token: u32,
    number: u8,
    local: IpAddr,
    device: u32,
    remote: SocketAddr,
}

impl CreateSubflow {
    fn attributes(&self) -> Vec<DefaultNla> {
        let mut local = address(self.local);
        local.push(DefaultNla::new(ADDRESS_ID, vec![self.number]));
        local.push(DefaultNla::new(ADDRESS_DEVICE, self.device.to_ne_bytes().into()));
        let mut remote = address(self.remote.ip());
        remote.push(DefaultNla::new(ADDRESS_PORT, self.remote.port().to_ne_bytes().into()));
        vec![
            DefaultNla::new(ATTR_TOKEN, self.token.to_ne_bytes().into()),
            DefaultNla::new(ATTR_ADDRESS, emitted(&local)),
            DefaultNla::new(ATTR_REMOTE, emitted(&remote)),
        ]
    }
}

fn address(address: IpAddr) -> Vec<DefaultNla> {
    let (family, kind, bytes) = match address {
        IpAddr::V4(address) => (AF_INET, ADDRESS_IPV4, address.octets().to_vec()),
        IpAddr::V6(address) => (AF_INET6, ADDRESS_IPV6, address.octets().to_vec()),
    };
    vec![DefaultNla::new(ADDRESS_FAMILY, family.to_ne_bytes().into()), DefaultNla::new(kind, bytes)]
}

fn emitted(attributes: &[DefaultNla]) -> Vec<u8> {
    let mut bytes = vec![0; attributes.buffer_len()];
    attributes.emit(&mut bytes);
    bytes
}

impl fmt::Debug for CreateSubflow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a subflow from {} to {}", self.local, self.remote)
    }
}

impl GenlFamily for CreateSubflow {
    fn family_name() -> &'static str {
        FAMILY
    }

    fn command(&self) -> u8 {
        CREATE_SUBFLOW
    }

    fn version(&self) -> u8 {
        VERSION
    }
}

impl Emitable for CreateSubflow {
    fn buffer_len(&self) -> usize {
        self.attributes().as_slice().buffer_len()
    }

    fn emit(&self, buffer: &mut [u8]) {
        self.attributes().as_slice().emit(buffer);
    }
}

impl ParseableParametrized<[u8], GenlHeader> for CreateSubflow {
    fn parse_with_param(_: &[u8], _: GenlHeader) -> Result<Self, DecodeError> {
        Err(DecodeError::from("the kernel answers such a request with success or an error only"))
    }
}
