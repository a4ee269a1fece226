//! Samples: one row is one flow, one end, one sample interval. Kept compactly while the trial runs, turned into Arrow
//! when it is over.

mod arrow;
mod column;
mod delivery;
mod log;
mod marks;
mod record;
mod sample;
mod stream;

pub use arrow::kernel_columns;
pub use column::Column;
pub use delivery::Delivery;
pub use log::Log;
pub use marks::Marks;
#[cfg(test)]
pub use record::assert_kept;
pub use record::{Field, Record};
pub(crate) use record::{code, record};
pub use sample::Sample;
pub use stream::{SampleBatch, Tabular, for_each_batch, schema_json};

/// The samples of one end of a trial.
pub type SampleLog = Log<Sample>;
