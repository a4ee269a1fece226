//! Where an iperf3 server is, and a control connection to it.

use std::{
    net::{IpAddr, SocketAddr, TcpStream},
    time::Duration,
};

use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};

use crate::{
    TrialError,
    defaults::{IPERF3_TIMEOUT, KEEPALIVE, STOP_CHECK},
};

/// Where and how a server is gone to.
#[derive(Clone, Copy, Debug)]
pub struct Server {
    /// Its address.
    pub remote: SocketAddr,
    /// Local address to go there from.
    pub bind: Option<IpAddr>,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long it may be silent once it was connected to: as long as streams of datagrams fill the path, at least.
    pub silence: Duration,
}

impl Server {
    /// Makes a control connection.
    pub fn connect(&self) -> Result<TcpStream, TrialError> {
        let Server { remote, bind, connect_timeout, silence } = *self;
        let failed = |source| TrialError::Socket { what: "cannot make a control connection".into(), source };
        let socket = Socket::new(Domain::for_address(remote), Type::STREAM, Some(Protocol::TCP)).map_err(failed)?;
        if let Some(local) = bind {
            let failed = |source| TrialError::Socket { what: format!("cannot go to {remote} from {local}"), source };
            socket.bind(&SocketAddr::new(local, 0).into()).map_err(failed)?;
        }
        let connected = socket.connect_timeout(&remote.into(), connect_timeout);
        connected.map_err(|source| TrialError::Iperf3Connect { address: remote, source })?;
        let set = || {
            socket.set_tcp_nodelay(true)?;
            socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE))?;
            socket.set_tcp_user_timeout(Some(silence))?;
            socket.set_read_timeout(Some(STOP_CHECK))?;
            socket.set_write_timeout(Some(IPERF3_TIMEOUT))
        };
        set().map_err(failed)?;
        Ok(socket.into())
    }
}
