//! Every constant of the limits, in one place.

use std::time::Duration;

/// Longest trial where a rule says nothing.
pub const DURATION: Duration = Duration::from_secs(60);
/// Most flows where a rule says nothing.
pub const FLOWS: u32 = 128;
/// Samples of one flow a second, on average of all that a rule allows, or of [`FLOWS`] if those are more: an interval of
/// 10 ms. Each takes some hundreds of bytes of the host's disk until its trial is over, whatever rate the flow is held to:
/// of an interval of a microsecond they are as many as a core can write.
pub const FLOW_SAMPLES_PER_S: u64 = 100;
/// So many rows of streams of QUIC take as much as one sample, where samples are more frequent than plans have them
/// where they say nothing.
pub const STREAM_ROWS_OF_SAMPLE: u32 = 10;
/// From this interval between samples on, which is that of a plan that says nothing, only flows count, and no streams.
pub const STREAMS_UNCOUNTED_FROM: Duration = Duration::from_millis(100);
/// How long a controller waits for its turn where the file says nothing.
pub const WAIT: Duration = Duration::from_secs(5);
/// And at most: a controller waits 10 s for what a prepared end says.
pub const WAIT_MAX: Duration = Duration::from_secs(8);
/// How often it is looked whether a turn is free.
pub const WAIT_CHECK: Duration = Duration::from_millis(50);
/// Most controllers at once.
pub const AT_ONCE_MAX: u64 = 1000;
/// Largest limits file.
pub const FILE_BYTES_MAX: u64 = 64 << 10;
/// Most rules.
pub const RULES_MAX: usize = 256;
/// Most entries of one list of a rule.
pub const LIST_MAX: usize = 1024;
/// Longest name of a rule or of a controller.
pub const NAME_MAX: usize = 64;
/// What connecting, the pad, draining and late answers of a trial may take together, beyond its duration.
pub const OVERHEAD_MAX: Duration = Duration::from_secs(120);
/// What bytes are reserved for beyond a trial's duration: a sink counts from before its source begins.
pub const RESERVED_BEYOND: Duration = Duration::from_secs(2);
/// Most requests of one session that wait for a turn.
pub const WAITING_MAX: usize = 64;
/// Refusals of one session that are written to the audit, one by one; how many more there were is written at its end.
pub const REFUSALS_AUDITED: u64 = 1000;
/// Longest text of a request's that is written to the audit.
pub const AUDITED_CHARS: usize = 200;
/// Largest record of a turn.
pub const TURN_BYTES_MAX: u64 = 8 << 10;
/// Most files of a state folder that are looked at: more are somebody else's, and all is refused.
pub const STATE_FILES_MAX: usize = 20_000;
/// Largest ledger of a day.
pub const LEDGER_BYTES_MAX: u64 = 64 << 20;
/// A ledger with so many lines is put together, whatever of it is over.
pub const LEDGER_LINES: usize = 500;
/// How long another process may hold the state.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// How often it is tried.
pub const LOCK_CHECK: Duration = Duration::from_millis(5);
