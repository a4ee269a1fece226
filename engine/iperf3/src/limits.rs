//! Bounds of what is accepted from a peer, whatever it announces.

/// Most bytes of parameters that iperf3 itself accepts; nobody sends more than a few hundred.
pub const PARAMS_BYTES_MAX: usize = 8 << 10;
/// Most bytes of results. iperf3 sets no bound; 128 streams in both directions make 64 KB, and a server's output is not
/// asked for.
pub const RESULTS_BYTES_MAX: usize = 1 << 20;
/// How deep objects and lists may lie in each other; iperf3's own results reach 7.
pub const JSON_DEPTH_MAX: usize = 32;
/// Most parallel streams in each direction.
pub const STREAMS_MAX: u32 = 128;
/// Most streams of which results tell: those of both directions.
pub const REPORTED_MAX: usize = 2 * STREAMS_MAX as usize;
/// Longest duration, in seconds.
pub const DURATION_S_MAX: u32 = 86_400;
/// Longest beginning that is left out, in seconds.
pub const OMIT_S_MAX: u32 = 600;
/// Largest write, in bytes.
pub const WRITE_BYTES_MAX: u32 = 1 << 20;
/// Largest socket buffer, in bytes.
pub const WINDOW_BYTES_MAX: u32 = 512 << 20;
/// Largest segment size that may be asked for, in bytes.
pub const MSS_BYTES_MAX: u32 = 32_767;
/// Most writes that may follow each other at once under a rate.
pub const BURST_MAX: u32 = 1000;
/// Largest and smallest payload of a datagram, in bytes.
pub const DATAGRAM_BYTES_MAX: u32 = 65_507;
/// See [`DATAGRAM_BYTES_MAX`].
pub const DATAGRAM_BYTES_MIN: u32 = 16;
/// Most characters of a text among the parameters.
pub const TEXT_CHARS_MAX: usize = 4096;
