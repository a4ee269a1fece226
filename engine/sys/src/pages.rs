use std::{
    ffi::c_void,
    io,
    ops::{Deref, DerefMut},
    os::fd::AsFd,
    ptr, slice,
    sync::Arc,
};

use rustix::{
    mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap},
    pipe::{IoSliceRaw, SpliceFlags, vmsplice},
};

const HUGE_PAGE_BYTES: usize = 2 << 20;

/// Zeroed memory in huge pages where the kernel has them to give, for buffers that the kernel copies from and to.
#[derive(Debug)]
pub struct Pages {
    mapping: *mut c_void,
    mapping_bytes: usize,
    bytes: *mut u8,
    length: usize,
}

/// Memory that cannot be written any more: not by this process either, until the last page is given back.
#[derive(Debug)]
pub struct ConstantPages(Pages);

/// A part of [`Pages`], which belongs to whoever has it. The memory is given back with the last part.
#[derive(Debug)]
pub struct PagesPart {
    bytes: *mut u8,
    length: usize,
    /// Nothing else refers to it any more.
    _whole: Arc<Pages>,
}

impl Pages {
    /// Maps `length` bytes, which begin at a huge page's boundary.
    ///
    /// # Errors
    /// What `mmap` says: there is not so much memory.
    pub fn new(length: usize) -> io::Result<Self> {
        let whole = length.checked_next_multiple_of(HUGE_PAGE_BYTES).filter(|_| length > 0);
        let whole = whole.ok_or(io::ErrorKind::InvalidInput)?;
        let mapping_bytes = whole.checked_add(HUGE_PAGE_BYTES).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: a new private mapping at a place of the kernel's choice; it touches no memory that is in use.
        let mapping = unsafe {
            mmap_anonymous(ptr::null_mut(), mapping_bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)?
        };
        let lead = mapping.align_offset(HUGE_PAGE_BYTES).min(HUGE_PAGE_BYTES);
        // SAFETY: `lead` is at most one huge page, by which the mapping is longer than what begins there.
        let bytes = unsafe { mapping.cast::<u8>().add(lead) };
        // SAFETY: the range lies within the mapping. Without huge pages the kernel refuses, and small ones do as well.
        let _ = unsafe { madvise(bytes.cast(), whole, Advice::LinuxHugepage) };
        Ok(Self { mapping, mapping_bytes, bytes, length })
    }

    /// Divides the memory into parts of `length` bytes; what is left over is in none.
    #[must_use]
    pub fn into_parts(self, length: usize) -> Vec<PagesPart> {
        let (first, count) = (self.bytes, self.length / length.max(1));
        let whole = Arc::new(self);
        let part = |place| PagesPart {
            // SAFETY: `count` parts of `length` bytes lie within the memory, and this one is the `place`th of them.
            bytes: unsafe { first.add(place * length) },
            length,
            _whole: whole.clone(),
        };
        (0..count).map(part).collect()
    }

    /// Makes the memory read-only for good.
    ///
    /// # Errors
    /// What `mprotect` says.
    pub fn freeze(self) -> io::Result<ConstantPages> {
        // SAFETY: the range is the mapping itself; nothing else refers to it, since `self` was moved here.
        unsafe { mprotect(self.mapping, self.mapping_bytes, MprotectFlags::READ)? };
        Ok(ConstantPages(self))
    }
}

impl Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `length` bytes from `bytes` are mapped, zeroed or written, for as long as `self` lives.
        unsafe { slice::from_raw_parts(self.bytes, self.length) }
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; `&mut self` is the only reference, and a `Pages` is always writable.
        unsafe { slice::from_raw_parts_mut(self.bytes, self.length) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping is `self`'s own; pages that a socket still refers to stay with the kernel.
        let _ = unsafe { munmap(self.mapping, self.mapping_bytes) };
    }
}

// SAFETY: the memory belongs to the value alone, like a `Vec`'s.
unsafe impl Send for Pages {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for Pages {}

impl Deref for PagesPart {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `length` bytes from `bytes` are mapped for as long as `_whole` lives, and in no other part.
        unsafe { slice::from_raw_parts(self.bytes, self.length) }
    }
}

impl DerefMut for PagesPart {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`; `&mut self` is the only reference to these bytes, since nobody refers to the whole.
        unsafe { slice::from_raw_parts_mut(self.bytes, self.length) }
    }
}

// SAFETY: the bytes belong to the part alone; what gives the memory back needs no thread in particular.
unsafe impl Send for PagesPart {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for PagesPart {}

impl ConstantPages {
    /// Puts references to the first `length` bytes, less `from`, into a pipe, without copying them; returns how many bytes
    /// went in.
    ///
    /// # Errors
    /// What `vmsplice` says.
    pub fn lend(&self, from: usize, length: usize, pipe: impl AsFd) -> io::Result<usize> {
        let part = self.0.get(from..length).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let lent = [IoSliceRaw::from_slice(part)];
        // SAFETY: the kernel reads the pages after the call has returned; they are read-only, so nobody changes them, and
        // the kernel's references keep them when they are unmapped.
        Ok(unsafe { vmsplice(pipe, &lent, SpliceFlags::NONBLOCK)? })
    }
}

impl Deref for ConstantPages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, pipe};

    use super::*;

    #[test]
    fn pages_begin_at_a_huge_page_and_can_be_written() {
        let mut pages = Pages::new(3 << 20).unwrap();
        assert_eq!(pages.as_ptr() as usize % HUGE_PAGE_BYTES, 0);
        assert_eq!(pages.len(), 3 << 20);
        assert!(pages.iter().all(|&byte| byte == 0));
        pages.fill(7);
        assert_eq!(pages[(3 << 20) - 1], 7);
    }

    #[test]
    fn parts_are_apart_and_outlive_each_other_on_any_thread() {
        let mut parts = Pages::new(10_001).unwrap().into_parts(2_500);
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [2_500; 4]);
        for (part, value) in parts.iter_mut().zip(1..) {
            part.fill(value);
        }
        let last = parts.pop().unwrap();
        std::thread::spawn(move || assert!(last.iter().all(|&byte| byte == 4))).join().unwrap();
        let second = parts.remove(1);
        drop(parts);
        assert!(second.iter().all(|&byte| byte == 2));
    }

    #[test]
    fn no_memory_at_all_is_refused() {
        for length in [0, usize::MAX - HUGE_PAGE_BYTES, usize::MAX] {
            assert!(Pages::new(length).is_err(), "{length}");
        }
    }

    #[test]
    fn what_is_lent_arrives_even_when_the_lender_is_gone() {
        let (mut reader, writer) = pipe().unwrap();
        let mut pages = Pages::new(8192).unwrap();
        pages.fill(42);
        let constant = pages.freeze().unwrap();
        assert_eq!(constant.lend(4096, 8192, &writer).unwrap(), 4096);
        assert!(constant.lend(0, 8193, &writer).is_err());
        drop((constant, writer));
        let mut arrived = Vec::new();
        reader.read_to_end(&mut arrived).unwrap();
        assert_eq!(arrived, [42; 4096]);
    }
}
