//! What carries one flow of TCP.

use std::{
    io,
    net::{Shutdown, SocketAddr, TcpStream},
    time::Duration,
};

use socket2::SockRef;

use crate::flow::{Connection, Flow, Flows};

/// A flow of TCP.
pub type TcpFlow = Flow<TcpStream>;
/// All flows of one end of a trial.
pub type TcpFlows = Flows<TcpStream>;

impl Connection for TcpStream {
    const BREAKS_ALONE: bool = false;

    fn ports(&self) -> (u16, u16) {
        let port = |address: io::Result<SocketAddr>| address.map_or(0, |address| address.port());
        (port(self.local_addr()), port(self.peer_addr()))
    }

    /// Closing it, when the flows are dropped, breaks it: what is still in its buffer is not sent.
    fn break_off(&self) {
        // A connection that is gone already needs no breaking: both calls may fail.
        let _ = SockRef::from(self).set_linger(Some(Duration::ZERO));
        let _ = self.shutdown(Shutdown::Both);
    }
}
