"""What became of a trial: what run/ hands to a recorder, and what the archive keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from flowsweep.schedule.trial import Trial

Status = Literal["ok", "failed", "incomplete"]


class Failure(BaseModel):
    """Why a trial did not go as asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    phase: str
    """prepare, listen, connect, run, drain or report."""
    host: str
    """Where; the link, if that is what broke."""
    kind: str
    """A word that programs can compare: window_clipped, connect_timeout, session_lost, …"""
    message: str

    def __str__(self) -> str:
        return f"{self.phase} on {self.host}: {self.message}"


class End(BaseModel):
    """What one end of a pair of hosts had granted and how it went; all flows of an end are alike in these."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    peer: str
    """The host at the other end."""
    window_granted_bytes: int | None
    window_clipped: bool
    window_raised: bool
    congestion: str | None
    mss_bytes: int | None
    gso: bool | None = None
    """Whether the kernel cut what this end sent into datagrams; absent where that is no question."""
    gro: bool | None = None
    """Whether the kernel handed this end several datagrams at once; likewise."""
    remarks: tuple[str, ...] = ()
    """What was asked for and was not to be had, and what was done instead."""
    origin_unix_ns: int | None
    """This end's time origin, by its host's clock; absent if it did not report."""
    clock_offset_ns: int
    """The host's clock minus the controller's, as it was estimated before the trial."""
    clock_bound_ns: int
    """How far that estimate may be wrong."""
    rejected_connections: int
    """Connections that reached this end and were not the trial's."""
    sample_rows_lost: int
    """Rows that the engine could not keep or read back, of samples and of CPU time."""
    throttled_us: int | None = None
    """How long a CPU quota kept the engine from running while flows ran; absent where none can be read."""


class BackgroundRecord(BaseModel):
    """What the two ends of traffic beside a trial had granted; none for an end whose flows never stood."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    source: End | None
    sink: End | None


class TrialRecord(BaseModel):
    """One finished attempt at a trial, as the journal keeps it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trial_id: str
    attempt: int
    """From 1."""
    trial: Trial
    status: Status
    started_at: datetime
    elapsed_ns: int
    """From the first request to the last answer."""
    failure: Failure | None
    sources: tuple[End, ...]
    """One for each pair of hosts, in their order; those whose flows never stood are left out."""
    sinks: tuple[End, ...]
    background: tuple[BackgroundRecord, ...] = ()
    """In the order of the trial's."""
    far_side: Literal["iperf3"] | None = None
    """What told of an end that has no engine; absent where both have one."""
    reported_bytes: int | None = None
    """What such an end received of all flows, without the beginning that was left out; absent if it sent."""
    reported_goodput_bps: float | None = None
    """The mean of it."""
    carried: bool | None = None
    """Of a whole step of a search: whether its rate was offered and no more than the limit was lost."""


COUNTERS_SCHEMA = pa.schema(
    [
        pa.field("host", pa.string(), nullable=False),
        # source or sink; of a host that only carries background traffic: background_source, background_sink
        pa.field("role", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),  # Tcp.RetransSegs, softnet.dropped, eth0.rx_dropped, …
        pa.field("value", pa.int64(), nullable=False),  # how much it rose while flows ran
    ]
)


LINKS_SCHEMA = pa.schema(
    [
        pa.field("link", pa.string(), nullable=False),
        pa.field("src", pa.string(), nullable=False),  # the direction: packets from this host
        pa.field("dst", pa.string(), nullable=False),
        pa.field("at_ns", pa.int64(), nullable=False),  # since the trial began; the first row is from before
        pa.field("at_unix_ns", pa.int64(), nullable=False),
        # Since the link was built; all packets are IP packets, as schema/emulation.json defines them
        pa.field("packets_in", pa.int64(), nullable=False),
        pa.field("bytes_in", pa.int64(), nullable=False),
        pa.field("packets_out", pa.int64(), nullable=False),
        pa.field("bytes_out", pa.int64(), nullable=False),
        pa.field("dropped_queue_packets", pa.int64(), nullable=False),
        pa.field("dropped_loss_packets", pa.int64(), nullable=False),
        pa.field("dropped_malformed_packets", pa.int64(), nullable=False),
        pa.field("dropped_overload_packets", pa.int64(), nullable=False),
        pa.field("device_dropped_packets", pa.int64(), nullable=False),
        pa.field("queue_bytes", pa.int64(), nullable=False),  # now
        pa.field("queue_packets", pa.int64(), nullable=False),  # now
        pa.field("queue_max_bytes", pa.int64(), nullable=False),  # since the row before
        pa.field("late_packets", pa.int64(), nullable=False),
        pa.field("late_max_us", pa.int64(), nullable=False),  # since the row before
        pa.field("reordered_packets", pa.int64(), nullable=False),
        pa.field("duplicated_packets", pa.int64(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """A finished attempt with its data."""

    record: TrialRecord
    samples: pa.Table
    """One row per flow, end and sample interval: the engine's columns (schema/samples.json), host and peer.

    Flows are numbered through all pairs of hosts, in their order, those of background traffic last.
    """
    flows: pa.Table
    """One row per flow and end, in FLOWS_SCHEMA."""
    cpu: pa.Table = field(default_factory=lambda: pa.table({}))
    """One row per core or thread and interval: the engine's columns (schema/cpu.json), host and peer.

    Cores are told by one end of each host and role only. Of a host that only carries background traffic the
    role is background_source or background_sink.
    """
    counters: pa.Table = field(default_factory=COUNTERS_SCHEMA.empty_table)
    """One row per host, role and counter that rose, in COUNTERS_SCHEMA."""
    links: pa.Table = field(default_factory=LINKS_SCHEMA.empty_table)
    """One row per emulated link, direction and moment, in LINKS_SCHEMA."""
    of_tests: Mapping[str, pa.Table] = field(default_factory=dict)
    """What only some tests record: the engine's tables with rows, by name, with host and peer."""


FLOWS_SCHEMA = pa.schema(  # What an engine always tells may be null of a trial that was imported
    [
        pa.field("host", pa.string(), nullable=False),
        pa.field("peer", pa.string(), nullable=False),  # the host at the flow's other end
        # This end's time origin on the trial's axis, which begins with the origin of the earliest sink
        pa.field("origin_ns", pa.int64(), nullable=False),
        pa.field("role", pa.string(), nullable=False),  # source or sink
        pa.field("flow", pa.int32(), nullable=False),
        pa.field("background", pa.string()),  # whose it is; null: the trial's own
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("first_byte_ns", pa.int64()),
        pa.field("end_ns", pa.int64(), nullable=False),
        pa.field("end", pa.string()),  # drained, drain_timeout, broken, stopped
        pa.field("error", pa.string()),
        pa.field("local_port", pa.int32()),
        pa.field("remote_port", pa.int32()),
        pa.field("cpu_user_us", pa.int64()),
        pa.field("cpu_system_us", pa.int64()),
        pa.field("cpu_elapsed_us", pa.int64()),
        pa.field("cpu_voluntary_switches", pa.int64()),
        pa.field("cpu_involuntary_switches", pa.int64()),
        # This host's clock minus the controller's, as it was estimated before, and how far that may be wrong
        pa.field("clock_offset_ns", pa.int64()),
        pa.field("clock_bound_ns", pa.int64()),
        # Of streams of datagrams, as `UdpCounts` in schema/messages.json defines them
        pa.field("udp_datagrams", pa.int64()),
        pa.field("udp_reordered", pa.int64()),
        pa.field("udp_reordering_extent_max", pa.int64()),
        pa.field("udp_duplicates", pa.int64()),
        pa.field("udp_late", pa.int64()),
        pa.field("udp_loss_bursts", pa.int64()),
        pa.field("udp_loss_burst_max", pa.int64()),
        pa.field("udp_socket_dropped", pa.int64()),
        pa.field("udp_refused", pa.int64()),
        pa.field("udp_jitter_ns", pa.int64()),
        pa.field("udp_delay_min_ns", pa.int64()),
        pa.field("udp_behind_max_ns", pa.int64()),
        pa.field("udp_burst_max", pa.int64()),
        # As the sink of another tool counts it, of whose source nothing may be known
        pa.field("udp_missing", pa.int64()),
    ]
)


class Recorder(Protocol):
    """Where a campaign's facts go. The archive implements it; tests may use a list."""

    def hosts(self, facts: dict[str, dict[str, object]]) -> None:
        """Keep what the engines see of their hosts, by host name."""

    def started(self, trial_id: str, attempt: int, at: datetime) -> None:
        """Keep that an attempt begins. Returns once it is on disk."""

    def finished(self, outcome: TrialOutcome) -> None:
        """Keep a finished attempt. Returns once it is on disk."""
