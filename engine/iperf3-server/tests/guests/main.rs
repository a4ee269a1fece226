//! Scripted clients, well-behaved and not, against a server on loopback.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod datagrams;
mod hostile;
mod known_weaknesses;
mod places;
mod script;
mod users;
mod whole;
