//! Makes a flow's socket with the trial's settings, and reads back what the kernel made of them.

use std::{fs, io, net::SocketAddr, time::Duration};

use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};
use wire::{Role, TcpSettings};

use crate::{
    TrialError,
    address::set_dscp,
    defaults::{KEEPALIVE, WRITE_TIMEOUT},
    granted_window::set_window,
};

/// What carries a trial's byte streams.
#[derive(Clone, Copy)]
pub struct Transport {
    /// Of its sockets.
    pub protocol: Protocol,
    /// What is said where the kernel gives no such socket.
    pub refused: &'static str,
    /// Each of its sockets is one TCP connection, with one segment size, which breaks once its peer is silent for too long.
    pub single: bool,
}

/// TCP.
pub const TCP: Transport = Transport { protocol: Protocol::TCP, refused: "cannot make a TCP socket", single: true };

/// A socket without any setting.
pub fn open(domain: Domain, transport: Transport) -> Result<Socket, TrialError> {
    Socket::new(domain, Type::STREAM, Some(transport.protocol)).map_err(|source| failed(transport.refused, source))
}

/// Gives a socket every setting that must be there before `connect` or `listen`.
pub fn set(socket: &Socket, local: SocketAddr, role: Role, settings: &TcpSettings) -> Result<(), TrialError> {
    if let Some(bytes) = settings.window_bytes {
        set_window(socket, role, bytes)?;
    }
    if let Some(bytes) = settings.mss_bytes {
        socket
            .set_tcp_mss(bytes)
            .map_err(|source| failed(format!("cannot set a segment size of {bytes} B"), source))?;
    }
    if let Some(dscp) = settings.dscp {
        set_dscp(socket, local, settings.family, dscp)?;
    }
    if let Some(mark) = settings.fwmark {
        let what = || format!("cannot mark packets with {mark:#x} (the engine needs CAP_NET_ADMIN for it)");
        socket.set_mark(mark).map_err(|source| failed(what(), source))?;
    }
    if role == Role::Source {
        set_source(socket, settings)?;
    }
    Ok(())
}

/// Whether a call only took too long.
pub fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
        && error.raw_os_error() != Some(rustix::io::Errno::TIMEDOUT.raw_os_error())
}

/// What a connected flow really has: congestion control and segment size.
pub fn read_connected(socket: &SockRef<'_>) -> (Option<String>, Option<u32>) {
    let congestion = socket.tcp_congestion().ok().map(|name| {
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        String::from_utf8_lossy(&name[..end]).into_owned()
    });
    (congestion, socket.tcp_mss().ok())
}

/// Settings that only matter once the flow stands: how long a silent peer is waited for, how long a write may take.
pub fn set_connected(socket: &SockRef<'_>, settings: &TcpSettings, transport: Transport) -> io::Result<()> {
    if transport.single {
        let silence = Duration::from_micros(settings.silence_timeout_us);
        socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE))?;
        socket.set_tcp_user_timeout(Some(silence))?;
    }
    socket.set_write_timeout(Some(WRITE_TIMEOUT))?;
    socket.set_nonblocking(false)
}

fn set_source(socket: &Socket, settings: &TcpSettings) -> Result<(), TrialError> {
    if let Some(name) = &settings.congestion {
        socket.set_tcp_congestion(name.as_bytes()).map_err(|error| congestion_error(name, &error))?;
    }
    if settings.no_delay {
        socket.set_tcp_nodelay(true).map_err(|source| failed("cannot set TCP_NODELAY", source))?;
    }
    if let Some(rate_bps) = settings.pacing_rate_bps {
        let what = || format!("cannot pace at {rate_bps} bit/s");
        sys::set_max_pacing_rate(socket, rate_bps / 8).map_err(|source| failed(what(), source))?;
        let told = sys::tcp_info(socket).ok().and_then(|info| info.get("max_pacing_rate_bytes_per_s"));
        check_pacing(rate_bps / 8, told).map_err(|source| failed(what(), source))?;
    }
    Ok(())
}

/// Whether the kernel took the rate that it was asked for, where it tells, in bytes per second: what is too much for it, it
/// cuts without a word.
fn check_pacing(asked: u64, told: Option<u64>) -> io::Result<()> {
    match told {
        Some(told) if told != asked => {
            let told_bps = told.saturating_mul(8);
            let text = format!(
                "the kernel made {told_bps} bit/s of it: before Linux 4.20, and with 32 bits, it takes no more than 34.3 Gbit/s"
            );
            Err(io::Error::other(text))
        }
        _ => Ok(()),
    }
}

fn congestion_error(name: &str, error: &io::Error) -> TrialError {
    let listed = |which| {
        let names = fs::read_to_string(format!("/proc/sys/net/ipv4/tcp_{which}_congestion_control"));
        names.map_or_else(|_| "unknown".into(), |names| names.trim().to_owned())
    };
    let name = name.to_owned();
    if error.kind() == io::ErrorKind::PermissionDenied {
        TrialError::CongestionForbidden { name, allowed: listed("allowed") }
    } else {
        TrialError::Congestion { name, available: listed("available") }
    }
}

fn failed(what: impl Into<String>, source: io::Error) -> TrialError {
    TrialError::Socket { what: what.into(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;

    #[test]
    fn a_pace_of_which_the_kernel_made_another_is_an_error() {
        assert!(check_pacing(5_000_000_000, Some(705_032_704)).unwrap_err().to_string().contains("5640261632 bit/s"));
        assert!(check_pacing(5_000_000_000, Some(5_000_000_000)).is_ok());
        assert!(check_pacing(5_000_000_000, None).is_ok(), "it does not tell");
    }

    #[test]
    fn this_kernel_takes_paces_of_more_than_32_bits() {
        let socket = open(Domain::IPV4, TCP).unwrap();
        for rate_bps in [8, 1_000_007, 40_000_000_000, 400_000_000_000] {
            let settings = TcpSettings { pacing_rate_bps: Some(rate_bps), ..file::tests::settings().tcp };
            set_source(&socket, &settings).unwrap();
            let told = sys::tcp_info(&socket).unwrap().get("max_pacing_rate_bytes_per_s");
            assert_eq!(told, Some(rate_bps / 8));
        }
    }
}
