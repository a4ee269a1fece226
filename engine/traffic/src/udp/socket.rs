//! Makes a flow's socket with the trial's settings, and reads back what the kernel made of them.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
};

use rustix::net::SendFlags;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use sys::Ancillary;
use wire::{DatagramKind, Granted, Role, UdpSettings};

use super::{outgoing, stream::Stream};
use crate::{
    Task, TrialError,
    address::set_dscp,
    defaults::{DATAGRAM_WINDOW_BYTES, STOP_CHECK, WRITE_TIMEOUT},
    granted_window::{set_window, verify_window},
};

/// Bytes of the headers below a datagram's payload.
const HEADERS_V4_BYTES: u32 = 20 + 8;
const HEADERS_V6_BYTES: u32 = 40 + 8;

/// What is remarked where the kernel was asked to hand over several datagrams at once, and does not.
pub const NO_GRO: &str = "UDP_GRO is not to be had here: datagrams are received one by one";

/// A socket with every setting that must be there before any datagram comes, and what the kernel granted.
pub fn make(local: SocketAddr, task: &Task<'_, UdpSettings>) -> Result<(Socket, Granted), TrialError> {
    let settings = task.settings;
    let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))
        .map_err(|source| failed("cannot make a UDP socket", source))?;
    if let Some(dscp) = settings.dscp {
        set_dscp(&socket, local, settings.family, dscp)?;
    }
    let mut granted = grant_window(&socket, task)?;
    if task.role == Role::Sink {
        sys::enable_ancillary(&socket, Ancillary::Arrival, local.is_ipv6())
            .map_err(|source| failed("cannot enable receive timestamps", source))?;
        let gro = settings.gro.then(|| sys::set_udp_gro(&socket, true));
        granted.gro = Some(matches!(gro, Some(Ok(()))));
        if let Some(Err(_)) = gro {
            granted.remarks.push(NO_GRO.into());
        }
    }
    Ok((socket, granted))
}

fn grant_window(socket: &Socket, task: &Task<'_, UdpSettings>) -> Result<Granted, TrialError> {
    let settings = task.settings;
    if let Some(bytes) = settings.window_bytes {
        set_window(socket, task.role, bytes)?;
        return verify_window(socket, task.role, Some(bytes), settings.clip_allowed);
    }
    if task.role == Role::Source {
        return Ok(Granted::default());
    }
    set_window(socket, task.role, DATAGRAM_WINDOW_BYTES)?;
    let mut granted = verify_window(socket, task.role, Some(DATAGRAM_WINDOW_BYTES), true)?;
    if granted.window_clipped {
        granted.remarks.push(format!(
            "a receive buffer of {DATAGRAM_WINDOW_BYTES} B was asked for, {} B granted: a burst may overflow it; raise \
             net.core.rmem_max",
            granted.window_bytes.unwrap_or(0) / 2
        ));
    }
    // The plan asked for none: that less than wished for is granted is no fault of the trial.
    (granted.window_clipped, granted.window_raised) = (false, false);
    Ok(granted)
}

/// Settings that only matter once the flow stands: how long a thread waits at most before it looks about.
pub fn set_standing(socket: &UdpSocket) -> io::Result<()> {
    // What went wrong while it was set up does not matter any more.
    let _ = socket.take_error();
    SockRef::from(socket).set_nonblocking(false)?;
    socket.set_read_timeout(Some(STOP_CHECK))?;
    socket.set_write_timeout(Some(WRITE_TIMEOUT))
}

/// Tries out whether the kernel cuts what a source sends at once, on the flow's own path; the result is in `granted`.
pub fn try_segments(streams: &[&Stream], task: &Task<'_, UdpSettings>, granted: &mut Granted) {
    let Some(first) = streams.first().filter(|_| task.role == Role::Source) else { return };
    let tried = if task.settings.gso { segments_pass(first, task) } else { Ok(false) };
    let set =
        |stream: &&Stream| sys::set_udp_segment(&stream.socket, segment_bytes(task.settings.length_bytes)).is_ok();
    granted.gso = Some(matches!(tried, Ok(true)) && streams.iter().all(set));
    if let Err(reason) = tried {
        granted.remarks.push(format!("UDP_SEGMENT does not work here ({reason}): datagrams are sent one by one"));
    }
}

fn segments_pass(stream: &Stream, task: &Task<'_, UdpSettings>) -> Result<bool, String> {
    let socket = &stream.socket;
    let length = task.settings.length_bytes;
    segment(socket, length)?;
    let header = stream.header(DatagramKind::Trial, 0).encode();
    let mut two = vec![0; 2 * length as usize];
    for datagram in two.chunks_exact_mut(length as usize) {
        datagram[..header.len()].copy_from_slice(&header);
    }
    let sent = rustix::net::send(socket, &two, SendFlags::empty());
    let _ = sys::set_udp_segment(socket, 0);
    sent.map(|_| true).map_err(|error| error.to_string())
}

/// Has the kernel cut what is sent at once into datagrams of a length, if those fit a packet.
///
/// # Errors
/// Why not.
pub fn segment(socket: &UdpSocket, length_bytes: u32) -> Result<(), String> {
    if outgoing::together(length_bytes as usize, true) < 2 {
        return Err(format!("no two datagrams of {length_bytes} B fit one buffer"));
    }
    let ipv6 = socket.peer_addr().is_ok_and(|peer| peer.is_ipv6());
    let headers_bytes = if ipv6 { HEADERS_V6_BYTES } else { HEADERS_V4_BYTES };
    if let Ok(mtu_bytes) = sys::path_mtu(socket, ipv6)
        && length_bytes + headers_bytes > mtu_bytes
    {
        return Err(format!("datagrams of {length_bytes} B do not fit packets of {mtu_bytes} B"));
    }
    sys::set_udp_segment(socket, segment_bytes(length_bytes)).map_err(|error| error.to_string())
}

fn segment_bytes(length_bytes: u32) -> u16 {
    u16::try_from(length_bytes).unwrap_or(u16::MAX)
}

fn failed(what: &str, source: io::Error) -> TrialError {
    TrialError::Socket { what: what.into(), source }
}
