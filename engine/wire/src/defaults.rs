//! Constants of the engine that several of its crates have to agree on: what makes the traffic, and what says beforehand
//! how much it will be, at most.

use std::time::Duration;

/// How long a prepared trial waits for its start.
pub const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Probes sent in place of one without an answer, itself included.
pub const HOP_TRIES: u32 = 3;
/// Most packets of a train or of a stream; what trains that show too little grow to.
pub const TRAIN_PACKETS_MAX: u32 = 4096;
/// How often a stream is sent where packets of it were held up, at most; the last one counts in any case.
pub const STREAM_TRIES: u32 = 4;
