//! One emulated link between two TUN devices, each in a network namespace: policer, rate, one-way delay, drop-tail
//! queue, random loss, duplicates and jitter, per direction.
//!
//! ```text
//! device ─▶ read ─▶ policer ─▶ queue + serializer ─▶ loss ─▶ delay line ─▶ write ─▶ device
//!           one thread a direction        pure: `link`, times are arguments
//! ```
//!
//! Where a link has several paths, each is a queue with what follows of its own, and `paths` says which one a flow
//! takes.
//!
//! Super-packets stay whole where that costs no truth; see `docs/explanation/emulator.md`.

mod arena;
mod chance;
mod cross;
pub mod defaults;
mod delay_line;
mod device;
mod direction;
mod error;
mod flow;
mod link;
mod output;
mod packet;
mod paths;
mod policer;
#[cfg(test)]
mod properties;
mod queue;
mod request;
mod run;
#[cfg(test)]
mod samples;
mod segment;
mod serializer;

pub use error::EmulationError;
pub use run::emulate;
