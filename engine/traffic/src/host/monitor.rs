//! The observer of one end of a trial. It has no thread of its own: the end's coordinator lets it look now and then.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use sys::{ThreadCpu, thread_cpu};

use super::{
    ThreadMeter,
    cores::{CoreTicks, Cores},
    counters::Counters,
    cpu_row::{CpuRow, Of},
    meter::ThreadReading,
    throttle::Throttle,
};
use crate::{
    beat::Beat,
    defaults::{MONITOR_INTERVAL_MIN, MONITOR_SHARE},
    samples::Log,
    time::nanoseconds,
};

/// Follows cores and threads, and knows what the host's counters said at the beginning.
pub struct Monitor {
    beat: Beat,
    cores: Option<Cores>,
    ticks_per_s: u64,
    core_marks: Vec<CoreTicks>,
    looked_ns: i64,
    thread_marks: Vec<Option<ThreadReading>>,
    own_mark: Option<ThreadReading>,
    log: Log<CpuRow>,
    counters: Counters,
    throttle: Throttle,
}

/// What was seen of a trial's end.
pub struct Observed {
    /// CPU time of cores and threads.
    pub cpu: Log<CpuRow>,
    /// How much the host's counters rose.
    pub counters: BTreeMap<String, u64>,
    /// How long CPU quotas held the engine back.
    pub throttled_us: Option<u64>,
}

impl Monitor {
    /// Begins just before the flows do, on the coordinator's thread.
    ///
    /// # Arguments
    /// `counters`: what the host had counted before any flow could send; reading them may take a driver long.
    /// `interval`: how often samples are taken; this looks as often, but at most every [`MONITOR_INTERVAL_MIN`].
    /// `now_ns`: since the end's origin.
    pub fn begin(counters: Counters, interval: Duration, threads: usize, now_ns: i64) -> Self {
        let throttle = Throttle::begin();
        let mut cores = Cores::open().ok();
        let core_marks = cores.as_mut().and_then(|cores| cores.read().ok()).unwrap_or_default();
        Self {
            beat: Beat::new(interval.max(MONITOR_INTERVAL_MIN)),
            cores,
            ticks_per_s: rustix::param::clock_ticks_per_second().max(1),
            core_marks,
            looked_ns: now_ns,
            thread_marks: vec![None; threads],
            own_mark: own_reading(now_ns),
            log: Log::new(),
            counters,
            throttle,
        }
    }

    /// How long until the next look is due.
    pub fn due_in(&self, now_ns: i64) -> Duration {
        self.beat.due_in(now_ns)
    }

    /// How long the next look has been due.
    pub fn overdue(&self, now_ns: i64) -> Duration {
        self.beat.overdue(now_ns)
    }

    /// Looks, if it is time. A look that takes long makes the next one wait: of its thread's time it takes no more than
    /// one part in [`MONITOR_SHARE`].
    pub fn look_if_due<'a>(&mut self, now_ns: i64, threads: impl Iterator<Item = (u32, &'a ThreadMeter)>) {
        if !self.beat.is_due(now_ns) {
            return;
        }
        let began = Instant::now();
        self.look(now_ns, threads);
        let cost_ns = nanoseconds(began.elapsed());
        let rested_ns = now_ns + cost_ns.saturating_mul(MONITOR_SHARE);
        self.beat.done(rested_ns.max(now_ns));
    }

    /// Looks a last time, once all flows have ended.
    pub fn end<'a>(mut self, now_ns: i64, threads: impl Iterator<Item = (u32, &'a ThreadMeter)>) -> Observed {
        self.look(now_ns, threads);
        let counters = Counters::read().risen_since(&self.counters);
        Observed { cpu: self.log, counters, throttled_us: self.throttle.risen_us() }
    }

    fn look<'a>(&mut self, now_ns: i64, threads: impl Iterator<Item = (u32, &'a ThreadMeter)>) {
        self.look_at_cores(now_ns);
        let own = own_reading(now_ns);
        self.log_thread(-1, self.own_mark, own);
        self.own_mark = own;
        for (place, (index, meter)) in threads.enumerate().take(self.thread_marks.len()) {
            let reported = meter.reported();
            self.log_thread(i32::try_from(index).unwrap_or(i32::MAX), self.thread_marks[place], reported);
            self.thread_marks[place] = reported;
            meter.request();
        }
    }

    fn look_at_cores(&mut self, now_ns: i64) {
        let read = self.cores.as_mut().and_then(|cores| cores.read().ok()).unwrap_or_default();
        for now in &read {
            // A core that was not there before has nothing to compare with.
            let before = self.core_marks.iter().find(|before| before.core == now.core);
            if let Some(before) = before.filter(|_| now_ns > self.looked_ns) {
                let values = core_values(before, now, self.ticks_per_s);
                let of = Of::Core(now.core.cast_signed());
                self.log.push(&CpuRow { start_ns: self.looked_ns, end_ns: now_ns, of, values });
            }
        }
        self.core_marks = read;
        self.looked_ns = now_ns;
    }

    fn log_thread(&mut self, id: i32, before: Option<ThreadReading>, now: Option<ThreadReading>) {
        let (Some(before), Some(now)) = (before, now) else { return };
        if now.at_ns > before.at_ns {
            let values = thread_values(&before.cpu, &now.cpu);
            self.log.push(&CpuRow { start_ns: before.at_ns, end_ns: now.at_ns, of: Of::Thread(id), values });
        }
    }
}

fn own_reading(at_ns: i64) -> Option<ThreadReading> {
    thread_cpu().ok().map(|cpu| ThreadReading { at_ns, cpu })
}

fn core_values(before: &CoreTicks, now: &CoreTicks, ticks_per_s: u64) -> [Option<u64>; 9] {
    // The kernel's idle time may step back a little.
    let since = |before: u64, now: u64| now.saturating_sub(before) * 1_000_000 / ticks_per_s;
    let (user, system) = (since(before.user, now.user), since(before.system, now.system));
    let (softirq, irq) = (since(before.softirq, now.softirq), since(before.irq, now.irq));
    let (steal, idle) = (since(before.steal, now.steal), since(before.idle, now.idle));
    let busy = user + system + softirq + irq;
    [Some(user), Some(system), Some(softirq), Some(irq), Some(steal), Some(idle), Some(busy), None, None]
}

fn thread_values(before: &ThreadCpu, now: &ThreadCpu) -> [Option<u64>; 9] {
    let since =
        |before: Duration, now: Duration| u64::try_from(now.saturating_sub(before).as_micros()).unwrap_or(u64::MAX);
    let (user, system) = (since(before.user, now.user), since(before.system, now.system));
    let voluntary = now.voluntary_switches.saturating_sub(before.voluntary_switches);
    let involuntary = now.involuntary_switches.saturating_sub(before.involuntary_switches);
    let busy = user + system;
    [Some(user), Some(system), None, None, None, None, Some(busy), Some(voluntary), Some(involuntary)]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: i64 = 1_000_000_000;

    fn rows(log: Log<CpuRow>) -> Vec<CpuRow> {
        log.into_rows().unwrap().1.map(Result::unwrap).collect()
    }

    /// Flows 3 and 4: those before were not established.
    fn of_flows(meters: &[ThreadMeter]) -> impl Iterator<Item = (u32, &ThreadMeter)> {
        (3..).zip(meters)
    }

    #[test]
    fn a_thread_has_rows_from_one_of_its_answers_to_the_next() {
        let meters = [ThreadMeter::default(), ThreadMeter::default()];
        let mut monitor = Monitor::begin(Counters::default(), Duration::from_secs(1), 2, 0);
        meters[0].report(5);
        monitor.look_if_due(SECOND_NS, of_flows(&meters));
        meters[0].report_if_requested(|| 7);
        meters[0].report_if_requested(|| 8);
        monitor.look_if_due(SECOND_NS + 1, of_flows(&meters));
        monitor.look_if_due(2 * SECOND_NS, of_flows(&meters));
        monitor.look_if_due(3 * SECOND_NS, of_flows(&meters));
        let found = rows(monitor.end(4 * SECOND_NS, of_flows(&meters)).cpu);
        let of_flow: Vec<_> = found.iter().filter(|row| row.of == Of::Thread(3)).collect();
        assert_eq!(of_flow.len(), 1, "it waits since it last answered");
        assert_eq!((of_flow[0].start_ns, of_flow[0].end_ns), (5, 7));
        assert!(of_flow[0].values[7].is_some() && of_flow[0].values[2].is_none());
        assert!(!found.iter().any(|row| row.of == Of::Thread(4)), "it never answered");
        let own: Vec<_> = found.iter().filter(|row| row.of == Of::Thread(-1)).map(|row| row.end_ns).collect();
        assert_eq!(own, [1, 2, 3, 4].map(|second| second * SECOND_NS));
        assert!(found.iter().any(|row| matches!(row.of, Of::Core(_)) && row.end_ns - row.start_ns == SECOND_NS));
    }

    #[test]
    fn it_looks_ten_times_a_second_at_most() {
        let monitor = Monitor::begin(Counters::default(), Duration::from_millis(1), 0, 0);
        assert_eq!(monitor.due_in(0), MONITOR_INTERVAL_MIN);
        let monitor = Monitor::begin(Counters::default(), Duration::from_secs(2), 0, 0);
        assert_eq!(monitor.due_in(0), Duration::from_secs(2));
    }

    #[test]
    fn a_cores_ticks_become_microseconds_and_steal_is_not_busy() {
        let now = CoreTicks { core: 0, user: 3, system: 2, idle: 5, irq: 1, softirq: 4, steal: 7 };
        let before = CoreTicks { idle: 6, ..CoreTicks::default() };
        let [user, system, softirq, irq, steal, idle, busy, ..] =
            core_values(&before, &now, 100).map(Option::unwrap_or_default);
        assert_eq!([user, system, softirq, irq, steal, idle], [30_000, 20_000, 40_000, 10_000, 70_000, 0]);
        assert_eq!(busy, 100_000);
    }
}
