use std::{io, mem::MaybeUninit, time::Duration};

use rustix::thread::{CpuSet, sched_setaffinity};

/// CPU time the calling thread has used so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadCpu {
    /// In user mode.
    pub user: Duration,
    /// In the kernel.
    pub system: Duration,
    /// How often it gave the CPU away.
    pub voluntary_switches: u64,
    /// How often the CPU was taken from it.
    pub involuntary_switches: u64,
}

/// Reads the calling thread's CPU time (`getrusage(RUSAGE_THREAD)`).
///
/// # Errors
/// What `getrusage` says.
pub fn thread_cpu() -> io::Result<ThreadCpu> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is to memory for one rusage, which the call fills when it returns 0.
    let usage = unsafe {
        if libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        usage.assume_init()
    };
    Ok(ThreadCpu {
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        voluntary_switches: u64::try_from(usage.ru_nvcsw).unwrap_or(0),
        involuntary_switches: u64::try_from(usage.ru_nivcsw).unwrap_or(0),
    })
}

/// Binds the calling thread to one CPU.
///
/// # Errors
/// What `sched_setaffinity` says: most often that the CPU does not exist or is not allowed.
pub fn bind_to_cpu(cpu: u32) -> io::Result<()> {
    let cpu = usize::try_from(cpu).unwrap_or(usize::MAX);
    if cpu >= CpuSet::MAX_CPU {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    Ok(sched_setaffinity(None, &cpus)?)
}

/// Lets the calling thread run whenever it wants to, before all ordinary threads of the machine (`SCHED_RR`, lowest
/// real-time priority, see `sched(7)`). Meant for threads that mostly sleep.
///
/// # Errors
/// Mostly `EPERM`: it takes root, or a limit on real-time priority above 0.
pub fn take_realtime_priority() -> io::Result<()> {
    let parameter = libc::c_int::from(1_u8);
    let policy = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
    // By its number, since musl's function of that name does nothing but fail.
    // SAFETY: `struct sched_param` is one int, which the call only reads; thread 0 is the calling one.
    let result = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameter) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
    seconds + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_cpu_time() {
        let before = thread_cpu().unwrap();
        std::hint::black_box((0..20_000_000_u64).fold(0, |sum, next| std::hint::black_box(sum ^ next)));
        let after = thread_cpu().unwrap();
        assert!(after.user + after.system > before.user + before.system);
    }

    #[test]
    fn a_cpu_that_cannot_exist_is_an_error() {
        assert!(bind_to_cpu(u32::MAX).is_err());
    }
}
