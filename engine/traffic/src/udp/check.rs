use std::time::Duration;

use wire::{DATAGRAM_HEADER_BYTES, DATAGRAM_MAX_BYTES, UdpSettings};

use crate::{
    Task, TrialError,
    defaults::{FLOWS_MAX, SILENCE_MIN, TIME_MAX},
    limits::{check_cpus, check_times, within},
};

/// Checks every setting against what this engine can do.
pub fn check(task: &Task<'_, UdpSettings>) -> Result<(), TrialError> {
    let settings = task.settings;
    within("flows", settings.flows.into(), 1, FLOWS_MAX.into())?;
    within("length_bytes", settings.length_bytes.into(), DATAGRAM_HEADER_BYTES as u64, DATAGRAM_MAX_BYTES.into())?;
    within("rate_bps", settings.rate_bps.unwrap_or(u64::MAX), 1, u64::MAX)?;
    let time_max_ns = u64::try_from(TIME_MAX.as_nanos()).unwrap_or(u64::MAX);
    within("spacing_ns", settings.spacing_ns.unwrap_or(1), 1, time_max_ns)?;
    if settings.rate_bps.is_some() && settings.spacing_ns.is_some() {
        return Err(TrialError::Settings("found rate_bps and spacing_ns, expected one of them at most".into()));
    }
    within("dscp", settings.dscp.unwrap_or(0).into(), 0, 63)?;
    let microsecond = Duration::from_micros(1);
    check_times([
        ("duration_us", settings.duration_us, microsecond),
        ("pad_us", settings.pad_us, Duration::ZERO),
        ("sample_interval_us", settings.sample_interval_us, microsecond),
        ("connect_timeout_us", settings.connect_timeout_us, microsecond),
        ("drain_us", settings.drain_us, Duration::ZERO),
        ("silence_timeout_us", settings.silence_timeout_us, SILENCE_MIN),
    ])?;
    check_cpus(&settings.cpus)
}
