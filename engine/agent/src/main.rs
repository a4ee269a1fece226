//! `flowsweep-engine`, with the tests that are its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    agent::run(&[])
}
