use std::{fs::File, io, os::fd::AsRawFd};

/// Has the kernel begin to write a part of a file to the disk, and waits for nothing (`sync_file_range(2)`): a later sync
/// finds less to do.
///
/// # Errors
/// What the call says. A file system without a disk may have no use for it.
pub fn begin_writeback(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let wide = |number| libc::off64_t::try_from(number).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
    let (offset, length) = (wide(offset)?, wide(length)?);
    // SAFETY: a call with numbers only, on a descriptor that is open for as long as `file` is borrowed.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), offset, length, libc::SYNC_FILE_RANGE_WRITE) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
