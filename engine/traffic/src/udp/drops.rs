//! How many datagrams a socket has dropped.

use std::os::fd::AsRawFd;

/// All of them, though the kernel's counter is one of 32 bits: read often enough, it goes around once between, at most.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drops {
    read: u32,
    all: u64,
}

impl Drops {
    /// How many there were so far; absent if the kernel does not tell.
    pub fn read(&mut self, socket: &impl AsRawFd) -> Option<u64> {
        sys::socket_drops(socket).ok().map(|read| self.go_on(read))
    }

    fn go_on(&mut self, read: u32) -> u64 {
        self.all += u64::from(read.wrapping_sub(self.read));
        self.read = read;
        self.all
    }
}

#[cfg(test)]
impl Drops {
    /// As many as there were when they were last read.
    pub fn last(self) -> u64 {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_begins_again_goes_on() {
        let mut drops = Drops::default();
        let all = [0, 7, 7, 3_000_000_000, 2_000_000_000, 1_999_999_999].map(|read| drops.go_on(read));
        let around = 1 << 32;
        assert_eq!(all, [0, 7, 7, 3_000_000_000, around + 2_000_000_000, 2 * around + 1_999_999_999]);
    }
}
