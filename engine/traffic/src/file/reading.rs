//! Parts of files, read into a buffer or into the page cache.

use std::{fs::File, io, os::unix::fs::FileExt};

use rustix::io::Errno;

/// Fills at least `length` bytes of `part`.
pub fn read_at_least(file: &File, part: &mut [u8], offset: u64, length: usize) -> io::Result<()> {
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut part[filled..], offset + filled as u64) {
            Ok(0) => return Err(shorter()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Has the page cache take a part of a file; where the kernel cannot be told to, by reading it into `part`.
pub fn fetch(file: &File, part: &mut [u8], offset: u64, length: usize) -> io::Result<()> {
    match sys::read_into_cache(file, offset, length) {
        Err(error) if is_one_of(&error, &[Errno::INVAL, Errno::NODEV]) => read_at_least(file, part, offset, length),
        Err(error) if is_one_of(&error, &[Errno::FAULT]) => Err(shorter()),
        other => other,
    }
}

/// The error where a file has shrunk.
pub fn shorter() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it is shorter than it was")
}

/// The same error with the place at which reading failed.
pub fn cannot_read(file: usize, offset: u64, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot read file {file} from byte {offset} on: {error}"))
}

fn is_one_of(error: &io::Error, these: &[Errno]) -> bool {
    these.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
