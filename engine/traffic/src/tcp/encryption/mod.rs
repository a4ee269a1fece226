//! Flows that TLS 1.3 protects (RFC 8446): the library works in the thread of each flow, as it does in applications.

mod handshake;
mod sealing;
mod session;

pub use self::{
    handshake::sessions,
    sealing::Sealing,
    session::{RECORD_MAX_BYTES, Session},
};
