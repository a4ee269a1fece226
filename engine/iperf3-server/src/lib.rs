//! A server that any iperf3 client can test against, many at once.
//!
//! One thread is the acceptor: it accepts connections, reads the name and the parameters of each, and hands streams to
//! the tests they belong to. A pending client costs a bounded buffer and no thread; one thread authenticates all of them.
//! Each test has a thread for its conversation, and one for each of its streams.

mod acceptor;
mod admission;
mod authentication;
mod config;
mod control;
mod conversation;
mod deadlines;
pub mod defaults;
mod failure;
mod fairness;
mod gather;
mod listening;
mod openings;
mod output;
mod parameters;
mod pending_client;
mod places;
mod progress;
mod record;
mod results;
mod running;
mod settings;
mod shared;
mod stream;
mod tally;
mod tcp_stream;
mod test_state;
mod throttle;
mod totals;
mod udp_stream;
mod urgency;

pub use acceptor::{Acceptor, AcceptorError};
pub use admission::Admission;
pub use config::{Config, Limits};
pub use deadlines::Deadlines;
