//! The table `storage`: one row is what one flow did with files and with the network, one end, one sample interval.

use crate::{
    defaults::SAMPLES_MAX_BYTES,
    samples::{Column, Record, Tabular, record},
};

/// What the two threads of a flow count, all since the origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Read from files, or written to them.
    pub storage_bytes: u64,
    /// Sent or received, headers of blocks left out.
    pub network_bytes: u64,
    /// Of files that the disk has.
    pub synced_bytes: u64,
    /// Files that are whole.
    pub files: u64,
    /// In calls that read, write or sync.
    pub storage_call_ns: u64,
    /// Of that, in calls that sync.
    pub sync_call_ns: u64,
    /// In calls that send or receive.
    pub network_call_ns: u64,
    /// That the thread of the network waited for the one of the files.
    pub waits_for_storage_ns: u64,
    /// That the thread of the files waited for the one of the network.
    pub waits_for_network_ns: u64,
    /// CPU time of the thread of the files.
    pub storage_cpu_us: u64,
}

/// How many numbers those are.
pub const COUNTS: usize = 10;

impl Counts {
    /// In the order of the columns.
    #[must_use]
    pub fn to_array(self) -> [u64; COUNTS] {
        [
            self.storage_bytes,
            self.network_bytes,
            self.synced_bytes,
            self.files,
            self.storage_call_ns,
            self.sync_call_ns,
            self.network_call_ns,
            self.waits_for_storage_ns,
            self.waits_for_network_ns,
            self.storage_cpu_us,
        ]
    }
}

/// Name, unit and meaning.
const COLUMNS: [(&str, &str, &str); COUNTS] = [
    ("storage_bytes", "bytes", "Read from files by a source, written to files by a sink."),
    ("network_bytes", "bytes", "Of files, sent by a source or received by a sink. Headers of blocks are left out."),
    (
        "synced_bytes",
        "bytes",
        "Of files that a sink has had the kernel write to the disk, when the call returned. 0 at a source, and where the \
         trial syncs nothing.",
    ),
    ("files", "files", "Files of which this flow wrote the last missing byte. 0 at a source."),
    (
        "storage_call_ns",
        "ns",
        "Time in calls that read, write, or have the kernel write to the disk. A call counts when it returns, so that a \
         long one may exceed the interval.",
    ),
    ("sync_call_ns", "ns", "The part of `storage_call_ns` in calls that have the kernel write files to the disk."),
    ("network_call_ns", "ns", "Time in calls that send or receive. A call counts when it returns."),
    (
        "waits_for_storage_ns",
        "ns",
        "Time for which the flow's network thread waited for its storage thread: at a source nothing had been read that \
         could be sent, at a sink all buffers were full of what had not been written.",
    ),
    (
        "waits_for_network_ns",
        "ns",
        "Time for which the flow's storage thread waited for its network thread: at a source all buffers were full of what \
         had not been sent, at a sink nothing had been received that could be written.",
    ),
    ("storage_cpu_us", "us", "CPU time of the flow's storage thread. The table cpu has that of its network thread."),
];

/// One flow, one sample interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageRow {
    /// Index of the flow.
    pub flow: u32,
    /// Beginning of the flow's sample.
    pub start_ns: i64,
    /// End of the flow's sample.
    pub end_ns: i64,
    /// In the order of the columns.
    pub counts: [u64; COUNTS],
}

record!(StorageRow { flow: u32, start_ns: i64, end_ns: i64, counts: [u64; COUNTS] });

impl Record for StorageRow {
    const LOG_MAX_BYTES: u64 = SAMPLES_MAX_BYTES;
}

impl Tabular for StorageRow {
    const TABLE: &'static str = "storage";
    const TITLE: &'static str =
        "Storage: one row is what one flow did with files and network, one end, one sample interval";

    fn columns() -> Vec<Column<Self>> {
        let keys = [Column::role("Which end saw this: source or sink."), Column::flow(|row: &Self| row.flow)];
        let bounds = Column::bounds_of_sample(|row: &Self| row.start_ns, |row: &Self| row.end_ns);
        let counts = COLUMNS.into_iter().enumerate().map(|(index, (name, unit, meaning))| {
            Column::int64(name, unit, meaning, move |row: &Self| row.counts[index].cast_signed())
        });
        keys.into_iter().chain(bounds).chain(counts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::assert_kept;

    #[test]
    fn a_row_survives_its_record() {
        let counts = Counts { storage_bytes: 1, storage_cpu_us: u64::MAX >> 1, ..Counts::default() }.to_array();
        let row = StorageRow { flow: 3, start_ns: -1, end_ns: i64::MAX, counts };
        assert_kept(&[row]);
    }
}
