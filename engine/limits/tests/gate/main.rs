//! A gate over its limits file and its folder, as a session has it.

mod hostile_state;
mod ledger;
mod refusals;
mod support;
mod turns;
