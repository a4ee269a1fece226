//! What the kernel counts of a block device and of dirty pages.

use std::fs;

use super::{device_row::DeviceRow, folder::Folder};

const SECTOR_BYTES: u64 = 512;
const DISKSTATS: &str = "/proc/diskstats";
const MEMINFO: &str = "/proc/meminfo";

/// The device below a folder, and what it had counted when it was last looked at.
pub struct Device {
    numbers: Option<(u32, u32)>,
    file_system: u64,
    before: Option<Totals>,
    looked_ns: i64,
}

/// Since the host started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Totals {
    read_bytes: u64,
    written_bytes: u64,
    busy_ms: u64,
    queued_ms: u64,
    requests: u64,
}

impl Device {
    /// The one below a folder, from the origin on.
    pub fn below(folder: &Folder) -> Self {
        let before = folder.device.and_then(read_totals);
        // A device of which the kernel counts nothing is none.
        let numbers = folder.device.filter(|_| before.is_some());
        Self { numbers, file_system: folder.file_system, before, looked_ns: 0 }
    }

    /// What was since the last look.
    pub fn look(&mut self, now_ns: i64) -> Option<DeviceRow> {
        if now_ns <= self.looked_ns {
            return None;
        }
        let now = self.numbers.and_then(read_totals);
        let memory = fs::read_to_string(MEMINFO).unwrap_or_default();
        let mut row = DeviceRow {
            start_ns: self.looked_ns,
            end_ns: now_ns,
            file_system: self.file_system,
            dirty_bytes: memory_bytes(&memory, "Dirty:"),
            writeback_bytes: memory_bytes(&memory, "Writeback:"),
            ..DeviceRow::default()
        };
        if let (Some(before), Some(now)) = (self.before, now) {
            row.device = self.numbers;
            row.read_bytes = now.read_bytes.saturating_sub(before.read_bytes);
            row.written_bytes = now.written_bytes.saturating_sub(before.written_bytes);
            row.busy_us = risen_ms(before.busy_ms, now.busy_ms) * 1000;
            row.queued_us = risen_ms(before.queued_ms, now.queued_ms) * 1000;
            row.requests = now.requests;
        }
        self.before = now;
        self.looked_ns = now_ns;
        Some(row)
    }
}

/// The kernel counts these milliseconds in 32 bits (Documentation/admin-guide/iostats.rst).
fn risen_ms(before: u64, now: u64) -> u64 {
    now.wrapping_sub(before) & u64::from(u32::MAX)
}

fn read_totals((major, minor): (u32, u32)) -> Option<Totals> {
    totals(&fs::read_to_string(DISKSTATS).ok()?, major, minor)
}

/// A line of `/proc/diskstats` (Documentation/admin-guide/iostats.rst).
fn totals(text: &str, major: u32, minor: u32) -> Option<Totals> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let numbers = (words.next()?.parse::<u32>().ok()?, words.next()?.parse::<u32>().ok()?);
        if numbers != (major, minor) {
            return None;
        }
        let fields: Vec<u64> = words.skip(1).map_while(|word| word.parse().ok()).collect();
        let field = |index: usize| fields.get(index).copied();
        Some(Totals {
            read_bytes: field(2)? * SECTOR_BYTES,
            written_bytes: field(6)? * SECTOR_BYTES,
            requests: field(8)?,
            busy_ms: field(9)?,
            queued_ms: field(10)?,
        })
    })
}

fn memory_bytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_that_the_kernel_counts_in_32_bits_go_on_beyond_them() {
        assert_eq!(risen_ms(40, 70), 30);
        assert_eq!(risen_ms(u64::from(u32::MAX) - 9, 20), 30);
    }

    #[test]
    fn a_device_is_found_by_its_numbers() {
        let text = "   7       0 loop0 1 0 8 3 2 0 16 4 5 60 70 0 0 0 0 0 0\n 254       0 vda 9 0 9 9 9 9 9 9 9 9 9\n";
        let expected = Totals { read_bytes: 8 * 512, written_bytes: 16 * 512, requests: 5, busy_ms: 60, queued_ms: 70 };
        assert_eq!(totals(text, 7, 0), Some(expected));
        assert_eq!(totals(text, 7, 1), None);
        assert_eq!(totals("7 0 loop0 1 2", 7, 0), None);
    }

    #[test]
    fn memory_is_told_in_kilobytes() {
        assert_eq!(memory_bytes("MemFree: 1 kB\nDirty:             12 kB\n", "Dirty:"), Some(12 << 10));
        assert_eq!(memory_bytes("MemFree: 1 kB\n", "Dirty:"), None);
    }
}
