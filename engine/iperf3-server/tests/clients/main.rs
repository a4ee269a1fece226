//! Scripted clients, well-behaved and not, against a server on loopback.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod datagrams;
mod fair;
mod hostile;
mod known_weaknesses;
mod limits;
mod places;
mod script;
mod stopping;
mod users;
mod whole;
