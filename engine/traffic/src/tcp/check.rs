//! What an engine refuses to begin: a standing measurement point protects itself, whatever a controller asks.

use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity};
use wire::TcpSettings;

use crate::{
    Task, TrialError,
    defaults::{FLOWS_MAX, LENGTH_MAX_BYTES, PACING_RATE_MIN_BPS, SILENCE_MIN, TIME_MAX},
};

/// Checks every setting against what this engine can do.
pub fn check(task: &Task<'_, TcpSettings>) -> Result<(), TrialError> {
    let settings = task.settings;
    within("flows", settings.flows.into(), 1, FLOWS_MAX.into())?;
    within("length_bytes", settings.length_bytes.into(), 1, LENGTH_MAX_BYTES.into())?;
    within("rate_bps", settings.rate_bps.unwrap_or(u64::MAX), 1, u64::MAX)?;
    within("pacing_rate_bps", settings.pacing_rate_bps.unwrap_or(u64::MAX), PACING_RATE_MIN_BPS, u64::MAX)?;
    within("dscp", settings.dscp.unwrap_or(0).into(), 0, 63)?;
    for (name, value_us, least) in times(settings) {
        within(name, value_us, microseconds(least), microseconds(TIME_MAX))?;
    }
    check_cpus(&settings.cpus)
}

fn times(settings: &TcpSettings) -> [(&'static str, u64, Duration); 6] {
    let microsecond = Duration::from_micros(1);
    [
        ("duration_us", settings.duration_us, microsecond),
        ("pad_us", settings.pad_us, Duration::ZERO),
        ("sample_interval_us", settings.sample_interval_us, microsecond),
        ("connect_timeout_us", settings.connect_timeout_us, microsecond),
        ("drain_timeout_us", settings.drain_timeout_us, Duration::ZERO),
        ("silence_timeout_us", settings.silence_timeout_us, SILENCE_MIN),
    ]
}

fn check_cpus(cpus: &[u32]) -> Result<(), TrialError> {
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

fn within(name: &str, value: u64, least: u64, most: u64) -> Result<(), TrialError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(TrialError::Settings(format!("{name} is {value}, expected {least} to {most}")))
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
