//! What an engine must know of a trial of Multipath TCP (RFC 8684).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TcpSettings;

/// The settings of one end's connections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MptcpSettings {
    /// As of connections of TCP, but in `copy` mode only, without `mss_bytes`, `pacing_rate_bps`, and with no
    /// `silence_timeout_us` that ends it: Linux has none of these for such connections.
    pub tcp: TcpSettings,
    /// TCP connections that each connection consists of, its first one included: one for each path that the
    /// rendezvous names if absent, or, where it names none, as many as the path managers of both hosts make.
    pub subflows: Option<u32>,
}
