//! CPU time of the threads of files, which flows' meters do not see.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use sys::ThreadCpu;
use wire::CpuTime;

use crate::{flow::cpu_since, time::microseconds};

/// What the calling thread uses since it began.
pub struct StorageCpu<'c> {
    before: Option<ThreadCpu>,
    began: Instant,
    counter: &'c AtomicU64,
}

impl<'c> StorageCpu<'c> {
    /// From now on.
    pub fn begin(counter: &'c AtomicU64) -> Self {
        Self { before: sys::thread_cpu().ok(), began: Instant::now(), counter }
    }

    /// Tells the sampler.
    pub fn tell(&self) {
        let (Some(before), Ok(now)) = (self.before, sys::thread_cpu()) else { return };
        let used = (now.user + now.system).saturating_sub(before.user + before.system);
        self.counter.store(microseconds(used), Ordering::Release);
    }

    /// All of it.
    pub fn end(&self) -> CpuTime {
        self.tell();
        cpu_since(self.before, self.began)
    }
}

/// Of both threads of a flow, as long as the one of the network ran.
pub fn sum(network: CpuTime, storage: CpuTime) -> CpuTime {
    CpuTime {
        user_us: network.user_us + storage.user_us,
        system_us: network.system_us + storage.system_us,
        elapsed_us: network.elapsed_us,
        voluntary_switches: network.voluntary_switches + storage.voluntary_switches,
        involuntary_switches: network.involuntary_switches + storage.involuntary_switches,
    }
}
