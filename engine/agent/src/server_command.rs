//! What the commands have in common that serve until they are told to stop.

use std::{
    fmt::Display,
    fs::{self, OpenOptions},
    io,
    ops::{Bound, RangeBounds},
    os::unix::fs::FileTypeExt,
    path::Path,
    process::ExitCode,
    str::FromStr,
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

/// Reads a whole number, or says what is expected: the standard library names neither bounds nor unit.
///
/// # Arguments
/// `bounds`: without an end where none is worth telling. `of`: what it counts, such as ` of seconds`.
pub fn whole<T>(bounds: impl RangeBounds<T> + Clone, of: &'static str) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display,
{
    let of_bounds = match (bounds.start_bound(), bounds.end_bound()) {
        (Bound::Included(least), Bound::Included(most)) => format!("from {least} to {most}"),
        (Bound::Included(least), _) => format!("{least} or more"),
        _ => "any".to_owned(),
    };
    let expected = format!("expected a whole number{of}, {of_bounds}");
    move |text| text.parse().ok().filter(|number| bounds.contains(number)).ok_or_else(|| expected.clone())
}

/// A day is longer than anything that somebody waits for.
pub const DAY_S: u64 = 24 * 3600;
/// What `whole` counts, with an example: units such as `10M` are not understood.
pub const BITS_PER_SECOND: &str = " of bit/s (1000000000 is 1 Gbit/s)";
/// As `BITS_PER_SECOND`.
pub const BYTES: &str = " of bytes (1000000000 is 1 GB)";
/// As `BITS_PER_SECOND`.
pub const SECONDS: &str = " of seconds";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_whole_number_is_told_bounds_and_unit() {
        let rate = whole(1_u64.., BITS_PER_SECOND);
        assert_eq!(rate("10000000"), Ok(10_000_000));
        for wrong in ["10M", "0", "-1", "1.5", "", "18446744073709551616"] {
            let said = rate(wrong).unwrap_err();
            let expected = "expected a whole number of bit/s (1000000000 is 1 Gbit/s), 1 or more";
            assert_eq!(said, expected, "{wrong:?}");
        }
        assert_eq!(
            whole(1..=86_400_u64, SECONDS)("2d").unwrap_err(),
            "expected a whole number of seconds, from 1 to 86400"
        );
        assert_eq!(whole(0..=u16::MAX, "")("http").unwrap_err(), "expected a whole number, from 0 to 65535");
    }
}
