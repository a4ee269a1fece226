//! Every constant of the server, with its reason.

use std::time::Duration;

use crate::Deadlines;

/// Where iperf3 listens.
pub const PORT: u16 = 5201;
/// Tests that run at once.
pub const TESTS_MAX: usize = 64;
/// While somebody waits whom only others' tests keep out: how long a test may do nothing with its place. Ten honest clients
/// are to be served within 10 s; a client over a path of seconds still opens its streams.
pub const CROWDED_PATIENCE: Duration = Duration::from_secs(3);
/// Clients that may wait for a place.
pub const QUEUE_MAX: usize = 256;
/// Clients that may be pending at once. Beyond it one is dropped: the oldest of the address with the most of them.
pub const PENDING_CLIENTS_MAX: usize = 256;
/// Connections that are accepted before everybody else is looked at again.
pub const ACCEPTED_AT_ONCE: usize = 64;
/// How long the kernel keeps connections until they are accepted, as a number of them.
pub const BACKLOG: i32 = 1024;
/// Without progress of a direction: from a client that is to send, to one that is to read, or to its end once it has all.
pub const NO_DATA_TIMEOUT: Duration = Duration::from_secs(30);
/// What is a progress, in bytes; less where a single write of the test is shorter.
pub const PROGRESS_BYTES: u64 = 1024;
/// How often a test looks at what its client has acknowledged.
pub const ACKNOWLEDGED_CHECK: Duration = Duration::from_millis(500);
/// Longest test whose client says no time, but a number of bytes or writes. Whoever says a time has at most iperf3's day.
pub const DURATION_MAX: Duration = Duration::from_secs(3600);
/// How long a client has to read that the server ends: a round trip of the longest of paths.
pub const STOPPING_LEAVE: Duration = Duration::from_millis(300);
/// For what the log holds to be written when the server ends.
pub const LOG_FLUSH: Duration = Duration::from_millis(400);
/// How often a test looks at whether it is to stop.
pub const STOP_CHECK: Duration = Duration::from_millis(100);
/// Between two rows of the log.
pub const INTERVAL: Duration = Duration::from_secs(1);
/// A client's results, beside what a server prints, take 200 bytes a stream; of 256 streams at most.
pub const CLIENT_RESULTS_BYTES_MAX: usize = 256 << 10;
/// A client that does not answer for so long has vanished, while none of its streams flow.
pub const VANISHED: Duration = Duration::from_secs(6);
/// A control connection is probed after so long without a word from its client.
pub const KEEPALIVE_IDLE: Duration = Duration::from_secs(2);
/// And then so often.
pub const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);
/// Openings of streams that are looked at before everybody else is again.
pub const OPENINGS_AT_ONCE: usize = 256;
/// Between two looks at whether an opening was repeated.
pub const OPENING_CHECK: Duration = Duration::from_millis(50);
/// Receive buffer that is requested for a stream of datagrams.
pub const UDP_WINDOW_BYTES: usize = 4 << 20;
/// Room for a datagram where the client announced short ones.
pub const DATAGRAM_ROOM_BYTES: usize = 2048;
/// At the end of a test, datagrams that are under way are waited for until so long none was received.
pub const SINK_QUIET: Duration = Duration::from_millis(50);
/// What is read on after a stop, if the peer sends without end.
pub const SINK_READ_ON: Duration = Duration::from_secs(1);
/// What a stream reads at once, in bytes, at most.
pub const READ_BYTES: usize = 256 << 10;
/// And at least, however many streams a test has.
pub const READ_BYTES_MIN: usize = 32 << 10;
/// What all streams of a test read at once, in bytes, beyond that.
pub const TEST_READ_BYTES: usize = 4 << 20;
/// Length of a write where a client does not say, in bytes: iperf3's own for TCP.
pub const WRITE_BYTES: u32 = 128 << 10;
/// Stack of a thread, in bytes.
pub const STACK_BYTES: usize = 256 << 10;
/// Rows of intervals, one a stream, that are kept for a client that requests the server's output: five hours of one
/// stream, two minutes of 128. As text they take 2 MB. Beyond it the log alone has them.
pub const ROWS_REPORTED_MAX: usize = 20_000;
/// A rate above the limit is looked at over so long, as iperf3 does.
pub const RATE_WINDOW: Duration = Duration::from_secs(5);
/// The same of datagrams by the numbers that they carry: their sender does not slow down when they are not read.
pub const DATAGRAM_RATE_WINDOW: Duration = Duration::from_secs(1);
/// What a test may carry at once after a rest, as a time at its limit.
pub const RATE_BURST: Duration = Duration::from_millis(50);
/// What all streams of a test carry at once under a limit, as a time at it.
pub const RATE_PART: Duration = Duration::from_millis(5);
/// What the socket buffers of a test under a limit hold of what the client sends, as a time at it.
pub const LIMITED_WINDOW: Duration = Duration::from_millis(500);
/// And each of them at least, in bytes.
pub const LIMITED_WINDOW_BYTES_MIN: usize = 64 << 10;

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            // A client sends it at once: this is for lost packets.
            cookie: Duration::from_secs(5),
            params: Duration::from_secs(10),
            // Each that waits takes milliseconds, with a long key a second.
            authentication: Duration::from_secs(10),
            // It can read why until then.
            leaving: Duration::from_secs(2),
            turn: Duration::from_secs(120),
            streams: Duration::from_secs(20),
            write: Duration::from_secs(5),
            // As long as iperf3's own server lets a test last.
            grace: Duration::from_secs(40),
            results: Duration::from_secs(30),
            drain_quiet: Duration::from_secs(2),
            // A client waits for results for 10 s.
            drain: Duration::from_secs(8),
            done: Duration::from_secs(10),
        }
    }
}
