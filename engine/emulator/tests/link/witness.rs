//! What the machine gave. Threads look, on every processor and before anything else that runs, whether it was there at
//! all: a virtual one is not whenever its host lets others run. No link can be on time then.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

const LOOKS_EVERY: Duration = Duration::from_micros(200);
/// From one look to the next; what is shorter delays hardly anything.
const AWAY: Duration = Duration::from_micros(500);

/// When a processor was not seen.
#[derive(Clone, Copy, Debug)]
pub struct Absence {
    from: Instant,
    to: Instant,
}

impl Absence {
    /// Whether a packet that went and arrived then may have waited for the processor. What was held up meanwhile still
    /// stands before later packets: at half of the rate, for as long again.
    pub fn disturbed(&self, sent: Instant, arrived: Instant) -> bool {
        sent < self.to + (self.to - self.from) && self.from < arrived
    }
}

pub struct Witnesses {
    enough: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Vec<Absence>>>,
}

impl Witnesses {
    pub fn on_every_processor() -> Self {
        let enough = Arc::new(AtomicBool::new(false));
        let processors = rustix::thread::sched_getaffinity(None).unwrap();
        let threads = (0..rustix::thread::CpuSet::MAX_CPU)
            .filter(|cpu| processors.is_set(*cpu))
            .map(|cpu| {
                let enough = enough.clone();
                thread::spawn(move || watch(cpu, &enough))
            })
            .collect();
        Self { enough, threads }
    }

    /// Ends them.
    pub fn absences(self) -> Vec<Absence> {
        self.enough.store(true, Ordering::Relaxed);
        self.threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    }
}

fn watch(cpu: usize, enough: &AtomicBool) -> Vec<Absence> {
    sys::bind_to_cpu(u32::try_from(cpu).unwrap()).unwrap();
    go_before_the_emulator();
    let (mut absences, mut from) = (Vec::new(), Instant::now());
    while !enough.load(Ordering::Relaxed) {
        thread::sleep(LOOKS_EVERY);
        let to = Instant::now();
        if to - from > AWAY {
            absences.push(Absence { from, to });
        }
        from = to;
    }
    absences
}

/// So that an emulator that is busy is not taken for a machine that is away. Where that is not permitted, neither is the
/// emulator's own priority.
fn go_before_the_emulator() {
    let this_thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    let _ = Command::new("chrt").args(["--rr", "--pid", "2", &this_thread]).output();
}

/// Of this process's thread of that name, since it began; of one, where there are several.
pub fn processor_time(name: &str) -> Duration {
    let tasks = fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    // Other tests' threads end meanwhile.
    let named = |task: &PathBuf| fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim_end() == name);
    let statistics = fs::read_to_string(tasks.into_iter().find(named).unwrap().join("schedstat")).unwrap();
    Duration::from_nanos(statistics.split(' ').next().unwrap().parse().unwrap())
}
