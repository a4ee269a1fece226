//! What iperf3's two ends say to each other, as both of them understand it since version 3.1.
//!
//! Pure data: no sockets, no files, no clock. Nothing that a peer says is believed before it was checked against the
//! bounds in [`limits`], and nothing is allocated by a number that it sent.

pub mod auth;
mod cookie;
mod datagram;
mod error_code;
mod frame;
pub mod limits;
mod number;
mod object;
mod params;
mod results;
mod state;

pub use cookie::{COOKIE_BYTES, Cookie, CookieError};
pub use datagram::{
    Counter, DatagramHeader, LEGACY_OPENING, LEGACY_REPLY, OPENING, REPLY, opens_stream, replies_to_opening,
};
pub use error_code::{ErrorCode, ServerError};
pub use frame::{FrameError, LENGTH_BYTES, encode_frame, frame_length, parse_json};
pub use params::{Params, Protocol, Refusal};
pub use results::{Results, StreamResults, stream_id};
pub use state::{State, UnknownState};
