//! CPU time of the host's cores, from `/proc/stat` (`proc_stat(5)`).

use std::{
    fs::File,
    io::{self, Read, Seek},
};

/// CPU time of one core since the host began, in the kernel's ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreTicks {
    /// Number of the core.
    pub core: u32,
    /// In user mode, at low priority and of guests included.
    pub user: u64,
    /// In the kernel.
    pub system: u64,
    /// With nothing to do, waiting for a disk included.
    pub idle: u64,
    /// In hardware interrupts.
    pub irq: u64,
    /// In software interrupts.
    pub softirq: u64,
    /// Taken by the hypervisor.
    pub steal: u64,
}

/// `/proc/stat`, kept open.
#[derive(Debug)]
pub struct Cores {
    file: File,
    text: String,
}

impl Cores {
    /// Opens the file.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open() -> io::Result<Self> {
        Ok(Self { file: File::open("/proc/stat")?, text: String::new() })
    }

    /// Reads all cores that are there now.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(&mut self) -> io::Result<Vec<CoreTicks>> {
        self.text.clear();
        self.file.rewind()?;
        self.file.read_to_string(&mut self.text)?;
        Ok(parse(&self.text))
    }
}

fn parse(text: &str) -> Vec<CoreTicks> {
    // The first line is the sum of the cores, their lines follow it.
    text.lines().skip(1).map_while(|line| line.strip_prefix("cpu")).filter_map(core).collect()
}

fn core(line: &str) -> Option<CoreTicks> {
    let mut words = line.split_ascii_whitespace();
    let core = words.next()?.parse().ok()?;
    let mut ticks = words.map_while(|word| word.parse::<u64>().ok());
    let (user, nice, system, idle) = (ticks.next()?, ticks.next()?, ticks.next()?, ticks.next()?);
    let mut later = || ticks.next().unwrap_or(0);
    let (iowait, irq, softirq, steal) = (later(), later(), later(), later());
    Some(CoreTicks { core, user: user + nice, system, idle: idle + iowait, irq, softirq, steal })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "cpu  30 2 40 500 6 7 8 9 10 11\n\
                        cpu0 10 1 20 200 3 4 5 6 7 8\n\
                        cpu12 20 1 20 300\n\
                        intr 12345 0 9\nctxt 99\ncpus 3\n";

    #[test]
    fn each_core_is_read_and_what_an_old_kernel_lacks_is_nothing() {
        let first = CoreTicks { core: 0, user: 11, system: 20, idle: 203, irq: 4, softirq: 5, steal: 6 };
        let second = CoreTicks { core: 12, user: 21, system: 20, idle: 300, ..CoreTicks::default() };
        assert_eq!(parse(TEXT), [first, second]);
    }

    #[test]
    fn what_is_no_core_is_left_out() {
        for text in ["", "cpu 1 2", "cpu 1\ncpux 1 2 3 4\n", "cpu 1\ncpu0 1 2 3\n", "cpu 1\ncpu0 1 2 3 -4\n"] {
            assert_eq!(parse(text), []);
        }
    }

    #[test]
    fn this_host_has_a_core_and_the_file_can_be_read_again() {
        let mut cores = Cores::open().unwrap();
        assert!(!cores.read().unwrap().is_empty());
        assert!(!cores.read().unwrap().is_empty());
    }
}
