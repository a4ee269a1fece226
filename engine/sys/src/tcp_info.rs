//! `TCP_INFO`, read by length: a kernel that knows fewer fields returns fewer bytes, and those fields are then absent.

use std::{io, os::fd::AsRawFd};

/// Bytes of `struct tcp_info` this engine understands (`include/uapi/linux/tcp.h`, Linux 6.18). The kernel returns four
/// more, which are left out: their meaning changed from 6.18 to 7.0 without a change of length (the state of accurate ECN).
pub const TCP_INFO_BYTES: usize = 276;

/// Room for what a later kernel may return.
const TCP_INFO_ROOM_BYTES: usize = 1024;

/// One field of `struct tcp_info`.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The kernel's name without its `tcpi_`, with the unit behind it where the field has a dimension.
    pub name: &'static str,
    /// Unit; empty for a state or a flag.
    pub unit: &'static str,
    /// Whether it is a momentary value or a count since the connection began.
    pub kind: Kind,
    /// What it means, and when it misleads.
    pub description: &'static str,
    offset: usize,
    width: Width,
}

/// Whether a field is a momentary value or a running count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A momentary value.
    Gauge,
    /// A count since the connection began.
    Counter,
}

#[derive(Clone, Copy, Debug)]
enum Width {
    Bits { shift: u8, bits: u8 },
    U8,
    U16,
    U32,
    U64,
}

/// What one `getsockopt(TCP_INFO)` returned.
#[derive(Clone, Copy, Debug)]
pub struct TcpInfo {
    bytes: [u8; TCP_INFO_BYTES],
    length: usize,
}

/// Reads `TCP_INFO` of a connection.
///
/// # Errors
/// What `getsockopt` says.
pub fn tcp_info(socket: &impl AsRawFd) -> io::Result<TcpInfo> {
    let mut bytes = [0; TCP_INFO_BYTES];
    let length = read(socket, &mut bytes)?;
    Ok(TcpInfo { bytes, length })
}

/// How many bytes of `TCP_INFO` this kernel returns, those included that this engine does not understand.
///
/// # Errors
/// What `getsockopt` says.
pub fn tcp_info_length(socket: &impl AsRawFd) -> io::Result<usize> {
    read(socket, &mut [0; TCP_INFO_ROOM_BYTES])
}

fn read(socket: &impl AsRawFd, bytes: &mut [u8]) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(bytes.len()).map_err(io::Error::other)?;
    // SAFETY: the pointer is to `length` writable bytes; the kernel writes at most that many and says how many.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result == 0 { Ok(length as usize) } else { Err(io::Error::last_os_error()) }
}

impl TcpInfo {
    /// From stored bytes; `bytes` beyond what this engine understands are ignored.
    #[must_use]
    pub fn from_bytes(stored: &[u8]) -> Self {
        let length = stored.len().min(TCP_INFO_BYTES);
        let mut bytes = [0; TCP_INFO_BYTES];
        bytes[..length].copy_from_slice(&stored[..length]);
        Self { bytes, length }
    }

    /// The bytes the kernel returned.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The value of a field by its name in [`FIELDS`]; `None` if this kernel does not return it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<u64> {
        FIELDS.iter().find(|field| field.name == name).and_then(|field| field.value(self))
    }
}

impl Field {
    /// Bits of the kernel's counter, which begins again at 0 when they are full; `None` for a gauge.
    #[must_use]
    pub fn counter_bits(&self) -> Option<usize> {
        (self.kind == Kind::Counter).then(|| self.width.bytes() * 8)
    }

    /// The field's value; `None` if the kernel that filled `info` does not return it, or if it means "unlimited".
    #[must_use]
    pub fn value(&self, info: &TcpInfo) -> Option<u64> {
        let stored = info.as_bytes().get(self.offset..self.offset + self.width.bytes())?;
        let mut bytes = [0; 8];
        bytes[..stored.len()].copy_from_slice(stored);
        let value = u64::from_le_bytes(to_little_endian(bytes, stored.len()));
        match self.width {
            Width::Bits { shift, bits } => Some((value >> shift) & ((1 << bits) - 1)),
            Width::U64 if value == u64::MAX => None,
            _ => Some(value),
        }
    }
}

impl Width {
    const fn bytes(self) -> usize {
        match self {
            Self::Bits { .. } | Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 => 4,
            Self::U64 => 8,
        }
    }
}

fn to_little_endian(mut bytes: [u8; 8], length: usize) -> [u8; 8] {
    if cfg!(target_endian = "big") {
        bytes[..length].reverse();
    }
    bytes
}

const fn field(
    name: &'static str,
    offset: usize,
    width: Width,
    unit: &'static str,
    kind: Kind,
    description: &'static str,
) -> Field {
    Field { name, unit, kind, description, offset, width }
}

/// Every field of `struct tcp_info`, in the kernel's order.
#[rustfmt::skip]
pub const FIELDS: &[Field] = &[
    field("state", 0, Width::U8, "", Kind::Gauge, "State of the connection: 1 is ESTABLISHED (`include/net/tcp_states.h`)."),
    field("ca_state", 1, Width::U8, "", Kind::Gauge, "State of congestion avoidance: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss."),
    field("retransmits", 2, Width::U8, "timeouts", Kind::Gauge, "Retransmission timeouts in a row without an acknowledgement. Not the number of retransmitted segments: that is `total_retrans`."),
    field("probes", 3, Width::U8, "probes", Kind::Gauge, "Window or keepalive probes that are unanswered."),
    field("backoff", 4, Width::U8, "", Kind::Gauge, "Doublings of the retransmission timeout."),
    field("options", 5, Width::U8, "", Kind::Gauge, "Bit set of what was negotiated: 1 timestamps, 2 SACK, 4 window scaling, 8 ECN, 16 ECN seen, 32 SYN data, 64 timestamps in microseconds, 128 child of a Fast Open."),
    field("snd_wscale", 6, Width::Bits { shift: 0, bits: 4 }, "bits", Kind::Gauge, "Shift of the windows the peer announces."),
    field("rcv_wscale", 6, Width::Bits { shift: 4, bits: 4 }, "bits", Kind::Gauge, "Shift of the windows this end announces."),
    field("delivery_rate_app_limited", 7, Width::Bits { shift: 0, bits: 1 }, "", Kind::Gauge, "1: the sample behind `delivery_rate` was limited by the application, so that the path may carry more."),
    field("fastopen_client_fail", 7, Width::Bits { shift: 1, bits: 2 }, "", Kind::Gauge, "Why TCP Fast Open failed; 0 here, it is not used."),
    field("rto_us", 8, Width::U32, "us", Kind::Gauge, "Retransmission timeout."),
    field("ato_us", 12, Width::U32, "us", Kind::Gauge, "Timeout of delayed acknowledgements."),
    field("snd_mss_bytes", 16, Width::U32, "bytes", Kind::Gauge, "Payload of a full segment that is sent."),
    field("rcv_mss_bytes", 20, Width::U32, "bytes", Kind::Gauge, "Estimate of the payload of a full segment that is received."),
    field("unacked", 24, Width::U32, "segments", Kind::Gauge, "Segments sent and not yet cumulatively acknowledged (`packets_out`); on a listener its backlog."),
    field("sacked", 28, Width::U32, "segments", Kind::Gauge, "Segments the peer has selectively acknowledged."),
    field("lost", 32, Width::U32, "segments", Kind::Gauge, "Segments believed lost right now: a gauge, not a count."),
    field("retrans", 36, Width::U32, "segments", Kind::Gauge, "Segments retransmitted and still unacknowledged: a gauge, not a count."),
    field("fackets", 40, Width::U32, "segments", Kind::Gauge, "Not used by kernels since 4.15."),
    field("last_data_sent_ms", 44, Width::U32, "ms", Kind::Gauge, "Time since data was last sent."),
    field("last_ack_sent_ms", 48, Width::U32, "ms", Kind::Gauge, "Not maintained by the kernel: always 0."),
    field("last_data_recv_ms", 52, Width::U32, "ms", Kind::Gauge, "Time since data was last received."),
    field("last_ack_recv_ms", 56, Width::U32, "ms", Kind::Gauge, "Time since an acknowledgement was last received."),
    field("pmtu_bytes", 60, Width::U32, "bytes", Kind::Gauge, "Path MTU."),
    field("rcv_ssthresh_bytes", 64, Width::U32, "bytes", Kind::Gauge, "Current clamp of the window this end announces."),
    field("rtt_us", 68, Width::U32, "us", Kind::Gauge, "Smoothed round-trip time (RFC 6298). On a pure receiver it stays at what the handshake saw; see `rcv_rtt_us`."),
    field("rttvar_us", 72, Width::U32, "us", Kind::Gauge, "Mean deviation of the round-trip time (RFC 6298)."),
    field("snd_ssthresh", 76, Width::U32, "segments", Kind::Gauge, "Slow-start threshold; 2147483647 means none yet."),
    field("snd_cwnd", 80, Width::U32, "segments", Kind::Gauge, "Congestion window."),
    field("advmss_bytes", 84, Width::U32, "bytes", Kind::Gauge, "Maximum segment size this end announced."),
    field("reordering", 88, Width::U32, "segments", Kind::Gauge, "Reordering the sender tolerates before it calls it loss."),
    field("rcv_rtt_us", 92, Width::U32, "us", Kind::Gauge, "Round-trip time as the receiver estimates it for autotuning; 0 until it has data."),
    field("rcv_space_bytes", 96, Width::U32, "bytes", Kind::Gauge, "Receive space autotuning aims at: bytes copied in one round trip."),
    field("total_retrans", 100, Width::U32, "segments", Kind::Counter, "Segments retransmitted so far."),
    field("pacing_rate_bytes_per_s", 104, Width::U64, "bytes/s", Kind::Gauge, "Rate the sender paces at; absent: unlimited."),
    field("max_pacing_rate_bytes_per_s", 112, Width::U64, "bytes/s", Kind::Gauge, "Limit set by the application; absent: unlimited."),
    field("bytes_acked", 120, Width::U64, "bytes", Kind::Counter, "Bytes acknowledged so far (RFC 4898 tcpEStatsAppHCThruOctetsAcked). Counts SYN, FIN and the handshake of the flow too."),
    field("bytes_received", 128, Width::U64, "bytes", Kind::Counter, "Bytes received in order so far (RFC 4898 tcpEStatsAppHCThruOctetsReceived). Counts FIN and the handshake of the flow too."),
    field("segs_out", 136, Width::U32, "segments", Kind::Counter, "Segments sent so far, acknowledgements and retransmissions included."),
    field("segs_in", 140, Width::U32, "segments", Kind::Counter, "Segments received so far, acknowledgements included."),
    field("notsent_bytes", 144, Width::U32, "bytes", Kind::Gauge, "Bytes in the send buffer that were not sent yet."),
    field("min_rtt_us", 148, Width::U32, "us", Kind::Gauge, "Smallest round-trip time seen in the last five minutes (`tcp_min_rtt_wlen`); 4294967295 means none yet."),
    field("data_segs_in", 152, Width::U32, "segments", Kind::Counter, "Segments with payload received so far."),
    field("data_segs_out", 156, Width::U32, "segments", Kind::Counter, "Segments with payload sent so far, retransmissions included."),
    field("delivery_rate_bytes_per_s", 160, Width::U64, "bytes/s", Kind::Gauge, "Most recent delivery rate sample; a lower bound when `delivery_rate_app_limited`."),
    field("busy_time_us", 168, Width::U64, "us", Kind::Counter, "Time with data to send or in flight. With a blocking writer it is near the whole time."),
    field("rwnd_limited_us", 176, Width::U64, "us", Kind::Counter, "Time limited by the peer's window. May stay 0 although the window limits: compare the flight with the windows."),
    field("sndbuf_limited_us", 184, Width::U64, "us", Kind::Counter, "Time limited by the send buffer. May stay 0 although the send buffer limits: compare the flight with the buffer."),
    field("delivered", 192, Width::U32, "segments", Kind::Counter, "Segments delivered so far, retransmissions included."),
    field("delivered_ce", 196, Width::U32, "segments", Kind::Counter, "Segments delivered with a congestion mark so far."),
    field("bytes_sent", 200, Width::U64, "bytes", Kind::Counter, "Payload bytes sent so far, retransmissions included (RFC 4898 tcpEStatsPerfHCDataOctetsOut)."),
    field("bytes_retrans", 208, Width::U64, "bytes", Kind::Counter, "Payload bytes retransmitted so far (RFC 4898 tcpEStatsPerfOctetsRetrans)."),
    field("dsack_dups", 216, Width::U32, "segments", Kind::Counter, "Duplicates the peer reported (RFC 4898 tcpEStatsStackDSACKDups): retransmissions that were not needed."),
    field("reord_seen", 220, Width::U32, "events", Kind::Counter, "Reordering events seen by the sender."),
    field("rcv_ooopack", 224, Width::U32, "segments", Kind::Counter, "Segments received out of order."),
    field("snd_wnd_bytes", 228, Width::U32, "bytes", Kind::Gauge, "The peer's announced window, scaled."),
    field("rcv_wnd_bytes", 232, Width::U32, "bytes", Kind::Gauge, "This end's announced window, scaled."),
    field("rehash", 236, Width::U32, "events", Kind::Counter, "Times the flow was moved to another path hash after a timeout or PLB."),
    field("total_rto", 240, Width::U16, "timeouts", Kind::Counter, "Retransmission timeouts so far, those in a row included."),
    field("total_rto_recoveries", 242, Width::U16, "events", Kind::Counter, "Recoveries after retransmission timeouts so far."),
    field("total_rto_time_ms", 244, Width::U32, "ms", Kind::Counter, "Time spent in recoveries after retransmission timeouts so far."),
    field("received_ce", 248, Width::U32, "segments", Kind::Counter, "Segments received with a congestion mark so far (AccECN)."),
    field("delivered_e1_bytes", 252, Width::U32, "bytes", Kind::Counter, "Bytes delivered with ECT(1) (AccECN)."),
    field("delivered_e0_bytes", 256, Width::U32, "bytes", Kind::Counter, "Bytes delivered with ECT(0) (AccECN)."),
    field("delivered_ce_bytes", 260, Width::U32, "bytes", Kind::Counter, "Bytes delivered with a congestion mark (AccECN)."),
    field("received_e1_bytes", 264, Width::U32, "bytes", Kind::Counter, "Bytes received with ECT(1) (AccECN)."),
    field("received_e0_bytes", 268, Width::U32, "bytes", Kind::Counter, "Bytes received with ECT(0) (AccECN)."),
    field("received_ce_bytes", 272, Width::U32, "bytes", Kind::Counter, "Bytes received with a congestion mark (AccECN)."),
];

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn fields_follow_each_other_without_overlap_and_fill_the_struct() {
        let mut end = 0;
        for field in FIELDS {
            assert!(field.offset == end || matches!(field.width, Width::Bits { .. }), "{} is misplaced", field.name);
            end = field.offset + field.width.bytes();
        }
        assert_eq!(end, TCP_INFO_BYTES);
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = FIELDS.iter().map(|field| field.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FIELDS.len());
    }

    #[test]
    fn a_real_connection_tells_its_segment_size() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let info = tcp_info(&stream).unwrap();
        assert_eq!(info.get("state"), Some(1));
        assert!(info.get("snd_mss_bytes").unwrap() >= 536);
        assert!(info.get("snd_cwnd").unwrap() >= 1);
    }

    #[test]
    fn an_older_kernel_lacks_the_later_fields() {
        let older = TcpInfo::from_bytes(&[7; 104]);
        assert_eq!(older.get("total_retrans"), Some(0x0707_0707));
        assert_eq!(older.get("pacing_rate_bytes_per_s"), None);
        assert_eq!(older.get("received_ce_bytes"), None);
    }

    #[test]
    fn unlimited_is_absent() {
        let info = TcpInfo::from_bytes(&[0xff; TCP_INFO_BYTES]);
        assert_eq!(info.get("max_pacing_rate_bytes_per_s"), None);
        assert_eq!(info.get("rcv_wscale"), Some(15));
        assert_eq!(info.get("fastopen_client_fail"), Some(3));
    }
}
