//! Both ends of real measurements of round-trip times over loopback, in one process.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../ends/mod.rs"]
mod ends;
#[path = "../flood/mod.rs"]
mod flood;
mod flooded;
mod refusals;
mod support;
mod translated;
mod whole;
