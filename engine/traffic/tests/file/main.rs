//! Both ends of trials that carry files over loopback, in one process.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../ends/mod.rs"]
#[expect(dead_code, reason = "here each end has settings of its own")]
mod ends;
mod refusals;
mod support;
mod whole;
