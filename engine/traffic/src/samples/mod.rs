//! Samples: one row is one flow, one end, one sample interval. Kept compactly while the trial runs, turned into Arrow
//! when it is over.

mod arrow;
mod delivery;
mod log;
mod stream;

pub use delivery::Delivery;
pub use log::{Log, Record, take};
pub use stream::{SampleBatch, Tabular, for_each_batch, meaning, schema_json};

use sys::{BbrInfo, TcpInfo};

/// The samples of one end of a trial.
pub type SampleLog = Log<Sample>;

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
