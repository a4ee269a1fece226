//! Every constant of the server, with its reason.

use std::time::Duration;

/// Where iperf3 listens.
pub const PORT: u16 = 5201;
/// Tests that run at once.
pub const TESTS_MAX: usize = 64;
/// Clients that may wait for a place.
pub const QUEUE_MAX: usize = 256;
/// Newcomers that may be under way at once: beyond it the one that came first has to go.
pub const NEWCOMERS_MAX: usize = 256;
/// Connections that are accepted before everybody else is looked at again.
pub const ACCEPTED_AT_ONCE: usize = 64;
/// How long the kernel keeps connections until they are accepted, as a number of them.
pub const BACKLOG: i32 = 1024;
/// A newcomer names itself at once: this is for lost packets.
pub const COOKIE_TIMEOUT: Duration = Duration::from_secs(5);
/// From being asked for parameters until they are there.
pub const PARAMS_TIMEOUT: Duration = Duration::from_secs(10);
/// From sending a token until its user is known: of those that wait, each takes milliseconds, with a long key a second.
pub const VETTING_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection that was refused is kept until the peer has closed it, so that it can read why.
pub const LEAVING_TIMEOUT: Duration = Duration::from_secs(2);
/// For all streams of a test to be opened.
pub const STREAMS_TIMEOUT: Duration = Duration::from_secs(20);
/// For one message to be written to a client.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// For a client's results to arrive completely.
pub const RESULTS_TIMEOUT: Duration = Duration::from_secs(30);
/// For a client to say that it is done, after it has got everything.
pub const DONE_TIMEOUT: Duration = Duration::from_secs(10);
/// Beyond its duration a test may last as long as iperf3's own server lets it.
pub const GRACE: Duration = Duration::from_secs(40);
/// Without a byte of data from a client that is to send.
pub const NO_DATA_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a test looks at whether it is to stop.
pub const STOP_CHECK: Duration = Duration::from_millis(100);
/// What a test of a number of bytes waits for, once the client has said how many it sent: without any progress.
pub const DRAIN_QUIET: Duration = Duration::from_secs(2);
/// And altogether.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// Between two rows of the log.
pub const INTERVAL: Duration = Duration::from_secs(1);
/// A client's results, beside what a server prints, take 200 bytes a stream.
pub const CLIENT_RESULTS_BYTES_MAX: usize = 1 << 20;
/// Keepalive of a control connection: a peer that vanished is noticed after `IDLE` + `PROBES` × `INTERVAL`.
pub const KEEPALIVE_IDLE: Duration = Duration::from_secs(2);
/// See [`KEEPALIVE_IDLE`].
pub const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);
/// See [`KEEPALIVE_IDLE`].
pub const KEEPALIVE_PROBES: u32 = 4;
/// Openings of streams that are looked at before everybody else is again.
pub const OPENINGS_AT_ONCE: usize = 256;
/// For other tests of the same client's address to have their streams of datagrams opened.
pub const TURN_TIMEOUT: Duration = Duration::from_secs(120);
/// Between two looks at whether an opening came again.
pub const OPENING_CHECK: Duration = Duration::from_millis(50);
/// Receive buffer that is asked for a stream of datagrams.
pub const UDP_WINDOW_BYTES: usize = 4 << 20;
/// Room for a datagram where the client announced short ones.
pub const DATAGRAM_ROOM_BYTES: usize = 2048;
/// At the end of a test, datagrams that are under way are waited for until so long none came.
pub const SINK_QUIET: Duration = Duration::from_millis(50);
/// What is read on after a stop, if the peer sends without end.
pub const SINK_READ_ON: Duration = Duration::from_secs(1);
/// What a stream reads at once, in bytes.
pub const READ_BYTES: usize = 256 << 10;
/// Length of a write where a client does not say, in bytes: iperf3's own for TCP.
pub const WRITE_BYTES: u32 = 128 << 10;
/// Stack of a thread, in bytes.
pub const STACK_BYTES: usize = 256 << 10;
/// Intervals of a test that are kept to be told to the client: beyond it the log alone has them.
pub const INTERVALS_TOLD_MAX: usize = 3600;
/// A rate that nobody promised is looked at over so long, as iperf3 does.
pub const RATE_WINDOW: Duration = Duration::from_secs(5);
