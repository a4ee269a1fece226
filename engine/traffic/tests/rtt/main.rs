//! Both ends of real measurements of round-trip times over loopback, in one process.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod refusals;
mod support;
mod whole;
