//! Every constant of the traffic makers, in one place.

use std::time::Duration;

/// How far apart the two looks around the wall clock may be, for a trial's origin: beyond it they are repeated.
pub const ORIGIN_SPREAD_MAX: Duration = Duration::from_micros(20);
/// How often, at most; the closest looks count.
pub const ORIGIN_READINGS: u32 = 5;
/// A wall clock that differs from what it should show by more than this was set.
pub const CLOCK_STEP_LEAST: Duration = Duration::from_micros(10);
/// One that drifts from the monotonic clock by less than one part in so many is followed.
pub const CLOCK_DRIFT_SHARE: i64 = 1000;
/// A host whose clocks differ by more than this in how long it runs was suspended meanwhile.
pub const SUSPENDED_LEAST: Duration = Duration::from_millis(1);
/// What arrives later than this after the clock was set back has a time again, however far that was, even where something
/// always waits. Nothing may have waited longer than this before it is received.
pub const CLOCK_SET_BACK_MOST: Duration = Duration::from_secs(2);
/// How long a connection may take over its handshake: long enough for a lost segment on a slow path.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// How many handshakes may be pending beyond the flows that are still missing.
pub const PENDING_HANDSHAKES: usize = 64;
/// Connections the kernel may queue beyond the flows of the trial.
pub const SPARE_BACKLOG: u32 = 64;
/// How often a waiting end looks whether it was stopped.
pub const STOP_CHECK: Duration = Duration::from_millis(50);
/// How often a source looks whether every flow's first bytes have reached the sink's application.
pub const RUNNING_CHECK: Duration = Duration::from_millis(2);
/// Longest time a writer stays in one `write` (`SO_SNDTIMEO`), so that it can end on time on a slow path.
pub const WRITE_TIMEOUT: Duration = Duration::from_millis(50);
/// How far an application-paced writer may fall behind and still catch up.
pub const PACING_DEBT: Duration = Duration::from_millis(100);
/// How often a running end reports its progress.
pub const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// How much later than the source a sink gives up.
pub const SINK_SLACK: Duration = Duration::from_secs(1);
/// Stack of a flow's thread, in bytes; its buffer is on the heap.
pub const FLOW_STACK_BYTES: usize = 128 << 10;
/// Rows of a table kept in memory before they go to a temporary file, in bytes.
pub const LOG_IN_MEMORY_BYTES: usize = 64 << 20;
/// Samples kept at all, in bytes; what comes after is counted as lost.
pub const SAMPLES_MAX_BYTES: u64 = 4 << 30;
/// Rows of CPU time kept at all, in bytes; what comes after is counted as lost.
pub const CPU_ROWS_MAX_BYTES: u64 = 1 << 30;
/// How often CPU time is looked at, at most: it must not disturb samples that are taken more often.
pub const MONITOR_INTERVAL_MIN: Duration = Duration::from_millis(100);
/// How often it is looked at of what takes little of it: of measurements of round-trip times and of paths.
pub const MONITOR_INTERVAL: Duration = Duration::from_secs(1);
/// How long such a look waits, at most, for a moment at which no response is awaited.
pub const MONITOR_DELAY_MOST: Duration = Duration::from_secs(1);
/// Looking at CPU time takes at most one part in so many of the coordinator's time: a host of many cores is looked at
/// less often.
pub const MONITOR_SHARE: i64 = 100;
/// Counters of its own that are read of a network driver, at most: some have thousands, one for each queue.
pub const DRIVER_COUNTERS_MAX: usize = 512;
/// How long the kernel may take to report devices and routes.
pub const NETLINK_TIMEOUT: Duration = Duration::from_secs(1);
/// Rows of one Arrow stream.
pub const SAMPLE_BATCH_ROWS: usize = 16_384;
/// Keepalive: idle time and distance of the probes. The silence timeout of the trial decides when a peer is gone.
pub const KEEPALIVE: Duration = Duration::from_secs(2);
/// Most flows of a trial.
pub const FLOWS_MAX: u32 = 4096;
/// Most bytes of one write or read.
pub const LENGTH_MAX_BYTES: u32 = 64 << 20;
/// Most bytes of the buffers of all flows of a trial, of one write or read each.
pub const BUFFERS_MAX_BYTES: u64 = 1 << 30;
/// The most that the kernel lets everybody have (`fs.pipe-max-size`).
pub const PIPE_BYTES: usize = 1 << 20;
/// Most buffers of a source that lends them: each may take a huge page, and more than run at a time help nobody.
pub const LENT_PAYLOADS: usize = 32;
/// Longest of all times that a controller may ask for.
pub const TIME_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// Shortest silence that the kernel can be asked to bear: zero would mean its own default, which is minutes.
pub const SILENCE_MIN: Duration = Duration::from_millis(1);
/// Slowest pacing, in bit/s: the kernel counts bytes.
pub const PACING_RATE_MIN_BPS: u64 = 8;
/// How long a name may take to resolve.
pub const RESOLVE_TIMEOUT: Duration = Duration::from_secs(5);
/// How often an end that connects over datagrams sends its opening, until it is answered.
pub const OPENING_INTERVAL: Duration = Duration::from_millis(100);
/// How many ports of the kernel's choice are tried where one must be free for datagrams and for connections.
pub const BESIDE_ATTEMPTS: u32 = 16;
/// How long to wait before a port that was just given up is bound again, if it is still in use.
pub const PORT_RETRY: Duration = Duration::from_millis(1);
/// Largest probe of the round-trip time, in bytes of payload: what fits into one IPv4 packet.
pub const ECHO_MAX_BYTES: u32 = 65_535 - 20 - 8;
/// Most sizes of probes in one trial.
pub const ECHO_SIZES_MAX: usize = 64;
/// Shortest time between probes.
pub const ECHO_INTERVAL_MIN: Duration = Duration::from_micros(100);
/// Longest time that a response is waited for: until then a probe is outstanding.
pub const ECHO_TIMEOUT_MAX: Duration = Duration::from_secs(60);
/// Echoes kept at all, in bytes; what comes after is counted as lost.
pub const ECHOES_MAX_BYTES: u64 = 1 << 30;
/// How long it is looked whether a host answers ICMP echo at all, before datagrams are taken instead.
pub const ICMP_TRIAL: Duration = Duration::from_secs(1);
/// Probes that are sent meanwhile.
pub const ICMP_TRIAL_PROBES: u32 = 5;
/// How often a source says that it sends no more probes, until the sink has acknowledged it.
pub const END_INTERVAL: Duration = Duration::from_millis(50);
/// How many times, at most.
pub const END_ATTEMPTS: u32 = 20;
/// How long a sink answers once it knows: its acknowledgement may have been lost.
pub const END_LINGER: Duration = Duration::from_millis(150);
/// Connections that may wait to be taken where the time of connecting is measured.
pub const ECHO_BACKLOG: i32 = 1024;
/// How often a request to the other end of a path's measurement is repeated, until it responds.
pub const PATH_REPEAT: Duration = Duration::from_millis(100);
/// Rows of hops, or of trains, kept at all, in bytes; what comes after is counted as lost.
pub const PATH_ROWS_MAX_BYTES: u64 = 1 << 30;
/// Time to live of what a path's measurement sends to the other end: what is left of it there tells the hops between.
pub const PATH_HOP_LIMIT: u8 = 64;
/// Smallest packet of a probe: the IPv6 and UDP headers, and what tells probes apart.
pub const PROBE_LEAST_BYTES: u32 = 64;
/// Smallest packet of a train: the IPv6 and UDP headers, and what tells packets apart.
pub const TRAIN_LEAST_BYTES: u32 = 88;
/// Smallest probe of a hop over IPv6. A router quotes as much of it as its answer of at most 1280 bytes has room for (RFC
/// 4443, 2.4 (c)): the answer to a smaller one grows with it, and its time is one of the way back, too.
pub const HOP_PROBE_LEAST_IPV6_BYTES: u32 = 1232;
/// Fewer sizes of probes show nothing of a hop's capacity: it is said if there are no more.
pub const HOP_SIZES_LEAST: usize = 4;
/// Largest IP packet.
pub const PACKET_MOST_BYTES: u32 = 65_535;
/// Most sizes of probes.
pub const PROBE_SIZES_MAX: u64 = 1000;
/// Most probes of each size at each hop, most trains, streams and rates of streams.
pub const PATH_REPEATS_MAX: u64 = 10_000;
/// Fastest probing: a router is not to be bothered more often.
pub const PROBE_EVERY_LEAST: Duration = Duration::from_millis(1);
/// A hop that left so many probes unanswered and never answered one is not probed any more.
pub const HOP_SILENT_TRIES: usize = 6;
/// How many of a hop's last probes are looked at, to see whether it limits its answers.
pub const HOP_WINDOW: usize = 8;
/// So many of them without an answer are too many for packets that were lost by chance.
pub const HOP_LOST_OF_LAST: usize = 3;
/// A hop that limits its answers is probed no more often, in nanoseconds.
pub const HOP_SPACING_LEAST_NS: i64 = 125_000_000;
/// Nor less often than this: Linux sends one error a second by default.
pub const HOP_SPACING_MOST_NS: i64 = 2_000_000_000;
/// How long the source repeats its teardown, at most.
pub const TEARDOWN: Duration = Duration::from_secs(2);
/// How long a sink still answers once it has received the teardown.
pub const PATH_LINGER: Duration = Duration::from_millis(300);
/// How many times the distance of the sink in hops is requested.
pub const DISTANCE_TRIES: u32 = 20;
/// Socket buffers of a path's measurement, in bytes, as far as the host grants them.
pub const PATH_BUFFER_BYTES: usize = 4 << 20;
/// A train is to last so long at the sink at least: below it, whoever stamps arrivals is as slow as the path.
pub const TRAIN_LEAST: Duration = Duration::from_millis(4);
/// A train is not to last longer than this.
pub const TRAIN_MOST: Duration = Duration::from_secs(1);
/// The halves of a train are of one rate if the faster is above the slower by one part in so many, at most.
pub const TRAIN_HALVES_SHARE: u64 = 10;
/// How long a sink may take to report a train.
pub const TRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// So many trains in a row that the sink does not report are enough.
pub const TRAINS_UNSEEN: u32 = 3;
/// Between two trains or streams, at least.
pub const TRAIN_PAUSE: Duration = Duration::from_millis(20);
/// The fastest stream, in percent of the capacity that trains have shown.
pub const STREAM_FASTEST_PERCENT: u64 = 110;
/// How long before its time a sleeping sender of streams wakes: the rest it spins.
pub const STREAM_SPIN: Duration = Duration::from_micros(60);
/// Most datagrams that a paced source sends at once to catch up.
pub const BURST_MAX: u64 = 64;
/// A source that owes more makes up for it by shortening each gap by one part in so many.
pub const REPAID_OF_GAP: u64 = 100;
/// Gap between datagrams, in nanoseconds, below which a paced source sends several at once.
pub const BATCH_GAP_MAX_NS: u64 = 10_000;
/// How much of its pace such a source sends at once, in nanoseconds.
pub const BATCH_SPAN_NS: u64 = 100_000;
/// Most bytes of several datagrams that go to the kernel as one buffer (`UDP_SEGMENT`).
pub const SEGMENTS_MAX_BYTES: usize = 65_000;
/// Most bytes of several datagrams that go to the kernel with one call.
pub const MESSAGES_MAX_BYTES: usize = 256 << 10;
/// How long before a datagram is due a pacer stops sleeping: what a sleep may take too long.
pub const PACER_SPIN: Duration = Duration::from_micros(60);
/// How long a source waits after the kernel refused a datagram.
pub const REFUSED_PAUSE: Duration = Duration::from_micros(50);
/// Datagrams that whoever receives takes before it looks at its deadlines again, however many more wait.
pub const DATAGRAMS_AT_ONCE: usize = 256;
/// How long after a flow's first datagram a sink repeats that it has received it; each pause after that is twice as long.
pub const RUNNING_PAUSE_SHORTEST: Duration = Duration::from_millis(50);
/// The longest of these pauses: where half of all datagrams are lost, a source must hear one before it gives up.
pub const RUNNING_PAUSE_MOST: Duration = Duration::from_millis(800);
/// How long a host may be away, or its source of datagrams be late, before its flows count as broken off at the sink: when
/// the source should have stopped, and nothing comes any more.
pub const PAUSE_BORNE: Duration = Duration::from_secs(4);
/// What a sink's thread has seen of silence in one pass, at most: for longer than that it was not there to see anything.
pub const SILENCE_OF_PASS: Duration = Duration::from_millis(100);
/// How often a source reports that it has stopped, until the sink acknowledges it.
pub const END_MARKS: u32 = 60;
/// The first of them follow each other quickly.
pub const END_MARKS_QUICK: u32 = 20;
/// From one of those to the next.
pub const END_MARK_INTERVAL: Duration = Duration::from_millis(10);
/// From one of the others to the next.
pub const END_MARK_INTERVAL_LATER: Duration = Duration::from_millis(100);
/// How long a sink of datagrams that has got all of them waits for duplicates, at most: the drain may be shorter.
pub const DUPLICATES_AWAITED: Duration = Duration::from_millis(100);
/// How long it counts what is late, at most: no longer than the drain.
pub const LATE_AWAITED: Duration = Duration::from_millis(200);
/// How far below the smallest delay so far the histogram of delays begins, in nanoseconds.
pub const DELAY_MARGIN_NS: i64 = 20_000;
/// How many delays counted above former bases are kept apart, at least, before those close to each other are put together.
pub const EARLIER_DELAYS_LEAST: usize = 4096;
/// They are put together within cells no wider than this part of how far they lie above the base.
pub const EARLIER_DELAYS_SHARE: u64 = 256;
/// Receive buffer that a sink of datagrams asks for where the plan says nothing.
pub const DATAGRAM_WINDOW_BYTES: u64 = 4 << 20;
/// How long a thread that counts rejected datagrams rests after it has counted some.
pub const REJECTED_PAUSE: Duration = Duration::from_millis(2);
/// Rows of datagrams kept at all, in bytes; what comes after is counted as lost.
pub const DATAGRAM_ROWS_MAX_BYTES: u64 = 1 << 30;
/// Rows of histograms kept at all, in bytes; what comes after is counted as lost.
pub const HISTOGRAM_ROWS_MAX_BYTES: u64 = 1 << 28;
/// Buffers of a sink that takes several datagrams at once (`UDP_GRO`).
pub const GRO_BUFFERS: usize = 16;
/// Size of each: the most that the kernel puts together.
pub const GRO_BUFFER_BYTES: usize = 1 << 16;
/// Memory for what all flows of a sink receive that is had before the start; that of many flows only when something arrives.
pub const TOUCHED_MAX_BYTES: usize = 1 << 24;
/// How long a sink whose source's port is closed waits for what that may have said before.
pub const GONE_AWAITED: Duration = Duration::from_millis(100);
/// A packet of a stream that goes out so much too late was held up on its own host.
pub const STREAM_LATE_MOST: Duration = Duration::from_micros(200);
/// How long an iperf3 server may take over its next state, beyond what the test itself takes.
pub const IPERF3_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an iperf3 server that is busy is left alone at first; each time twice as long.
pub const IPERF3_BUSY_PAUSE: Duration = Duration::from_millis(100);
/// And at most.
pub const IPERF3_BUSY_PAUSE_MAX: Duration = Duration::from_secs(5);
/// An iperf3 server does not listen between two tests: how long it may take to do so again. One of a busy machine that had
/// 128 streams took more than 3 s.
pub const IPERF3_REFUSED_FOR: Duration = Duration::from_secs(10);
/// How long an iperf3 server bears to wait for a client's results, with some time to spare: what has not come by then is
/// not waited for any longer.
pub const IPERF3_DRAIN: Duration = Duration::from_secs(8);
/// How long the trial in the other direction may take to be prepared.
pub const IPERF3_PARTNER: Duration = Duration::from_secs(20);
/// How often an opening datagram is sent to an iperf3 server.
pub const IPERF3_OPENINGS: u32 = 5;
/// And how long its reply may take, at least: a duplicate at the server counts as a datagram of the stream.
pub const IPERF3_OPENING_TIMEOUT: Duration = Duration::from_secs(1);
/// How often a source looks whether everything it wrote has been acknowledged.
pub const ACKNOWLEDGED_CHECK: Duration = Duration::from_millis(2);
/// How long an iperf3 server may read what came last before it learns of the end: it does not read on after that, and
/// counts this as time in which it received.
pub const IPERF3_SETTLE: Duration = Duration::from_millis(5);
/// Where random bytes come from.
pub const RANDOM_DEVICE: &str = "/dev/urandom";
/// How often it is looked whether all subflows stand.
pub const SUBFLOW_CHECK: Duration = Duration::from_millis(5);
/// Streams of one QUIC connection.
pub const STREAMS_MAX: u32 = 1024;
/// What every path of QUIC carries, as payload of UDP (RFC 9000, section 14).
pub const QUIC_DATAGRAM_MIN_BYTES: u16 = 1200;
/// What a source of QUIC has the library take beyond twice the congestion window: acknowledgements of so much may come at
/// once, and then there is still something to send.
pub const QUIC_AHEAD_BYTES: u64 = 64 << 10;
/// What a source of QUIC keeps at most that is not acknowledged, where the plan says no window: the library's own.
pub const QUIC_SEND_WINDOW_BYTES: u64 = 10_000_000;
/// Subflows of one connection of Multipath TCP, as plans may ask for.
pub const SUBFLOWS_MAX: u32 = 8;
/// Room for each packet of QUIC, as payload of UDP, where the plan says no length: more than the library ever finds on a path,
/// and the most that the other end is allowed to send.
/// The library has memory for 32 times as much as the kernel puts together of such packets.
pub const QUIC_DATAGRAM_ROOM_BYTES: u16 = 1472;
/// Files of one trial: each is open for as long as the trial lasts.
pub const FILES_MAX: u32 = 16_384;
/// Size of one file.
pub const FILE_MAX_BYTES: u64 = 1 << 50;
/// How often over the bytes of a trial must have space where it writes.
pub const SPACE_FACTOR: u64 = 2;
/// What one flow reads of a file before the next one may take what follows: long enough to be read in sequence.
pub const EXTENT_BYTES: u64 = 32 << 20;
/// Buffers between the two threads of a flow that carries files, in bytes.
pub const RING_BYTES: usize = 8 << 20;
/// And in blocks, at least and at most.
pub const RING_BLOCKS: (usize, usize) = (2, 64);
/// What `O_DIRECT` takes: offsets, lengths and memory are multiples of it, on every device of today.
pub const DIRECT_BYTES: u64 = 4096;
/// Of the time to connect, a source may take one part in so many to have the page cache take files that are there.
pub const WARM_SHARE: u32 = 2;
/// What files are made of at once.
pub const MAKE_BYTES: usize = 1 << 20;
/// After so much of a file a sink has the kernel begin to write it to the disk.
pub const WRITEBACK_BYTES: u64 = 8 << 20;
/// How many blocks at most a source that sends lengths only may be ahead of a sink that writes, a flow.
pub const CREDIT_BLOCKS_MAX: usize = 1024;
/// It may send more if the sink's files waited for it for more than one part in so many of the time.
pub const CREDIT_IDLE_SHARE: u128 = 16;
/// How often a source of files looks whether the other end's word has been read.
pub const WORD_CHECK: Duration = Duration::from_millis(1);

/// What may end early counts at least so many whole intervals; as few as a summary needs for a goodput.
pub const KNOWN_INTERVALS_MIN: i64 = 3;
/// How far looks at how well a mean is known are apart at least: each is a chance to be wrong.
pub const KNOWN_LOOK_EVERY: Duration = Duration::from_millis(500);
/// How often in a row a mean must be known; with 1, means that vary slowly are taken for known too often.
pub const KNOWN_LOOKS: u32 = 2;
/// How many round trips after slow start a mean begins to count.
pub const KNOWN_ROUND_TRIPS: i64 = 2;
/// Batches last so many round trips at least: within one, acknowledgements come in bursts.
pub const KNOWN_BATCH_ROUND_TRIPS: i64 = 2;
/// Batches last so many samples at least: bytes of one are taken to come evenly.
pub const KNOWN_BATCH_SAMPLES: i64 = 2;
/// A correlation of neighbouring batches above this counts as this.
pub const KNOWN_CORRELATION_MAX: f64 = 0.9;
/// A line through the batches may rise by so many times what is asked for.
pub const KNOWN_DRIFT: f64 = 2.0;
/// A window that stays the same for so long rests …
pub const KNOWN_REST: Duration = Duration::from_secs(1);
/// … and for so many round trips: Reno's grows by a segment in one.
pub const KNOWN_REST_ROUND_TRIPS: i64 = 8;
/// A window that met no limit must have grown by this share …
pub const KNOWN_GROWTH_MIN: f64 = 0.125;
/// … and by so many times what is asked for, while goodput did not.
pub const KNOWN_GROWTH_SHARES: f64 = 4.0;
/// Moments that a rule remembers at most, about.
pub const KNOWN_POINTS_MAX: u32 = 1 << 16;
