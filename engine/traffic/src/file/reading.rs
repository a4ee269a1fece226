//! Parts of files, read into a buffer or into the page cache.

use std::{fs::File, io, os::unix::fs::FileExt};

use rustix::io::Errno;

/// Reads at least so many bytes of a file, from an offset on, into a part of memory.
pub type ReadFile = fn(&File, &mut [u8], u64, usize) -> io::Result<()>;

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
    unless_unable(sys::read_into_cache(file, offset, length), || read_at_least(file, part, offset, length))
}

/// What the page cache could not take is read. `EFAULT` stands for a file that has shrunk and for a disk that fails: which
/// of them it is, a read says.
fn unless_unable(fetched: io::Result<()>, read: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    match fetched {
        Err(error) if is_one_of(&error, &[Errno::INVAL, Errno::NODEV, Errno::FAULT]) => read(),
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_disk_that_fails_is_not_said_to_be_a_file_that_has_shrunk() {
        let failed = |errno: Errno| io::Error::from(errno);
        let said = unless_unable(Err(failed(Errno::FAULT)), || Err(failed(Errno::IO)));
        assert_eq!(said.unwrap_err().raw_os_error(), Some(Errno::IO.raw_os_error()));
        let other = unless_unable(Err(failed(Errno::NOMEM)), || Ok(()));
        assert_eq!(other.unwrap_err().raw_os_error(), Some(Errno::NOMEM.raw_os_error()));
    }

    #[test]
    fn a_file_that_has_shrunk_is_said_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        File::create(&path).unwrap().write_all(&[7; 10_000]).unwrap();
        let file = File::open(&path).unwrap();
        let mut part = vec![0; 20_000];
        fetch(&file, &mut part, 0, 10_000).unwrap();
        let error = fetch(&file, &mut part, 0, 20_000).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{error}");
    }
}
