use std::{
    io::{self, BufRead, Read},
    os::fd::AsFd,
    process::ExitCode,
};

use emulator::{defaults::REQUEST_MAX_BYTES, emulate};

/// Exit code for a request that is wrong.
const BAD_REQUEST: u8 = 2;

/// One line from standard input says which link; it lasts until standard input ends.
pub fn run() -> ExitCode {
    let mut line = String::new();
    let mut input = io::stdin().lock();
    if let Err(error) = input.by_ref().take(REQUEST_MAX_BYTES).read_line(&mut line) {
        eprintln!("flowsweep-engine: standard input: {error}");
        return ExitCode::from(BAD_REQUEST);
    }
    // The events have reported already what went wrong.
    match emulate(&line, input.as_fd(), io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_request() => ExitCode::from(BAD_REQUEST),
        Err(_) => ExitCode::FAILURE,
    }
}
