//! The limit of a connection's rate, kept by what its streams carry, all together.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::time::sleep;
use traffic::pacing::{Gap, Schedule};

use crate::defaults::RATE_BURST;

/// Whoever has carried something waits until it was due.
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

    /// So many bytes were carried: waits until the next ones may be.
    pub async fn carried(&self, bytes: u64) {
        let Some(schedule) = &self.schedule else { return };
        let now_ns = nanoseconds(self.begin.elapsed());
        let due_ns = {
            let mut schedule = schedule.lock().unwrap_or_else(PoisonError::into_inner);
            schedule.put_off(now_ns, nanoseconds(RATE_BURST));
            schedule.sent(bytes);
            schedule.due_ns()
        };
        sleep(Duration::from_nanos(due_ns.saturating_sub(now_ns))).await;
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
