//! Both ends of real measurements of a path, over loopback and through routers, in one process.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../ends/mod.rs"]
mod ends;
#[path = "../flood/mod.rs"]
mod flood;
mod flooded;
mod loopback;
mod routers;
mod support;
