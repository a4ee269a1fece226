use std::{net::IpAddr, time::Duration};

use serving::Network;

use crate::defaults;

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen; nothing: on all addresses of both families.
    pub bind: Option<IpAddr>,
    /// 0: any port that is free.
    pub port: u16,
    /// Connections at once.
    pub connections_max: usize,
    /// Of them from one address; of IPv6, from one /64.
    pub per_address_max: usize,
    /// Streams of a connection at once, of each kind.
    pub streams_max: u32,
    /// Bytes of a stream in each direction, the first 8 left out.
    pub bytes_max: u64,
    /// What a connection lets its client send ahead, and what it keeps that is not acknowledged, in bytes.
    pub window_bytes: u32,
    /// Rate of a connection, over all its streams and both directions, in bit/s; nothing: none.
    pub rate_max_bps: Option<u64>,
    /// Longest connection.
    pub duration_max: Duration,
    /// How long a connection may have no stream, and a stream carry no byte.
    pub idle_timeout: Duration,
    /// Whose hosts may connect; none: everybody's.
    pub networks: Vec<Network>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            bind: None,
            port: defaults::PORT,
            connections_max: defaults::CONNECTIONS_MAX,
            per_address_max: Self::share_of_one(defaults::CONNECTIONS_MAX),
            streams_max: defaults::STREAMS_MAX,
            bytes_max: defaults::BYTES_MAX,
            window_bytes: defaults::WINDOW_BYTES,
            rate_max_bps: None,
            duration_max: defaults::DURATION_MAX,
            idle_timeout: defaults::IDLE_TIMEOUT,
            networks: Vec::new(),
        }
    }
}

impl Config {
    /// How many of so many places one address may have, if nobody says it.
    #[must_use]
    pub fn share_of_one(connections_max: usize) -> usize {
        connections_max.div_ceil(serving::defaults::PART_OF_ONE_ORIGIN)
    }
}
