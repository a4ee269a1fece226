//! Both ends of real trials of datagrams over loopback, in one process.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod broken;
#[path = "../ends/mod.rs"]
mod ends;
#[path = "../flood/mod.rs"]
mod flood;
mod held_up;
mod rejected;
mod support;
mod whole;
