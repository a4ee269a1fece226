use std::time::Duration;

use wire::{DATAGRAM_MAX_BYTES, QuicSettings};

use crate::{
    Task, TrialError,
    defaults::{FLOWS_MAX, LENGTH_MAX_BYTES, QUIC_DATAGRAM_MIN_BYTES, SILENCE_MIN, STREAMS_MAX},
    limits::{check_cpus, check_times, within},
};

/// Checks every setting against what this engine can do.
pub fn check(task: &Task<'_, QuicSettings>) -> Result<(), TrialError> {
    let settings = task.settings;
    within("flows", settings.flows.into(), 1, FLOWS_MAX.into())?;
    within("streams", settings.streams.into(), 1, STREAMS_MAX.into())?;
    within("length_bytes", settings.length_bytes.into(), 1, LENGTH_MAX_BYTES.into())?;
    within("rate_bps", settings.rate_bps.unwrap_or(u64::MAX), settings.streams.into(), u64::MAX)?;
    let datagram_bytes = settings.datagram_bytes.unwrap_or(QUIC_DATAGRAM_MIN_BYTES);
    within("datagram_bytes", datagram_bytes.into(), QUIC_DATAGRAM_MIN_BYTES.into(), DATAGRAM_MAX_BYTES.into())?;
    let microsecond = Duration::from_micros(1);
    check_times([
        ("duration_us", settings.duration_us, microsecond),
        ("pad_us", settings.pad_us, Duration::ZERO),
        ("sample_interval_us", settings.sample_interval_us, microsecond),
        ("connect_timeout_us", settings.connect_timeout_us, microsecond),
        ("drain_timeout_us", settings.drain_timeout_us, Duration::ZERO),
        ("silence_timeout_us", settings.silence_timeout_us, SILENCE_MIN),
    ])?;
    check_cpus(&settings.cpus)
}
