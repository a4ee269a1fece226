use sys::{BbrInfo, TcpInfo};

use super::record::{Record, record};
use crate::defaults::SAMPLES_MAX_BYTES;

/// One flow, one sample interval.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Index of the flow.
    pub flow: u32,
    /// Beginning of the interval, in nanoseconds since this end's origin.
    pub start_ns: i64,
    /// End of the interval, exclusive, in nanoseconds since this end's origin.
    pub end_ns: i64,
    /// Application bytes in the interval.
    pub bytes: u64,
    /// The kernel's view at the end of the interval.
    pub tcp_info: TcpInfo,
    /// What bbr says at the end of the interval, where it is the congestion control of a source.
    pub bbr: Option<BbrInfo>,
}

record!(Sample { flow: u32, start_ns: i64, end_ns: i64, bytes: u64, tcp_info: TcpInfo, bbr: Option<BbrInfo> });

impl Record for Sample {
    const LOG_MAX_BYTES: u64 = SAMPLES_MAX_BYTES;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Log;

    #[test]
    fn what_goes_in_comes_out() {
        let mut log = Log::new();
        let bbr = BbrInfo { bandwidth_bytes_per_s: 1 << 40, min_rtt_us: 2, pacing_gain: 739, cwnd_gain: 4 };
        for flow in 0..1000 {
            let tcp_info = TcpInfo::from_bytes(&[u8::try_from(flow % 251).unwrap(); 104]);
            let bbr = (flow % 2 == 0).then_some(bbr);
            log.push(&Sample { flow, start_ns: -5, end_ns: i64::MAX, bytes: u64::MAX, tcp_info, bbr });
        }
        assert_eq!(log.rows_lost(), 0);
        let (rows, samples) = log.into_rows().unwrap();
        assert_eq!(rows, 1000);
        for (flow, sample) in (0..1000).zip(samples) {
            let sample: Sample = sample.unwrap();
            assert_eq!((sample.flow, sample.start_ns, sample.end_ns, sample.bytes), (flow, -5, i64::MAX, u64::MAX));
            assert_eq!(sample.tcp_info.as_bytes(), [u8::try_from(flow % 251).unwrap(); 104]);
            assert_eq!(sample.bbr, (flow % 2 == 0).then_some(bbr));
        }
    }
}
