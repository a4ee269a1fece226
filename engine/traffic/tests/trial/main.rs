//! Both ends of real trials over loopback, in one process.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod encrypted;
#[path = "../ends/mod.rs"]
mod ends;
mod observed;
mod refusals;
mod support;
mod whole;
