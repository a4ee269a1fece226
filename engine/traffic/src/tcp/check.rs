use std::time::Duration;

use wire::{Encryption, Mode, TcpSettings, Until};

use crate::{
    Task, TrialError,
    defaults::{BUFFERS_MAX_BYTES, FLOWS_MAX, KNOWN_INTERVALS_MIN, LENGTH_MAX_BYTES, PACING_RATE_MIN_BPS, SILENCE_MIN},
    limits::{check_cpus, check_times, within},
};

/// Checks every setting against what this engine can do.
pub fn check(task: &Task<'_, TcpSettings>) -> Result<(), TrialError> {
    let settings = task.settings;
    within("flows", settings.flows.into(), 1, FLOWS_MAX.into())?;
    within("length_bytes", settings.length_bytes.into(), 1, LENGTH_MAX_BYTES.into())?;
    let buffers_bytes = u64::from(settings.flows) * u64::from(settings.length_bytes);
    within("flows times length_bytes", buffers_bytes, 1, BUFFERS_MAX_BYTES)?;
    within("rate_bps", settings.rate_bps.unwrap_or(u64::MAX), 1, u64::MAX)?;
    within("pacing_rate_bps", settings.pacing_rate_bps.unwrap_or(u64::MAX), PACING_RATE_MIN_BPS, u64::MAX)?;
    within("dscp", settings.dscp.unwrap_or(0).into(), 0, 63)?;
    if settings.encryption != Encryption::None && settings.mode != Mode::Copy {
        let text = "found a mode other than copy with encryption, expected copy: TLS reads what it protects";
        return Err(TrialError::Settings(text.into()));
    }
    let microsecond = Duration::from_micros(1);
    check_times([
        ("duration_us", settings.duration_us, microsecond),
        ("pad_us", settings.pad_us, Duration::ZERO),
        ("sample_interval_us", settings.sample_interval_us, microsecond),
        ("connect_timeout_us", settings.connect_timeout_us, microsecond),
        ("drain_timeout_us", settings.drain_timeout_us, Duration::ZERO),
        ("silence_timeout_us", settings.silence_timeout_us, SILENCE_MIN),
    ])?;
    settings.until.map_or(Ok(()), |until| check_until(&until, settings.duration_us))?;
    check_cpus(&settings.cpus)
}

/// A summary needs some whole intervals, whenever a source ends.
fn check_until(until: &Until, duration_us: u64) -> Result<(), TrialError> {
    let intervals_us = until.interval_us.saturating_mul(KNOWN_INTERVALS_MIN.unsigned_abs());
    within("until.half_width_ppm", until.half_width_ppm.into(), 1, 1_000_000)?;
    within("until.interval_us", until.interval_us, 1, duration_us)?;
    within("until.at_least_us", until.at_least_us, 0, duration_us)?;
    within("until.omit_us", until.omit_us, 0, duration_us.saturating_sub(intervals_us))
}
