//! What a client requests of its streams, set on their sockets.

use std::{io, net::TcpStream};

use iperf3::{ErrorCode, Params};
use socket2::{Domain, Protocol, SockRef, Type};

use crate::{
    defaults::{LIMITED_WINDOW, LIMITED_WINDOW_BYTES_MIN},
    failure::Failure,
    stream::Socket,
};

/// iperf3's numbers for what cannot be set on a stream.
const NO_DELAY: ErrorCode = ErrorCode(122);
const TYPE_OF_SERVICE: ErrorCode = ErrorCode(125);
const BUFFER: ErrorCode = ErrorCode(124);
const BUFFER_IS_OTHER: ErrorCode = ErrorCode(141);
const PACING: ErrorCode = ErrorCode(140);

/// Refuses a congestion control that is not to be had, before anybody opens a stream.
///
/// # Errors
/// [`Failure::Refused`] with the kernel's reason.
pub fn check_congestion(params: &Params) -> Result<(), Failure> {
    let Some(name) = params.congestion.as_deref().filter(|_| params.tcp) else { return Ok(()) };
    let trial = || {
        let socket = socket2::Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_tcp_congestion(name.as_bytes())
    };
    trial().map_err(|error| Failure::refused(ErrorCode::CONGESTION, &error))
}

/// How much each of a test's sockets may hold of what the client sends, where its rate is limited: what is read no faster
/// than the limit must not come any faster either.
pub fn limited_window(rate_max_bps: Option<u64>, streams: usize) -> Option<usize> {
    let bytes = u128::from(rate_max_bps? / 8) * LIMITED_WINDOW.as_millis() / 1000;
    let each = usize::try_from(bytes).unwrap_or(usize::MAX) / streams.max(1);
    Some(each.max(LIMITED_WINDOW_BYTES_MIN))
}

/// A connection that has what its client requested.
///
/// # Errors
/// [`Failure::Refused`] if something cannot be set.
pub fn configured(stream: TcpStream, params: &Params, window_max: Option<usize>) -> Result<Socket, Failure> {
    let refuse = |code: ErrorCode| move |error: io::Error| Failure::refused(code, &error);
    stream.set_nonblocking(false).map_err(refuse(ErrorCode::STREAM))?;
    if params.nodelay {
        stream.set_nodelay(true).map_err(refuse(NO_DELAY))?;
    }
    if let Some(congestion) = &params.congestion {
        SockRef::from(&stream).set_tcp_congestion(congestion.as_bytes()).map_err(refuse(ErrorCode::CONGESTION))?;
    }
    let ipv6 = stream.peer_addr().is_ok_and(|peer| peer.ip().to_canonical().is_ipv6());
    set_common(&SockRef::from(&stream), params, ipv6)?;
    let requested = params.window.filter(|window| *window > 0).map(|window| window as usize);
    if let Some(most) = window_max.filter(|most| requested.is_some_and(|requested| requested > *most)) {
        SockRef::from(&stream).set_recv_buffer_size(most).map_err(refuse(BUFFER))?;
    }
    Ok(Socket::Tcp(stream))
}

/// What streams of bytes and of datagrams have in common. The segment size needs nothing here: the client's own, which it
/// announced when it connected, bounds both directions.
///
/// # Errors
/// [`Failure::Refused`] if something cannot be set.
pub fn set_common(socket: &SockRef<'_>, params: &Params, ipv6: bool) -> Result<(), Failure> {
    let refuse = |code: ErrorCode| move |error: io::Error| Failure::refused(code, &error);
    if let Some(window) = params.window.filter(|window| *window > 0) {
        let window = window as usize;
        socket.set_send_buffer_size(window).map_err(refuse(BUFFER))?;
        socket.set_recv_buffer_size(window).map_err(refuse(BUFFER))?;
        let granted = socket.send_buffer_size().and_then(|send| Ok(send.min(socket.recv_buffer_size()?)));
        if granted.map_err(refuse(BUFFER))? < window {
            return Err(Failure::Refused(BUFFER_IS_OTHER, 0));
        }
    }
    if let Some(tos) = params.tos {
        let set = if ipv6 { socket.set_tclass_v6(tos) } else { socket.set_tos_v4(tos) };
        set.map_err(refuse(TYPE_OF_SERVICE))?;
    }
    if let Some(rate_bps) = params.fqrate.filter(|rate| *rate > 0) {
        sys::set_max_pacing_rate(&**socket, rate_bps / 8).map_err(refuse(PACING))?;
    }
    Ok(())
}
