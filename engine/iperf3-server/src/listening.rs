//! Sockets that wait for whoever comes: one port for both protocols.

use std::{
    io,
    net::{SocketAddr, TcpListener},
};

use socket2::{Domain, Protocol, Socket, Type};

use crate::{defaults::BACKLOG, openings::Openings};

/// Ports that are tried until one is free for both protocols.
const PORTS_TRIED: usize = 16;

/// For both protocols; where any port will do, one that is free for both.
pub fn listen_on_one_port(address: SocketAddr) -> io::Result<(TcpListener, Openings)> {
    let mut tried = 0;
    loop {
        tried += 1;
        let listener = listen(address)?;
        match Openings::listen(SocketAddr::new(address.ip(), listener.local_addr()?.port())) {
            Ok(openings) => return Ok((listener, openings)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && address.port() == 0 && tried < PORTS_TRIED => {}
            Err(error) => return Err(error),
        }
    }
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}
