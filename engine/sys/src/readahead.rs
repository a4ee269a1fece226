use std::{fs::File, io, ptr};

use rustix::{
    mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap},
    param::page_size,
};

/// Has the page cache take a part of a file, and waits until it has it (`MADV_POPULATE_READ`); nothing is copied.
///
/// # Errors
/// What `mmap` and `madvise` say: `EFAULT` where the file ends before, `EINVAL` of a kernel before 5.14, `ENODEV` of files
/// that cannot be mapped.
pub fn read_into_cache(file: &File, offset: u64, length: usize) -> io::Result<()> {
    if length == 0 {
        return Ok(());
    }
    let lead = usize::try_from(offset % page_size() as u64).unwrap_or(0);
    let mapped = length.checked_add(lead).ok_or(io::ErrorKind::InvalidInput)?;
    // SAFETY: a new shared mapping at a place of the kernel's choice, which nobody reads: a file that shrinks harms nothing.
    let at = unsafe { mmap(ptr::null_mut(), mapped, ProtFlags::READ, MapFlags::SHARED, file, offset - lead as u64)? };
    // SAFETY: the range is the mapping itself.
    let populated = unsafe { madvise(at, mapped, Advice::LinuxPopulateRead) };
    // SAFETY: likewise; nothing refers to it.
    unsafe { munmap(at, mapped)? };
    Ok(populated?)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_part_of_a_file_is_taken_wherever_it_begins() {
        let mut file = tempfile();
        file.write_all(&vec![7; 3 * page_size() + 1]).unwrap();
        for (offset, length) in [(0, 0), (0, 1), (1, page_size()), (page_size() as u64 + 5, 2 * page_size() - 4)] {
            read_into_cache(&file, offset, length).unwrap();
        }
    }

    #[test]
    fn what_lies_behind_the_end_of_a_file_is_an_error_and_no_signal() {
        let mut file = tempfile();
        file.write_all(&[7; 10]).unwrap();
        let error = read_into_cache(&file, 0, 2 * page_size()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EFAULT));
    }

    /// A file without a name.
    fn tempfile() -> File {
        use rustix::fs::{MemfdFlags, memfd_create};
        memfd_create("flowsweep", MemfdFlags::CLOEXEC).unwrap().into()
    }
}
