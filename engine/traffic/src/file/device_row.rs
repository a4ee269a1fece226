//! The table `devices`: one row is the block device below a trial's folder, one end, one sample interval.

use crate::{
    defaults::SAMPLES_MAX_BYTES,
    samples::{Column, Record, Tabular, record},
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

impl DeviceRow {
    /// What people call the file system.
    fn file_system_name(&self) -> &'static str {
        let known = FILE_SYSTEMS.iter().find(|(number, _)| *number == self.file_system);
        known.map_or("another", |(_, name)| name)
    }
}

record!(DeviceRow {
    start_ns: i64,
    end_ns: i64,
    device: Option<(u32, u32)>,
    file_system: u64,
    read_bytes: u64,
    written_bytes: u64,
    busy_us: u64,
    queued_us: u64,
    requests: u64,
    dirty_bytes: Option<u64>,
    writeback_bytes: Option<u64>,
});

impl Record for DeviceRow {
    const LOG_MAX_BYTES: u64 = SAMPLES_MAX_BYTES;
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
    use crate::samples::assert_kept;

    #[test]
    fn a_row_survives_its_record() {
        let whole = DeviceRow { start_ns: -1, device: Some((7, 0)), dirty_bytes: Some(3), ..DeviceRow::default() };
        assert_kept(&[whole, DeviceRow { device: None, writeback_bytes: None, ..whole }]);
    }
}
