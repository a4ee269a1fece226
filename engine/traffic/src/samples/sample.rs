use sys::{BbrInfo, TcpInfo};

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
