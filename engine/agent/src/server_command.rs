//! What the commands have in common that serve until they are told to stop.

use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::FileTypeExt,
    path::Path,
    process::ExitCode,
};

use serving::Log;

/// Serves to the end, or says why not.
pub fn run(serve: impl FnOnce() -> io::Result<()>) -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("flowsweep-engine: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A log to a file, to standard output (`-`), or to nowhere.
pub fn log(path: Option<&Path>) -> io::Result<Log> {
    let Some(path) = path else { return Ok(Log::default()) };
    if path == Path::new("-") {
        return Log::to(io::stdout());
    }
    let named = |error: io::Error| io::Error::other(format!("cannot write to {}: {error}", path.display()));
    let mut how = OpenOptions::new();
    // A named pipe that is opened for writing alone is waited for until somebody reads it.
    let pipe = fs::metadata(path).is_ok_and(|known| known.file_type().is_fifo());
    how.read(pipe).write(true).create(!pipe).append(!pipe);
    Log::to(how.open(path).map_err(named)?)
}

/// A number of things without which there would be nothing to do.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "expected 1 or more".to_owned())
}
