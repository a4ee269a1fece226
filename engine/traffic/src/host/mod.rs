//! What the host does while a trial runs: CPU time of cores and threads, counters, CPU quotas.

mod cores;
mod counters;
mod cpu_row;
mod meter;
mod monitor;
pub mod rtnetlink;
mod throttle;

pub use counters::Counters;
pub use cpu_row::CpuRow;
pub use meter::ThreadMeter;
pub use monitor::{Monitor, Observed};
