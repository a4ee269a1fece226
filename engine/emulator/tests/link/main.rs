//! Emulated links with real sockets at both ends: what a link does is what it was asked to do. Each test prints the
//! number it is about. Needs permission to make network namespaces; otherwise tests say why they are skipped, and fail
//! in continuous integration.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod delay;
mod integrity;
mod lab;
mod life;
mod loss;
mod queue;
mod rate;
mod traffic;
mod witness;
