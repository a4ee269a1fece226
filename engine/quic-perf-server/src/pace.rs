//! The limit of a connection's rate, kept by what its streams carry, all together.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::time::sleep;
use traffic::pacing::{Gap, Schedule};

use crate::defaults::RATE_BURST;

/// Whoever sends has its bytes granted first, and waits until they are due; what came is counted once it is there.
pub struct Pace {
    begin: Instant,
    schedule: Option<Mutex<Schedule>>,
}

impl Pace {
    /// Of a connection that begins now.
    pub fn new(rate_max_bps: Option<u64>) -> Self {
        let schedule = rate_max_bps.map(|rate_bps| Mutex::new(Schedule::new(Gap::at_rate(1, rate_bps), 0)));
        Self { begin: Instant::now(), schedule }
    }

    /// Waits until so many bytes may be sent: behind all that were granted before, of whichever stream.
    pub async fn granted(&self, bytes: u64) {
        self.wait(|schedule| {
            let due_ns = schedule.due_ns();
            schedule.sent(bytes);
            due_ns
        })
        .await;
    }

    /// So many bytes came: waits until the next ones may.
    pub async fn carried(&self, bytes: u64) {
        self.wait(|schedule| {
            schedule.sent(bytes);
            schedule.due_ns()
        })
        .await;
    }

    async fn wait(&self, until_ns: impl FnOnce(&mut Schedule) -> u64) {
        let Some(schedule) = &self.schedule else { return };
        let now_ns = nanoseconds(self.begin.elapsed());
        let due_ns = {
            let mut schedule = schedule.lock().unwrap_or_else(PoisonError::into_inner);
            schedule.put_off(now_ns, nanoseconds(RATE_BURST));
            until_ns(&mut schedule)
        };
        sleep(Duration::from_nanos(due_ns.saturating_sub(now_ns))).await;
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
