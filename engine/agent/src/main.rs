//! `flowsweep-engine`, with the tests that are its own.

use std::process::ExitCode;

/// A static engine has musl's allocator otherwise, which takes a third of what QUIC could carry.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    agent::run(&[])
}
