//! What the two threads of a flow count while they run.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use super::storage_row::Counts;

/// The counters of one flow. Each is written by one of its threads only.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Counters {
    /// Read or written.
    pub storage_bytes: AtomicU64,
    /// Sent or received.
    pub network_bytes: AtomicU64,
    /// On the disk.
    pub synced_bytes: AtomicU64,
    /// Whole.
    pub files: AtomicU64,
    /// In calls that read, write or sync.
    pub storage_call_ns: AtomicU64,
    /// In calls that sync.
    pub sync_call_ns: AtomicU64,
    /// In calls that send or receive.
    pub network_call_ns: AtomicU64,
    /// The thread of the network waited.
    pub waits_for_storage_ns: AtomicU64,
    /// The thread of the files waited.
    pub waits_for_network_ns: AtomicU64,
    /// CPU time of the thread of the files.
    pub storage_cpu_us: AtomicU64,
}

impl Counters {
    /// All of them, now.
    pub fn read(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        Counts {
            storage_bytes: read(&self.storage_bytes),
            network_bytes: read(&self.network_bytes),
            synced_bytes: read(&self.synced_bytes),
            files: read(&self.files),
            storage_call_ns: read(&self.storage_call_ns),
            sync_call_ns: read(&self.sync_call_ns),
            network_call_ns: read(&self.network_call_ns),
            waits_for_storage_ns: read(&self.waits_for_storage_ns),
            waits_for_network_ns: read(&self.waits_for_network_ns),
            storage_cpu_us: read(&self.storage_cpu_us),
        }
    }
}

/// Counts more.
pub fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::AcqRel);
}

/// Does something, and counts how long it took.
pub fn timed<T>(counter: &AtomicU64, act: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = act();
    add_since(counter, began);
    done
}

/// Counts the time since a moment.
pub fn add_since(counter: &AtomicU64, since: Instant) {
    add(counter, u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX));
}
