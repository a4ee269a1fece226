use std::time::Duration;

use wire::{ECHO_HEADER_BYTES, Echo, RendezvousRole, Role, RttSettings};

use crate::{
    Task, TrialError,
    defaults::{ECHO_INTERVAL_MIN, ECHO_MAX_BYTES, ECHO_SIZES_MAX, ECHO_TIMEOUT_MAX},
    limits::{check_times, within},
    time::microseconds,
};

/// Checks every setting against what this engine can do.
pub fn check(task: &Task<'_, RttSettings>) -> Result<(), TrialError> {
    let settings = task.settings;
    within("number of sizes_bytes", settings.sizes_bytes.len() as u64, 1, ECHO_SIZES_MAX as u64)?;
    for &size in &settings.sizes_bytes {
        within("sizes_bytes", size.into(), ECHO_HEADER_BYTES as u64, ECHO_MAX_BYTES.into())?;
    }
    within("dscp", settings.dscp.unwrap_or(0).into(), 0, 63)?;
    within("timeout_us", settings.timeout_us, 1, microseconds(ECHO_TIMEOUT_MAX))?;
    let microsecond = Duration::from_micros(1);
    check_times([
        ("every_us", settings.every_us, ECHO_INTERVAL_MIN),
        ("duration_us", settings.duration_us, microsecond),
        ("connect_timeout_us", settings.connect_timeout_us, microsecond),
    ])?;
    let sink_listens = matches!(task.rendezvous, RendezvousRole::Listen { .. }) == (task.role == Role::Sink);
    if settings.echo == Echo::TcpConnect && !sink_listens {
        let message = "the time of connecting needs a sink that can be reached; this one cannot: measure the other \
                       direction, or say `echo = \"udp\"`";
        return Err(TrialError::Settings(message.into()));
    }
    Ok(())
}
