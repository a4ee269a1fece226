//! What an engine refuses to begin: a standing measurement point protects itself, whatever a controller asks.

use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::{TrialError, defaults::TIME_MAX, time::microseconds};

/// Checks a setting against what this engine can do.
pub fn within(name: &str, value: u64, least: u64, most: u64) -> Result<(), TrialError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(TrialError::Settings(format!("{name} is {value}, expected {least} to {most}")))
}

/// Checks settings that are times: name, value in microseconds, and the least that makes sense.
pub fn check_times<const N: usize>(times: [(&'static str, u64, Duration); N]) -> Result<(), TrialError> {
    times
        .into_iter()
        .try_for_each(|(name, value_us, least)| within(name, value_us, microseconds(least), microseconds(TIME_MAX)))
}

/// Checks that threads may be bound to these CPUs.
pub fn check_cpus(cpus: &[u32]) -> Result<(), TrialError> {
    // Where the allowed CPUs cannot be read, binding a thread to one that is not will say so.
    let Ok(allowed) = sched_getaffinity(None) else { return Ok(()) };
    let usable = |cpu: u32| usize::try_from(cpu).is_ok_and(|cpu| cpu < CpuSet::MAX_CPU && allowed.is_set(cpu));
    match cpus.iter().find(|&&cpu| !usable(cpu)) {
        None => Ok(()),
        Some(cpu) => Err(TrialError::Settings(format!(
            "affinity names CPU {cpu}, on which this engine may not run; it has {} CPUs",
            allowed.count()
        ))),
    }
}
