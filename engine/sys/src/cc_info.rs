//! `TCP_CC_INFO`: what a congestion control tells of itself beyond `TCP_INFO`.

use std::{io, os::fd::AsRawFd};

/// `struct tcp_bbr_info` of `include/uapi/linux/inet_diag.h`: five numbers of 32 bits.
const BBR_INFO_BYTES: usize = 20;

/// What bbr believes of the path (Cardwell et al., "BBR: Congestion-Based Congestion Control", 2016).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BbrInfo {
    /// Bottleneck bandwidth: the highest delivery rate of the last ten round trips, in bytes per second.
    pub bandwidth_bytes_per_s: u64,
    /// Smallest round-trip time of the last ten seconds, in microseconds.
    pub min_rtt_us: u32,
    /// Factor of the pacing rate, in 256ths.
    pub pacing_gain: u32,
    /// Factor of the congestion window, in 256ths.
    pub cwnd_gain: u32,
}

/// Reads `TCP_CC_INFO` of a connection whose congestion control is bbr: the kernel does not say whose answer it gives,
/// so the caller has to know. `None` if it answers with something else than bbr does.
///
/// # Errors
/// What `getsockopt` says.
pub fn bbr_info(socket: &impl AsRawFd) -> io::Result<Option<BbrInfo>> {
    let mut words = [0_u32; BBR_INFO_BYTES / size_of::<u32>()];
    let mut length = libc::socklen_t::try_from(BBR_INFO_BYTES).map_err(io::Error::other)?;
    // SAFETY: the kernel writes at most `length` bytes into `words`, which has that many, and sets `length`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CC_INFO,
            words.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let [low, high, min_rtt_us, pacing_gain, cwnd_gain] = words;
    let bandwidth_bytes_per_s = u64::from(high) << 32 | u64::from(low);
    let info = BbrInfo { bandwidth_bytes_per_s, min_rtt_us, pacing_gain, cwnd_gain };
    Ok((length as usize == BBR_INFO_BYTES).then_some(info))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn another_congestion_control_says_nothing_of_bbr() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        rustix::net::sockopt::set_tcp_congestion(&stream, "reno").unwrap();
        assert_eq!(bbr_info(&stream).unwrap(), None);
    }
}
