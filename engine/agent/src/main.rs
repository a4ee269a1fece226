//! `flowsweep-engine`, with the tests that are its own.

use std::process::ExitCode;

/// A static engine has musl's allocator otherwise, which is slow, and QUIC allocates for every packet.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    agent::run(&[])
}
