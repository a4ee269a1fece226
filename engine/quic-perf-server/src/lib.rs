//! A server for clients of QUIC's perf protocol (draft-banks-quic-performance), many at once: on each bidirectional stream a
//! client sends the number of bytes that it wants, in 8 bytes, then data of its own; the answer has so many bytes.
//!
//! One thread has all connections. Nothing but Retry goes to an address before it has shown that it receives what is sent
//! to it (RFC 9000, section 8.1), and no data but what a client asked for.

mod certificate;
mod config;
mod connection;
pub mod defaults;
mod pace;
mod places;
mod server;

pub use config::Config;
pub use server::{Server, ServerError};
