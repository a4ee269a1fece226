//! Takes connections, of whoever has shown that it receives what is sent to its address.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    os::fd::{AsFd, OwnedFd},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Instant,
};

use quinn::{Endpoint, EndpointConfig, IdleTimeout, Incoming, ServerConfig, TokioRuntime, TransportConfig};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::json;
use serving::{Log, Origin, Refusals, defaults::REFUSALS_LOOK, everywhere};
use socket2::{Domain, Protocol, Socket, Type};
use thiserror::Error;
use tokio::{
    runtime::{self, Runtime},
    sync::{oneshot, watch},
    task::LocalSet,
    time::{interval, timeout},
};

use crate::{
    Config, certificate, connection,
    defaults::{
        HANDSHAKE_TIMEOUT, INCOMING_BYTES_MAX, INCOMING_MAX, LOG_FLUSH, SOCKET_WINDOW_BYTES, STOP_CHECK, STOPPING_LEAVE,
    },
    places::{Place, Places},
};

/// Why a server cannot be.
#[derive(Debug, Error)]
pub enum ServerError {
    /// There is no socket for it.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where it should listen.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// It cannot make its certificate.
    #[error("cannot make a certificate: {0}")]
    Certificate(String),
}

/// A server that listens.
pub struct Server {
    runtime: Runtime,
    endpoint: Endpoint,
    shared: Arc<Shared>,
}

struct Shared {
    config: Config,
    log: Log,
    places: Places,
    refusals: Mutex<Refusals>,
    stopping: watch::Sender<bool>,
}

impl Server {
    /// Listens.
    ///
    /// # Errors
    /// [`ServerError`] if it cannot.
    pub fn open(config: Config, log: Log) -> Result<Self, ServerError> {
        let address = SocketAddr::new(config.bind.unwrap_or_else(everywhere), config.port);
        let failed = |source| ServerError::Listen { address, source };
        let mut server = ServerConfig::with_crypto(certificate::crypto().map_err(ServerError::Certificate)?);
        server
            .transport_config(Arc::new(transport(&config)))
            .migration(false)
            .max_incoming(INCOMING_MAX)
            .incoming_buffer_size_total(INCOMING_BYTES_MAX);
        let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let socket = socket(address).map_err(failed)?;
        let entered = runtime.enter();
        let endpoint = Endpoint::new(EndpointConfig::default(), Some(server), socket, Arc::new(TokioRuntime));
        drop(entered);
        let shared = Arc::new(Shared {
            config,
            log,
            places: Places::default(),
            refusals: Mutex::default(),
            stopping: watch::Sender::new(false),
        });
        Ok(Self { runtime, endpoint: endpoint.map_err(failed)?, shared })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// What `getsockname` says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.endpoint.local_addr()
    }

    /// Serves until `stop` can be read from; then tells all clients that the server ends.
    ///
    /// # Errors
    /// `stop` cannot be waited for.
    pub fn serve(self, stop: &impl AsFd) -> io::Result<()> {
        let Self { runtime, endpoint, shared } = self;
        let mut stop = readable(stop.as_fd().try_clone_to_owned()?)?;
        let connections = LocalSet::new();
        connections.block_on(&runtime, async {
            let mut look = interval(REFUSALS_LOOK);
            loop {
                tokio::select! {
                    _ = &mut stop => break,
                    _ = look.tick() => shared.summarise(),
                    incoming = endpoint.accept() => match incoming {
                        Some(incoming) => shared.take(incoming),
                        None => break,
                    },
                }
            }
        });
        shared.stopping.send_replace(true);
        // Whoever does not hear it in time finds nobody here.
        drop(connections.block_on(&runtime, async { timeout(STOPPING_LEAVE, endpoint.wait_idle()).await }));
        endpoint.close(0_u8.into(), connection::SERVER_ENDS);
        drop(connections);
        shared.log.flush(LOG_FLUSH);
        Ok(())
    }
}

impl Shared {
    /// Sends nothing to an address that may not connect, and only Retry to one that has not shown that it is its own.
    fn take(self: &Arc<Self>, incoming: Incoming) {
        let client = connection::canonical(incoming.remote_address());
        if !serving::admits(&self.config.networks, client.ip()) {
            self.refused(client, "its address lies in no network that is allowed");
            return incoming.ignore();
        }
        if !incoming.remote_address_validated() {
            // It fails for whoever has had one already: there is no answer to that either.
            if let Err(error) = incoming.retry() {
                error.into_incoming().ignore();
            }
            return;
        }
        match self.places.take(Origin::from(client.ip()), self.config.connections_max, self.config.per_address_max) {
            Ok(place) => drop(tokio::task::spawn_local(Arc::clone(self).shake(incoming, place))),
            Err(error) => {
                self.refused(client, &error);
                incoming.refuse();
            }
        }
    }

    async fn shake(self: Arc<Self>, incoming: Incoming, place: Place) {
        let client = connection::canonical(incoming.remote_address());
        let failed = |error: String| self.refused(client, &error);
        let connecting = match incoming.accept() {
            Ok(connecting) => connecting,
            Err(error) => return failed(error.to_string()),
        };
        match timeout(HANDSHAKE_TIMEOUT, connecting).await {
            Ok(Ok(connection)) => {
                let ended = connection::serve(&connection, &self.config, self.stopping.subscribe()).await;
                self.log.write("connection_ends", ended);
            }
            Ok(Err(error)) => failed(error.to_string()),
            Err(_) => failed(format!("no handshake within {} s", HANDSHAKE_TIMEOUT.as_secs())),
        }
        drop(place);
    }

    fn refused(&self, client: SocketAddr, error: &str) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.note(Origin::from(client.ip()), error, Instant::now()) {
            self.log.write("refused", json!({ "client": client.to_string(), "error": error }));
        }
    }

    fn summarise(&self) {
        let rows = self.refusals.lock().unwrap_or_else(PoisonError::into_inner).summaries(Instant::now());
        for row in rows {
            self.log.write("refused_more", row);
        }
    }
}

/// Hears when a file can be read from; gives up once nobody listens.
fn readable(file: OwnedFd) -> io::Result<oneshot::Receiver<()>> {
    let (sender, readable) = oneshot::channel();
    let wait = move || {
        let longest = Timespec::try_from(STOP_CHECK).ok();
        while !sender.is_closed() {
            // An interrupted poll only means looking once more.
            if poll(&mut [PollFd::new(&file, PollFlags::IN)], longest.as_ref()).is_ok_and(|ready| ready > 0) {
                let _ = sender.send(());
                return;
            }
        }
    };
    thread::Builder::new().name("stop".into()).spawn(wait)?;
    Ok(readable)
}

fn transport(config: &Config) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(config.streams_max.into())
        .max_concurrent_uni_streams(config.streams_max.into())
        .receive_window(config.window_bytes.into())
        .stream_receive_window(config.window_bytes.into())
        .send_window(config.window_bytes.into())
        .datagram_receive_buffer_size(None)
        .max_idle_timeout(IdleTimeout::try_from(config.idle_timeout).ok());
    transport
}

fn socket(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    // With a smaller one it is slower.
    let _ = socket.set_recv_buffer_size(SOCKET_WINDOW_BYTES);
    socket.bind(&address.into())?;
    Ok(socket.into())
}
