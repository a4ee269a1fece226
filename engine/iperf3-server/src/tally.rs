//! What a stream has carried so far: written by its thread, read by the test's.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one stream, on a cache line of their own.
#[derive(Default)]
#[repr(align(128))]
pub struct Tally {
    bytes: AtomicU64,
    packets: AtomicU64,
    missing: AtomicU64,
    reordered: AtomicU64,
    duplicates: AtomicU64,
    jitter_ns: AtomicU64,
}

/// What a stream had carried at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Written, or read; without duplicates of datagrams.
    pub bytes: u64,
    /// Datagrams sent, or the highest number received.
    pub packets: u64,
    /// Numbers below that one that were not received.
    pub missing: u64,
    /// Datagrams received after a higher number.
    pub reordered: u64,
    /// Duplicates of datagrams.
    pub duplicates: u64,
    /// Interarrival jitter (RFC 1889).
    pub jitter_ns: u64,
}

impl Tally {
    /// So many more bytes.
    #[inline]
    pub fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// All of it, from the only thread that counts.
    pub fn set(&self, count: Count) {
        let Count { bytes, packets, missing, reordered, duplicates, jitter_ns } = count;
        let pairs = [
            (&self.bytes, bytes),
            (&self.packets, packets),
            (&self.missing, missing),
            (&self.reordered, reordered),
            (&self.duplicates, duplicates),
            (&self.jitter_ns, jitter_ns),
        ];
        for (counter, value) in pairs {
            counter.store(value, Ordering::Relaxed);
        }
    }

    /// What it is now.
    pub fn count(&self) -> Count {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Count {
            bytes: read(&self.bytes),
            packets: read(&self.packets),
            missing: read(&self.missing),
            reordered: read(&self.reordered),
            duplicates: read(&self.duplicates),
            jitter_ns: read(&self.jitter_ns),
        }
    }
}
