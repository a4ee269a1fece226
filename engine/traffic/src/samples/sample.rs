use sys::{BbrInfo, TCP_INFO_BYTES, TcpInfo};

use super::log::{Record, take};
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

/// Stands in a record for what bbr would say.
const NO_BBR: u64 = u64::MAX;

impl Record for Sample {
    const BYTES: usize = 4 + 8 + 8 + 8 + (8 + 4 + 4 + 4) + 4 + TCP_INFO_BYTES;
    const LOG_MAX_BYTES: u64 = SAMPLES_MAX_BYTES;

    fn encode(&self, record: &mut Vec<u8>) {
        let begin = record.len();
        let info = self.tcp_info.as_bytes();
        let bbr = self.bbr.unwrap_or(BbrInfo { bandwidth_bytes_per_s: NO_BBR, ..BbrInfo::default() });
        record.extend(self.flow.to_le_bytes());
        record.extend(self.start_ns.to_le_bytes());
        record.extend(self.end_ns.to_le_bytes());
        record.extend(self.bytes.to_le_bytes());
        record.extend(bbr.bandwidth_bytes_per_s.to_le_bytes());
        record.extend(bbr.min_rtt_us.to_le_bytes());
        record.extend(bbr.pacing_gain.to_le_bytes());
        record.extend(bbr.cwnd_gain.to_le_bytes());
        record.extend(u32::try_from(info.len()).unwrap_or(0).to_le_bytes());
        record.extend(info);
        record.resize(begin + Self::BYTES, 0);
    }

    fn decode(mut record: &[u8]) -> Self {
        let rest = &mut record;
        let flow = u32::from_le_bytes(take(rest));
        let start_ns = i64::from_le_bytes(take(rest));
        let end_ns = i64::from_le_bytes(take(rest));
        let bytes = u64::from_le_bytes(take(rest));
        let bbr = BbrInfo {
            bandwidth_bytes_per_s: u64::from_le_bytes(take(rest)),
            min_rtt_us: u32::from_le_bytes(take(rest)),
            pacing_gain: u32::from_le_bytes(take(rest)),
            cwnd_gain: u32::from_le_bytes(take(rest)),
        };
        let bbr = (bbr.bandwidth_bytes_per_s != NO_BBR).then_some(bbr);
        let info_length = u32::from_le_bytes(take(rest)) as usize;
        let tcp_info = TcpInfo::from_bytes(&rest[..info_length.min(rest.len())]);
        Self { flow, start_ns, end_ns, bytes, tcp_info, bbr }
    }
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
