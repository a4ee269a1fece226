"""Every default and constant of the controller, in one place.

Times in nanoseconds, sizes in bytes, rates in bit/s, as the suffix says.
"""

MICROSECOND_NS = 1_000
PER_MILLION = 1_000_000
MILLISECOND_NS = 1_000_000
SECOND_NS = 1_000_000_000
SECOND_US = 1_000_000
SECOND_MS = 1_000
DAY_S = 86_400
DAY_MINUTES = 24 * 60
BITS_PER_BYTE = 8

# A trial
DURATION_NS = 10 * SECOND_NS
UNTIL_AT_LEAST_NS = 3 * SECOND_NS
UNTIL_SHARES = (0.005, 0.5)
"""How well a mean may be asked to be known with which a trial ends."""
KNOWN_LOOK_EVERY_NS = 500 * MILLISECOND_NS
KNOWN_LOOKS = 2
KNOWN_BATCH_SAMPLES = 2
KNOWN_BATCHES_MIN = 8
"""What the engine knows a mean by: as `KNOWN_…` of its `traffic` has it."""
OMIT_NS = 0
INTERVAL_NS = 1 * SECOND_NS
SAMPLE_INTERVAL_NS = 100 * MILLISECOND_NS
LENGTH_BYTES = 256 * 1024
WRITES_PER_INTERVAL = 20
"""An application rate that is made of fewer writes an interval makes its intervals differ."""
BACKGROUND_PROBE_EVERY_NS = 20 * MILLISECOND_NS
BACKGROUND_PROBE_ASIDE_NS = 2 * SECOND_NS
"""How long to probe before and after the traffic."""
BACKGROUND_PROBE_BYTES = 64
FLOWS = 1
FLOWS_MAX = 1024
REPEATS = 1
QUIC_STREAMS_MAX = 1024
QUIC_STREAM_WINDOW_BYTES = 1_250_000
QUIC_SEND_WINDOW_BYTES = 10_000_000
"""The library's (quinn), where nothing is asked for; then the receive window of a connection has no limit."""
QUIC_DATAGRAM_MIN_BYTES = 1200
"""What every path of QUIC carries, as payload of UDP (RFC 9000, section 14)."""
SUBFLOWS_MAX = 8
"""Of one connection of MPTCP, its first one included."""
DRAIN_TIMEOUT_NS = 10 * SECOND_NS
MINIMUM_BINS = 3
FILE_BYTES = 256 * 1024 * 1024
FILES_MAX = 16_384
FILE_MAX_BYTES = 1 << 50
FILE_DURATION_NS = 60 * SECOND_NS
FILE_DRAIN_TIMEOUT_NS = 300 * SECOND_NS
"""How long a sink may take to write, to sync and to read again what has arrived."""
SPACE_FACTOR = 2
"""Of what files need, as much must be free: an engine fills no disk."""
DIRECT_BLOCK_BYTES = 4096
"""What O_DIRECT reads and writes multiples of."""
FILE_MAKING_BYTES_PER_S = 20_000_000
"""The slowest disk that is borne: files are made before both ends meet."""
DATAGRAM_BYTES = 1470
"""Payload of a datagram: fits an Ethernet frame, with room for IPv6 or a tunnel, as iperf 2 has it."""
ECHO_BYTES = 64
"""Payload of a probe of a round-trip time."""
PROBE_EVERY_NS = 10 * MILLISECOND_NS
PROBE_TIMEOUT_NS = SECOND_NS
PATH_TTL_MAX = 30
PATH_SIZES_BYTES = (600, 680, 760, 840, 1240, 1280, 1320, 1360, 1400, 1440, 1480, 1500)
"""Above what routers quote in an answer: 576 bytes; over IPv6 1232, so that only later ones tell there."""
PATH_PROBES = 64
PATH_TRAINS = 20
PATH_TRAIN_PACKETS = 100
PATH_TRAIN_BYTES = 1440
PATH_STREAMS = 5
PATH_STREAM_PACKETS = 100
PATH_STREAM_RATES = 10
PATH_DURATION_NS = 180 * SECOND_NS
DATAGRAM_DRAIN_NS = 500 * MILLISECOND_NS
"""A sink of datagrams always waits that long for what a queue or jitter keeps back."""

# Findings
SEARCH_PRECISION = 0.1
SEARCH_PRECISIONS = (0.02, 0.5)
SEARCH_CONFIDENCES = (0.5, 0.99)
SEARCH_TRIALS = 60
SEARCH_TRIALS_MIN = 12
"""Fewer give no interval: a first round over the whole range, and two more."""
SEARCH_TRIALS_MAX = 500
BEST_TRIES_MIN = 2
"""Trials of a setting before a search for the best leaves it out: one stalls now and then."""
BEST_ROUND_MAX = 6
"""Settings of a round of a search for the best, once it leaves some out."""
SEARCH_BYTES_MAX = 1 << 60
SEARCH_RANGE_MIN = 16
"""Between the largest and the smallest window of a search, as a factor."""
SEARCH_FLOWS_RANGE_MIN = 4
"""Between the most and the fewest flows of a search."""
FEWEST_FOR_INTERVAL = 3
"""Repeats of one point from which an interval is stated: of two it is as wide as chance will have it."""
STALLED_SHARE = 0.5
"""An interval that carries less than this share of the trial's median one has stalled."""
SLOW_SHARE = 0.5
"""A trial that carries less than this share of what its point lets expect is counted apart."""
SIGNIFICANCE = 0.05
"""The probability of any false claim in a campaign without effects, at most."""
CONFIDENCE = 0.95
LOSS_LIMIT = 0.001
"""A share of lost datagrams up to which a rate counts as carried."""
LOSS_MATTERS = 0.01
"""Below this share lost datagrams do not decide how fast a trial is."""
OFFERED_SHARE_MIN = 0.95
"""A source that sent less of a rate than this did not offer it, so that its path cannot have carried it."""
EQUIVALENCE_MARGIN, LARGEST_MARGIN = 0.03, 0.5
"""A relative change of goodput up to this much is of no practical effect; the most that a person may say."""
FALSE_ALARMS_PER_100_DAYS = 1.0
"""Of a path and direction, where nothing changes."""
FALSE_ALARMS_MIN, FALSE_ALARMS_MAX = 0.01, 100.0

# What is read
NESTED_MAX = 200
"""Levels of a JSON or TOML text; Pydantic's parser has the same bound."""
PLAN_MAX_BYTES = 1 << 20

# What files of other tools may say: beyond it nothing was measured, or no table holds it
IMPORT_FILE_MAX_BYTES = 16 << 20
"""A file is read as a whole; what was packed may have as much when it is unpacked."""
IMPORT_LINES_MAX = 1 << 20
IMPORT_ROWS_MAX = 200_000
"""Lines of a file that is read line by line: each takes up to 1 kB of memory once it is understood."""
IMPORT_LINE_MAX_CHARACTERS = 1 << 16
"""Of such a line."""
IMPORT_VALUES_MAX = 1_000_000
"""Of JSON: each takes up to 200 bytes of memory."""
IMPORT_TESTS_MAX = 10_000
"""Of one file: each takes about 10 kB of memory and 1 ms until it is in the archive."""
IMPORT_LINES_LOOKED_AT = 2_000
"""By these the kind of a file is recognised."""
IMPORT_UNANSWERED_PER_ANSWER = 10
"""A file tells of pings that were not answered by numbers that it leaves out, and may claim any number."""
IMPORT_UNANSWERED_MAX = 100_000
IMPORT_BINS_PER_INTERVAL = 4
"""Exact intervals that the intervals of a file may cover, for each of them."""
IMPORT_YEARS = (1970, 2200)
IMPORT_TIME_MAX_NS = 366 * 24 * 3600 * SECOND_NS
IMPORT_INTERVAL_MAX_NS = 6 * 24 * 3600 * SECOND_NS
"""What exact arithmetic divides (flowsweep.analysis.expressions)."""
IMPORT_RATE_MAX_BPS = 10**15
IMPORT_INTERVAL_MAX_BYTES = (1 << 51) - 1
IMPORT_COUNT_MAX = 1 << 53
"""Of datagrams or segments."""
IMPORT_SUM_MAX = 1 << 60
"""Of what is counted, over all flows and intervals: 64 bits hold it, and what is made of it."""
IMPORT_FLOWS_MAX = 1_000_000
IMPORT_PAUSE_LEAST_S = 3600
IMPORT_PAUSE_TIMES = 5
"""A longer pause, and longer than so many median pauses, ends a sitting of tests of other tools."""
IMPORT_WINDOW_MAX_BYTES = 1 << 40
NAME_MAX_CHARACTERS = 255
"""Of a host (RFC 1035, 2.3.4) and whatever else an import names."""

# What a plan may ask for
DURATION_MAX_NS = 24 * 3600 * SECOND_NS
PROBE_EVERY_MIN_NS = 100 * MICROSECOND_NS
PATH_EVERY_MIN_NS = 1 * MILLISECOND_NS
"""Routers answer few probes in a millisecond."""
RECURRENCE_MIN_NS = 1 * SECOND_NS
RECURRENCE_MAX_NS = 31 * 24 * 3600 * SECOND_NS
SLIP_OF_DAY_NS = 3600 * SECOND_NS
"""How late what is due at a time of the day may begin, where a plan does not say it."""
RETAIN_MIN_NS = 24 * 3600 * SECOND_NS
"""What was measured is kept for so long at least."""
CAMPAIGN_MAX_NS = 10 * 366 * 24 * 3600 * SECOND_NS
SAMPLE_INTERVAL_MIN_NS = 1 * MILLISECOND_NS
SAMPLE_INTERVAL_MAX_NS = 60 * SECOND_NS
"""What is within a sample is taken to be even; and a flow that stalls shows only in samples."""
ASIDE_MAX_NS = 30 * SECOND_NS
"""What a trial's flows, which stand already, may wait for a probe: engines wait 60 s for a start."""
LENGTH_MAX_BYTES = 16 * 1024 * 1024
BUFFERS_MAX_BYTES = 1 << 30
"""What engines take for the buffers of all flows of a trial, of one `length` each."""
DATAGRAM_MIN_BYTES = 64
"""Room for the header of a datagram."""
DATAGRAM_MAX_BYTES = 65_507
"""What an IPv4 packet holds beside its header and UDP's."""
ECHO_MIN_BYTES = 16
"""Room for the header of a probe."""
SPACING_MAX_NS = 10 * SECOND_NS
WINDOW_MAX_BYTES = (1 << 30) - 1
"""Linux takes a socket buffer as a signed 32-bit number and doubles it."""
MSS_MIN_BYTES = 88
MSS_MAX_BYTES = 32_767
"""What Linux accepts as TCP_MAXSEG (`TCP_MIN_MSS`, `MAX_TCP_WINDOW`)."""
QUEUE_MIN_BYTES = 1_600
"""One Ethernet frame."""
QUEUE_MAX_BYTES = 1 << 31
QUEUE_MAX_PACKETS = 10_000_000
PROBE_SIZE_MIN_BYTES = 600
"""Routers quote up to 576 bytes of a packet (RFC 1812, 4.3.2.3): below, the answer grows with it."""
PROBE_SIZE_LEAST_IPV6_BYTES = 1232
"""Smaller ones are quoted whole: answers have 1280 bytes at most, 48 of them headers (RFC 4443, 2.4 (c))."""
PROBE_SIZE_MAX_BYTES = 65_535
PROBE_SIZES_MIN = 3
PROBE_SIZES_TELL = 4
STREAM_PACKETS_TELL = 25
"""Fewer sizes leave a line no idea of its error, fewer packets that arrive tell no trend of delays."""
PROBE_SIZES_MAX = 64
PROBES_MAX = 1_000
TRAINS_MAX = 1_000
TRAIN_PACKETS_MIN = 10
TRAIN_PACKETS_MAX = 4_096
TRAIN_MIN_BYTES = 100
LINK_DELAY_MAX_NS = 60 * SECOND_NS
ICMP_INTERVAL_MAX_NS = 60 * SECOND_NS
MTU_MIN_BYTES = 1280
"""Without which there is no IPv6 (RFC 8200)."""
MTU_MAX_BYTES = 65_535
LINK_RATE_MIN_BPS = 1_000
MEMBERS_MIN = 2
MEMBERS_MAX = 16
"""Paths that the flows of a link are spread over."""
PERIOD_MAX_NS = 3_600 * SECOND_NS
"""Longest time that cross traffic sends, or pauses."""
CROSS_PACKET_BYTES = 1_000
CROSS_PACKET_MIN_BYTES = 20
"""An IPv4 header."""
CROSS_PACKETS_PER_S_MAX = 1_000_000
"""Each costs the emulator time, and more would make the hosts' own packets late."""
RATE_MAX_BPS = 10**12
RATE_RESOLUTION_MIN_BPS = 1_000
CPU_MAX = 8_191
PORT_MAX = 65_535
CONCURRENT_MAX = 1000
REPEATS_MAX = 10_000
TRIALS_MAX = 100_000

# What a trial takes beyond its duration and pad: prepare, connect, report
TRIAL_OVERHEAD_NS = 150 * MILLISECOND_NS

# An engine's part of it
PAD_NS = 100 * MILLISECOND_NS
PAD_OF_PAIRS_NS = SECOND_NS
"""Where several pairs of hosts take part: flows whose first packets are lost begin 0.2 or 0.4 s later."""
PAD_PER_DURATION = 2e-4
"""Clocks of two hosts may differ by this much in speed."""
CONNECT_TIMEOUT_NS = 10 * SECOND_NS
SILENCE_TIMEOUT_NS = 10 * SECOND_NS
"""How long a path may be silent before its flows count as broken."""
START_AHEAD_NS = 30 * MILLISECOND_NS
START_AHEAD_PER_PAIR_NS = 2 * MILLISECOND_NS
"""How far ahead a common start lies, beyond the longest round trip: all must know it before any begins."""
START_GIVEN_AHEAD_NS = SECOND_NS
"""How long before a start that lies in the future an engine is given it; it takes one that is 5 s ahead."""
BACKGROUND_MEETS_AHEAD_NS = 20 * SECOND_NS
"""How long before its start traffic beside a trial meets: engines wait 60 s for a start."""
BURSTS_MAX = 100
"""Of background traffic that sends on and off: each burst has flows of its own, which both ends get ready."""
PAIRS_CONNECTING_MAX = 32
"""How many pairs of hosts of a trial get ready at the same time."""
LAST_WORDS_S = 1.0
"""How long the other ends of a trial have to end by themselves once one of them is not whole."""
PATH_NEWS_S = 0.2
"""How long a trial that failed waits to hear whether its path broke, which would be why."""

# A session with an engine
CLOCK_EXCHANGES = 8
"""How often a host's clock is asked for; the answer with the shortest round trip counts."""
CLOCK_FAR_OFF_NS = SECOND_NS
"""A clock that is further off was set by nobody who knows the time."""
CLOCK_TURN_S = 0.001
"""How long the question for one host's clock keeps those for others back."""
SESSION_OPEN_TIMEOUT_S = 20.0
SESSION_REQUEST_TIMEOUT_S = 10.0
RECONNECT_FOR_S = 30.0
RECONNECT_FIRST_PAUSE_S = 0.25
POINT_BUSY_FOR_S = 120.0
"""How long a trial is put off while a standing point is busy with others."""
POINT_BUSY_PAUSE_S = 1.0
ENGINE_END_TIMEOUT_S = 2.0
"""How long an engine may take to end once its standard input is closed, before it is ended by force."""
ENGINE_CUT_OFF_TIMEOUT_S = 1.0
"""Likewise, of one that did not stop, or said what is not the protocol."""
ENGINE_KILLED_TIMEOUT_S = 0.5
"""How long a process that was killed may take to be gone, and what it started to let go of its pipes."""
HEARTBEAT_S = 3.0
"""How often an engine hears that the controller is there; after 30 s without a word it ends itself."""
EVENT_MAX_BYTES = 8 << 20
"""One message: of a thousand flows, or of a host with a thousand devices, takes less."""
EVENT_VALUES_MAX = 1 << 17
EVENT_DEPTH_MAX = 16
EVENT_TEXT_MAX = 16 << 10
NUMBER_MAX = 1 << 53
"""More than any count of a trial is, or time of it in nanoseconds: sums of a thousand have 64 bits."""
EVENT_UNIX_MAX_NS = 4 * 10**18
"""In the year 2096: differences of differences of such times have 64 bits."""
TABLE_MAX_BYTES = 32 << 20
"""One piece of a table: engines send 16 384 rows at once, of at most 700 bytes."""
TABLE_TEXT_MAX_BYTES = 256
TABLE_TIME_MAX_NS = 1 << 61
"""73 years, from an end's origin or between two clocks of which one was never set, and shows 1970."""
TABLE_BYTE_COUNT_MAX = 1 << 53
FRAME_COUNTS_BYTES = 64 << 10
"""What a piece of a table takes in memory at least, however few rows it has."""
SESSION_STRAY_MAX_BYTES = 16 << 20
"""What an engine may say of trials that nobody follows (any more)."""
TRIAL_BYTES_LEAST = 16 << 20
"""What an engine may say of a trial, whatever was asked; above that it is what was asked: rows of samples of
1 KiB (they have 0.7), and of other tables as `flowsweep.run.report_allowance` says."""
TRIAL_BYTES_MOST = 16 << 30
"""An engine keeps 4 GiB of samples itself, which are 9 GB as Arrow."""
TRIAL_EVENTS_LEAST = 256
TRANSFER_LEAST_S = 10.0
"""How long tables may take beyond when the report was due, however few there are."""
TRANSFER_SLOWEST_BYTES_PER_S = 125_000
"""The slowest control channel that is borne: 1 Mbit/s for all that a trial may say, with 16 cores."""
TRANSFER_MOST_S = 3600.0
"""Longer than this no tables are waited for."""
COPY_TIMEOUT_S = 120.0
"""How long sending the engine to a host may take."""
TRIAL_SLACK_S = 5.0
"""What an engine may take beyond its own deadlines, before the controller stops waiting for it."""
STOP_TIMEOUT_S = 3.0
"""How long an engine may take to end a trial that it was asked to stop."""
STOP_UNAWAITED_TIMEOUT_S = 0.5
"""How long telling it so may take where nobody waits for the end, since the session ends as well."""

# Monitors
SNMP_PORT = 161
MONITORS_MAX = 100
MONITOR_INTERFACES_MAX = 64
MONITOR_EVERY_NS = 10 * SECOND_NS
MONITOR_EVERY_MIN_NS = SECOND_NS
"""Agents keep their counters for seconds: who asks more often reads the same again."""
MONITOR_EVERY_MAX_NS = 24 * 3600 * SECOND_NS
MONITOR_ANSWER_S = 2.0
"""How long an agent may take for one message; it is asked once more."""
MONITOR_POLL_MAX_S = 8.0
"""How long asking a host for all counters may take, and an agent for each part of them."""
MONITOR_TEXT_MAX = 200
"""Characters that are kept of what an agent or a host says in words."""
MONITOR_LINE_MAX = 256 << 10
"""Bytes of what is told of one poll."""
MONITOR_PART_S = 60.0
"""How long polls wait for the disk at most: so much a kill takes."""
MONITOR_PART_ROWS = 20_000
MONITOR_LAST_WORDS_S = 1.5
"""How long monitors are waited for that are asked once more when a campaign is over."""
MONITORS_BYTES_MAX = 4 << 30
"""Of all files of monitors of an archive; beyond that nothing more is kept of them."""
MONITOR_RESTART_S = (1.0, 60.0)
"""The first and the longest pause before what asks is started again."""

# The lab (docs/guide/lab.md says why)
LAB_MTU_BYTES = 1500
LAB_FRAMING_BYTES = 14
"""Ethernet header: what the kernel's shaper counts beyond the IP packet."""
LAB_QUEUE_NS = 50 * MILLISECOND_NS
LAB_QUEUE_MINIMUM_BYTES = 128 * 1024
LAB_BURST_NS = 4 * MILLISECOND_NS
"""How late the shaper's timer may fire without losing rate."""
LAB_TCP_BUFFER_MIN_BYTES = 32 * 1024 * 1024
LAB_TCP_BUFFER_MAX_BYTES = 1 << 30
"""Between these is how far the kernel's autotuning may go in a lab host, as its links ask for."""
LAB_UNLIMITED_RATE_BPS = 10**10
"""What a link of unlimited rate is taken for, where room has to be made for what is under way."""
LAB_HOPS_MAX = 30
LAB_DEVICE_QUEUE_PACKETS = 8192
"""What the kernel keeps for an emulator to read, a super-packet being one; else it drops them."""
LAB_EMULATOR_READY_TIMEOUT_S = 10.0
LAB_EMULATOR_END_TIMEOUT_S = 2.0
LAB_EMULATOR_SILENCE_S = 4.0
"""How long an emulator may say nothing, before its link counts as broken."""
LAB_EMULATOR_REPORT_NS = 100 * MILLISECOND_NS
LATE_PACKETS_SHARE = 0.01
"""Of a trial's packets that may arrive over 1 ms late: what is promised is 1 ms for 99 % of them."""
LAB_COMMAND_TIMEOUT_S = 10.0
LAB_GUARD_END_TIMEOUT_S = 10.0
"""How long a lab's guard may take to end, and to take down what its controller did not."""

# The command line
GARBAGE_OBJECTS = 50_000
"""How many new objects Python collects garbage after; it says 700 itself."""
BLAS_THREADS = 1
"""Of OpenBLAS, unless OPENBLAS_NUM_THREADS says otherwise. No matrix is so large that two are faster, and
one that waits for the other keeps its processor busy for nothing."""
DUCKDB = "duckdb"
"""What computes a summary, where nothing else is asked for."""

QUIC_PERF_PORT = 4433
"""Where servers of QUIC's perf protocol listen."""
IPERF3_PORT = 5201
IPERF3_FLOWS_MAX = 128
"""Flows in each direction that iperf3 takes; so are the following."""
IPERF3_LENGTH_MAX_BYTES = 1 << 20
IPERF3_WINDOW_MAX_BYTES = 512 << 20
IPERF3_BUSY_FOR_NS = 60 * SECOND_NS
"""How long an iperf3 server that has another test is asked again."""
IPERF3_WORDS_NS = 30 * SECOND_NS
"""What an iperf3 server may take to say all that it says of a test, in addition to the test itself."""
