//! Memory that the kernel has to find before it matters.

use std::hint::black_box;

/// At most the size of a page of any processor that Linux runs on: more often than needed does no harm.
const PAGE_BYTES: usize = 4096;

/// Writes to all pages of a buffer, and changes nothing in it. Memory that nobody has written to does not exist: the kernel
/// finds and clears it when something arrives there first, 2 MiB at once where the allocator asks for huge pages, which
/// takes 3 ms in some virtual machines. What waited meanwhile reaches pages deeper in the buffer, and takes longer still.
pub fn touch(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().step_by(PAGE_BYTES) {
        *byte = black_box(*byte);
    }
    if let Some(last) = bytes.last_mut() {
        *last = black_box(*last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Page faults of this thread so far that needed no disk.
    fn faults() -> i64 {
        // SAFETY: a rusage of zeroes is a valid one.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live rusage.
        assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) }, 0);
        usage.ru_minflt
    }

    fn faults_of_filling(bytes: &mut [u8]) -> i64 {
        let before = faults();
        black_box(bytes).fill(1);
        faults() - before
    }

    #[test]
    fn what_was_touched_is_there_and_what_it_held_too() {
        const LENGTH: usize = 64 << 20;
        let mut untouched = vec![0; LENGTH];
        let mut touched = vec![0; LENGTH];
        touched[PAGE_BYTES] = 7;
        touch(&mut touched);
        assert_eq!((touched[PAGE_BYTES], touched[0], touched[LENGTH - 1]), (7, 0, 0));
        let (late, early) = (faults_of_filling(&mut untouched), faults_of_filling(&mut touched));
        // Of 16 384 pages, or 32 huge ones.
        assert!(late >= 32, "{late} faults where nothing was touched");
        assert!(early < late / 4, "{early} faults of {late}");
    }
}
