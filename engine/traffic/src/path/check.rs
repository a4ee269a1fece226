//! What an engine refuses to begin.

use std::time::Duration;

use wire::{PathSettings, defaults::TRAIN_PACKETS_MAX};

use crate::{
    TrialError,
    defaults::{
        PACKET_MOST_BYTES, PATH_REPEATS_MAX, PROBE_EVERY_LEAST, PROBE_LEAST_BYTES, PROBE_SIZES_MAX, TRAIN_LEAST_BYTES,
    },
    limits::{check_times, within},
};

/// Checks every setting against what this engine can do.
pub fn check(settings: &PathSettings) -> Result<(), TrialError> {
    if settings.ttl_max > 0 {
        within("number of sizes_bytes", settings.sizes_bytes.len() as u64, 1, PROBE_SIZES_MAX)?;
        within("probes", settings.probes.into(), 1, PATH_REPEATS_MAX)?;
    }
    for size_bytes in &settings.sizes_bytes {
        within("a size of sizes_bytes", (*size_bytes).into(), PROBE_LEAST_BYTES.into(), PACKET_MOST_BYTES.into())?;
    }
    within("trains", settings.trains.into(), 0, PATH_REPEATS_MAX)?;
    if settings.trains > 0 {
        within("train_packets", settings.train_packets.into(), 2, TRAIN_PACKETS_MAX.into())?;
        within("train_bytes", settings.train_bytes.into(), TRAIN_LEAST_BYTES.into(), PACKET_MOST_BYTES.into())?;
    }
    within("streams", settings.streams.into(), 0, PATH_REPEATS_MAX)?;
    if settings.streams > 0 {
        within("trains, which say how fast streams may be,", settings.trains.into(), 1, PATH_REPEATS_MAX)?;
        within("stream_packets", settings.stream_packets.into(), 2, TRAIN_PACKETS_MAX.into())?;
        within("stream_rates", settings.stream_rates.into(), 1, PATH_REPEATS_MAX)?;
    }
    let microsecond = Duration::from_micros(1);
    check_times([
        ("every_us", settings.every_us, PROBE_EVERY_LEAST),
        ("timeout_us", settings.timeout_us, microsecond),
        ("deadline_us", settings.deadline_us, microsecond),
        ("connect_timeout_us", settings.connect_timeout_us, microsecond),
    ])
}
