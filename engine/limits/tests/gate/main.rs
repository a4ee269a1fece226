//! A gate over its limits file and its folder, as a session has it.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod audit;
mod bounds;
mod file;
mod hostile_state;
mod ledger;
mod refusals;
mod samples;
mod support;
mod turns;
