//! Every constant that servers share, in one place.

use std::time::Duration;

/// One address (of IPv6: one /64) has one in so many of the places: others find some, however many come from there.
pub const PART_OF_ONE_ORIGIN: usize = 4;
/// Lines of the log that are not written yet, in bytes: ten seconds of 64 tests of a few streams each.
pub const LOG_BYTES_MAX: usize = 4 << 20;
/// Stack of the thread that writes it, in bytes.
pub const LOG_STACK_BYTES: usize = 256 << 10;
/// Refusals of an address are summarised after so long.
pub const REFUSALS_WINDOW: Duration = Duration::from_secs(10);
/// How often it is looked at whether there is a summary.
pub const REFUSALS_LOOK: Duration = Duration::from_secs(1);
/// Of each address, refusals in that time that are logged one by one.
pub const REFUSALS_LOGGED: u32 = 3;
/// Addresses whose refusals are kept apart in that time.
pub const REFUSALS_ORIGINS_MAX: usize = 1024;
