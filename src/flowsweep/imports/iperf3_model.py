"""What iperf3 writes with `-J`, as far as it is read; `--json-stream` has the same parts line by line."""

from typing import Annotated, Any, Literal

from pydantic import Field

from flowsweep.imports.json_text import Part, Real, Seconds, Whole, WholeIfKnown
from flowsweep.imports.transfer import NO_REPORT_OF_THE_WHOLE

Signed = Annotated[int, Field(gt=-(1 << 62), lt=1 << 62)]


class Count(Part):
    """What one flow, or all of them, carried in a span of time."""

    socket: int | None = None
    start: Seconds
    end: Seconds
    size_bytes: Whole = Field(alias="bytes")
    reported_bps: Real | None = Field(alias="bits_per_second")
    """None where iperf3 divided by a time of 0."""
    sender: bool | None = None
    """Whether the end that wrote the file sent it; iperf3 before 3.7 does not say."""
    omitted: bool = False
    retransmits: WholeIfKnown = None
    rtt: WholeIfKnown = None
    """Microseconds."""
    rttvar: WholeIfKnown = None
    snd_wnd: WholeIfKnown = None
    pmtu: WholeIfKnown = None
    jitter_ms: Real | None = None
    packets: WholeIfKnown = None
    lost_packets: Signed | None = None
    """May be below 0: datagrams that come late are counted back."""
    out_of_order: Whole | None = None

    @property
    def bits_per_second(self) -> float:
        """As the file has it, else from bytes and time."""
        if self.reported_bps is not None:
            return self.reported_bps
        return self.size_bytes * 8 / (self.end - self.start) if self.end > self.start else 0.0


class Interval(Part):
    """All flows in one interval."""

    streams: tuple[Count, ...] = ()


class EndOfStream(Part):
    """A flow's whole; of TCP sender and receiver, of UDP one for both."""

    sender: Count | None = None
    receiver: Count | None = None
    udp: Count | None = None

    def any_part(self) -> Count | None:
        """One of them: all have socket and direction."""
        return self.udp or self.sender or self.receiver


class End(Part):
    """The summary."""

    streams: tuple[EndOfStream, ...] = ()
    sum: Count | None = None
    sum_sent: Count | None = None
    sum_received: Count | None = None
    sum_sent_bidir_reverse: Count | None = None
    sum_received_bidir_reverse: Count | None = None
    sender_tcp_congestion: str | None = None
    receiver_tcp_congestion: str | None = None


class Connection(Part):
    """One flow's two ends."""

    socket: int
    local_host: str
    local_port: Annotated[int, Field(ge=0, le=65535)]
    remote_host: str
    remote_port: Annotated[int, Field(ge=0, le=65535)]


class TimeStamp(Part):
    """When the test began."""

    timesecs: Annotated[int, Field(ge=0, lt=1 << 36)]
    timemillisecs: Annotated[int, Field(ge=0, lt=1 << 46)] | None = None


class TestStart(Part):
    """What was asked for."""

    protocol: Literal["TCP", "UDP", "SCTP"]
    blksize: Whole
    omit: Annotated[int, Field(ge=0, lt=1 << 20)] = 0
    duration: Annotated[int, Field(ge=0, lt=1 << 30)] = 0
    """Seconds; 0 where the test was asked for by bytes or blocks."""
    reverse: int = 0
    bidir: int = 0
    """iperf3 up to 3.12 does not say."""
    target_bitrate: Whole | None = None
    size_bytes: Whole = Field(0, alias="bytes")
    """What the test was to carry; 0 where it was asked for by time or blocks."""
    blocks: Whole = 0
    tos: Annotated[int, Field(ge=0, le=255)] = 0
    fqrate: Whole | None = None
    """iperf3 up to 3.12 does not say."""

    @property
    def asked_bytes(self) -> int | None:
        """What the test was to carry, where it was not asked for by time."""
        return self.size_bytes or self.blocks * self.blksize or None


class Start(Part):
    """Who, when and what."""

    connected: tuple[Connection, ...] = ()
    timestamp: TimeStamp | None = None
    accepted_connection: Any = None
    """Only in a server's file."""
    cookie: str | None = None
    target_bitrate: Whole | None = None
    fq_rate: Whole | None = None
    tcp_mss: Whole | None = None
    """Only where it was asked for."""
    system_info: str | None = None
    """What `uname` says, the kernel first."""
    sock_bufsize: Whole | None = None
    """The window asked for; 0: none."""
    sndbuf_actual: Whole | None = None
    rcvbuf_actual: Whole | None = None
    test_start: TestStart | None = None


class Document(Part):
    """One test at one end."""

    start: Start = Start()
    intervals: tuple[Interval, ...] = ()
    end: End = End()
    error: str | None = None
    server_output_json: "Document | None" = None
    """With `--get-server-output`: what the server says."""

    def unfinished(self) -> str | None:
        """Why it tells of a part of the test only: somebody broke it off, or its end is missing."""
        if self.error is not None:
            return f'the test was broken off: "{self.error}"'
        return None if self.end.streams else NO_REPORT_OF_THE_WHOLE

    def both_ways(self) -> bool:
        """Whether both directions were tested at once; up to 3.12 only what was done with flows says it."""
        test, end = self.start.test_start, self.end
        if (test is not None and test.bidir) or end.sum_sent_bidir_reverse is not None:
            return True
        of_streams = (part for stream in end.streams if (part := stream.any_part()) is not None)
        rows = (row for interval in self.intervals for row in interval.streams)
        return {True, False} <= {count.sender for count in (*of_streams, *rows)}

    def counted_anything(self) -> bool:
        """Whether an interval took time, and was not omitted."""
        rows = (row for interval in self.intervals for row in interval.streams)
        return any(row.end > row.start and not row.omitted for row in rows)


class Event(Part):
    """A line of a stream."""

    event: str
    data: Any
