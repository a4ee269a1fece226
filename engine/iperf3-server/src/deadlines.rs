//! How long a server waits for what.

use std::time::Duration;

/// How long a server waits for what a client has to do. The defaults stand in `defaults`.
#[derive(Clone, Copy, Debug)]
pub struct Deadlines {
    /// For the cookie of a pending client.
    pub cookie: Duration,
    /// For its parameters, once they were requested.
    pub params: Duration,
    /// For its user to be authenticated.
    pub authentication: Duration,
    /// For one that was refused to close.
    pub leaving: Duration,
    /// For other tests of the same address to have their streams of datagrams opened.
    pub turn: Duration,
    /// For all streams of a test to be opened.
    pub streams: Duration,
    /// For one message to be written.
    pub write: Duration,
    /// Beyond the duration of a test, for its end.
    pub grace: Duration,
    /// For a client's results.
    pub results: Duration,
    /// For the bytes that a client says it has sent: without any progress.
    pub drain_quiet: Duration,
    /// For them altogether.
    pub drain: Duration,
    /// For a client to say that it is done.
    pub done: Duration,
}
