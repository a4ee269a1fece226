//! Times as the engine counts them: nanoseconds since an end's origin, microseconds in messages.

use std::time::Duration;

/// As many nanoseconds.
pub fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// As many whole microseconds.
pub fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// The other way; what lies before zero is none.
pub fn from_nanoseconds(nanoseconds: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
}

/// From a message's unit to the engine's.
pub fn microseconds_to_ns(microseconds: u64) -> i64 {
    i64::try_from(microseconds.saturating_mul(1000)).unwrap_or(i64::MAX)
}
