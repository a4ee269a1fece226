//! The table `devices`: one row is the block device below a trial's folder, one end, one sample interval.

use crate::{
    defaults::SAMPLES_MAX_BYTES,
    samples::{Column, Record, Tabular, take},
};

/// What the kernel says of a block device (`/proc/diskstats`) and of all files (`/proc/meminfo`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceRow {
    /// Beginning of the interval.
    pub start_ns: i64,
    /// End of the interval.
    pub end_ns: i64,
    /// Major and minor number of the device; none where files lie on none.
    pub device: Option<(u32, u32)>,
    /// Kind of the file system, as `statfs` says it.
    pub file_system: u64,
    /// Read from the device.
    pub read_bytes: u64,
    /// Written to the device.
    pub written_bytes: u64,
    /// That the device had something to do.
    pub busy_us: u64,
    /// Of all requests, that they were with the device or waited for it.
    pub queued_us: u64,
    /// Requests at the end of the interval.
    pub requests: u64,
    /// Of all files of the host, what the disk does not have yet.
    pub dirty_bytes: Option<u64>,
    /// And what is on its way to the disk.
    pub writeback_bytes: Option<u64>,
}

/// Numbers of file systems (statfs(2)), and what people call them.
const FILE_SYSTEMS: [(u64, &str); 14] = [
    (0xef53, "ext2/ext3/ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0x2fc1_2fc1, "zfs"),
    (0xf2f5_2010, "f2fs"),
    (0x794c_7630, "overlay"),
    (0x6969, "nfs"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x6573_5546, "fuse"),
    (0x0bd0_0bd0, "lustre"),
    (0x4750_4653, "gpfs"),
];

const ABSENT: u64 = u64::MAX;

impl DeviceRow {
    /// What people call the file system.
    fn file_system_name(&self) -> &'static str {
        let known = FILE_SYSTEMS.iter().find(|(number, _)| *number == self.file_system);
        known.map_or("another", |(_, name)| name)
    }
}

impl Record for DeviceRow {
    const BYTES: usize = 2 * 8 + 2 * 4 + 8 * 8;
    const LOG_MAX_BYTES: u64 = SAMPLES_MAX_BYTES;

    fn encode(&self, record: &mut Vec<u8>) {
        let (major, minor) = self.device.unwrap_or((u32::MAX, u32::MAX));
        record.extend(self.start_ns.to_le_bytes());
        record.extend(self.end_ns.to_le_bytes());
        record.extend(major.to_le_bytes());
        record.extend(minor.to_le_bytes());
        let numbers = [
            self.file_system,
            self.read_bytes,
            self.written_bytes,
            self.busy_us,
            self.queued_us,
            self.requests,
            self.dirty_bytes.unwrap_or(ABSENT),
            self.writeback_bytes.unwrap_or(ABSENT),
        ];
        record.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    fn decode(mut record: &[u8]) -> Self {
        let rest = &mut record;
        let (start_ns, end_ns) = (i64::from_le_bytes(take(rest)), i64::from_le_bytes(take(rest)));
        let device = (u32::from_le_bytes(take(rest)), u32::from_le_bytes(take(rest)));
        let [file_system, read_bytes, written_bytes, busy_us, queued_us, requests, dirty, writeback] =
            [(); 8].map(|()| u64::from_le_bytes(take(rest)));
        Self {
            start_ns,
            end_ns,
            device: Some(device).filter(|device| *device != (u32::MAX, u32::MAX)),
            file_system,
            read_bytes,
            written_bytes,
            busy_us,
            queued_us,
            requests,
            dirty_bytes: Some(dirty).filter(|&bytes| bytes != ABSENT),
            writeback_bytes: Some(writeback).filter(|&bytes| bytes != ABSENT),
        }
    }
}

impl Tabular for DeviceRow {
    const TABLE: &'static str = "devices";
    const TITLE: &'static str = "Devices: one row is the block device below the files, one end, one sample interval";

    fn columns() -> Vec<Column<Self>> {
        let of_device = |name, unit, meaning, value: fn(&Self) -> u64| {
            let value = move |row: &Self| row.device.map(|_| value(row).cast_signed());
            Column::int64_if_any(name, unit, meaning, value)
        };
        vec![
            Column::role("Which end saw this: source or sink."),
            Column::int64("start_ns", "ns", "Beginning of the interval, since this end's origin.", |row: &Self| {
                row.start_ns
            }),
            Column::int64("end_ns", "ns", "End of the interval, exclusive, since this end's origin.", |row: &Self| {
                row.end_ns
            }),
            Column::text_if_any(
                "device",
                "Major and minor number of the block device, as in /proc/diskstats. Absent where the kernel counts none for \
                 this file system: one in memory or in the network, or one over several devices.",
                |row: &Self| row.device.map(|(major, minor)| format!("{major}:{minor}").into()),
            ),
            Column::text("file_system", "Kind of the file system, by its number in statfs(2).", Self::file_system_name),
            of_device("read_bytes", "bytes", "Read from the device, by whomever.", |row| row.read_bytes),
            of_device("written_bytes", "bytes", "Written to the device, by whomever.", |row| row.written_bytes),
            of_device("busy_us", "us", "Time for which the device had requests.", |row| row.busy_us),
            of_device(
                "queued_us",
                "us",
                "Time that requests spent in the device's queue and in the device, summed over requests: divided by the \
                 interval, the mean queue depth.",
                |row| row.queued_us,
            ),
            of_device("requests", "requests", "Requests at the end of the interval.", |row| row.requests)
                .with("kind", "gauge"),
            Column::int64_if_any(
                "dirty_bytes",
                "bytes",
                "Of all files of the host, what waits in memory to be written.",
                |row: &Self| row.dirty_bytes.map(u64::cast_signed),
            )
            .with("kind", "gauge"),
            Column::int64_if_any(
                "writeback_bytes",
                "bytes",
                "Of all files of the host, what is being written.",
                |row: &Self| row.writeback_bytes.map(u64::cast_signed),
            )
            .with("kind", "gauge"),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_survives_its_record() {
        let whole = DeviceRow { start_ns: -1, device: Some((7, 0)), dirty_bytes: Some(3), ..DeviceRow::default() };
        for row in [whole, DeviceRow { device: None, writeback_bytes: None, ..whole }] {
            let mut record = Vec::new();
            row.encode(&mut record);
            assert_eq!(record.len(), DeviceRow::BYTES);
            assert_eq!(DeviceRow::decode(&record), row);
        }
    }
}
