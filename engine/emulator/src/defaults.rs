//! Every constant of the emulator, in one place.

use std::time::Duration;

/// Longest transmission time of a part of a super-packet that is handed over in one piece. Its first packet arrives
/// at most this much too late, its last one on time.
pub const PIECE_MAX: Duration = Duration::from_micros(200);
/// A packet handed over later than this after it was due counts as late.
pub const LATE_AFTER: Duration = Duration::from_millis(1);
/// Packets the kernel keeps for the emulator to read, as the device's transmit queue length (a super-packet is one).
pub const DEVICE_QUEUE_PACKETS: u32 = 8192;
/// Memory is taken in chunks of this size.
pub const CHUNK_BYTES: usize = 1 << 20;
/// Chunks of one direction whose memory is there before the first packet.
pub const CHUNKS_READY: usize = 4;
/// Most chunks of one direction: 512 MiB of packets in flight.
pub const CHUNKS_MAX: usize = 512;
/// Most packets that one direction's queue remembers, those included that will be lost at random: 256 MiB.
pub const QUEUE_ENTRIES_MAX: usize = 16 << 20;
/// Room for one read: the largest IP packet, its virtio header and one byte that tells that it was larger.
pub const READ_BYTES: usize = sys::VNET_HEADER_BYTES + 65_535 + 1;
/// Longest header of a super-packet: IPv6 with a few extension headers, and TCP with all its options.
pub const SUPER_HEADER_MAX_BYTES: usize = 512;
/// How long the last line may wait for whoever reads it.
pub const LAST_LINE_TIMEOUT: Duration = Duration::from_secs(1);
/// Longest first line of standard input, in bytes.
pub const REQUEST_MAX_BYTES: u64 = 1 << 20;

/// Slowest and fastest rate, in bit/s.
pub const RATE_BPS: std::ops::RangeInclusive<u64> = 1_000..=1_000_000_000_000;
/// Largest burst of a policer, in bytes.
pub const BURST_MAX_BYTES: u64 = 1_000_000_000_000;
/// Smallest packet of cross traffic, in bytes: an IPv4 header.
pub const CROSS_PACKET_MIN_BYTES: u32 = 20;
/// Most packets of cross traffic in a second: each costs time, and more would make the hosts' own late.
pub const CROSS_PACKETS_PER_S_MAX: u64 = 1_000_000;
/// Shortest and longest time that cross traffic sends, or pauses, in µs.
pub const PAUSE_US: std::ops::RangeInclusive<u64> = 1_000..=3_600_000_000;
/// Most paths that flows are spread over.
pub const PATHS_MAX: usize = 16;
/// Largest DSCP (RFC 2474): six bits.
pub const DSCP_MAX: u8 = 63;
/// Longest delay.
pub const DELAY_MAX: Duration = Duration::from_secs(60);
/// Smallest and largest MTU, in bytes (RFC 791; the kernel's limit).
pub const MTU_BYTES: std::ops::RangeInclusive<u32> = 68..=65_535;
/// Shortest and longest report interval, in µs.
pub const REPORT_INTERVAL_US: std::ops::RangeInclusive<u64> = 1_000..=3_600_000_000;
