//! Every constant of the server, with its reason.

use std::time::Duration;

/// Where programs that speak the protocol listen.
pub const PORT: u16 = 4433;
/// Connections at once. With [`WINDOW_BYTES`] they keep 512 MiB at most.
pub const CONNECTIONS_MAX: usize = 32;
/// Streams of a connection at once, of each kind.
pub const STREAMS_MAX: u32 = 128;
/// Bytes of a stream in each direction: more than a connection carries in [`DURATION_MAX`].
pub const BYTES_MAX: u64 = 1 << 44;
/// What a connection lets its client send ahead, and what it keeps that is not acknowledged: 4 Gbit/s at 16 ms.
pub const WINDOW_BYTES: u32 = 8 << 20;
/// Longest connection.
pub const DURATION_MAX: Duration = Duration::from_secs(3600);
/// A connection without a stream, or a stream without a byte, ends after so long.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// For a handshake, whose packets may be lost.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Handshakes that are looked at later; one is there for microseconds.
pub const INCOMING_MAX: usize = 256;
/// What a client may send before its handshake is looked at, of all of them together.
pub const INCOMING_BYTES_MAX: u64 = 1 << 20;
/// Receive buffer that is requested for the socket of all connections.
pub const SOCKET_WINDOW_BYTES: usize = 4 << 20;
/// What is written at once.
pub const WRITE_BYTES: usize = 64 << 10;
/// Pieces of a stream that are read at once, each of a packet.
pub const CHUNKS_AT_ONCE: usize = 32;
/// What a connection may carry at once after a rest, as a time at its limit.
pub const RATE_BURST: Duration = Duration::from_millis(50);
/// How often it is looked at whether anybody still waits for the server to end.
pub const STOP_CHECK: Duration = Duration::from_secs(1);
/// How long all connections together have to end when the server does, [`LAST_WORDS`] included.
pub const STOPPING_LEAVE: Duration = Duration::from_millis(650);
/// How long a connection waits, once its streams are broken off, for what is on its way to be acknowledged.
pub const LAST_WORDS: Duration = Duration::from_millis(250);
/// For what the log holds to be written when the server ends.
pub const LOG_FLUSH: Duration = Duration::from_millis(400);
