"""What became of a trial: what run/ hands to a recorder, and what the archive keeps."""

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
    kind: str
    """A word that programs can compare: window_clipped, connect_timeout, session_lost, …"""
    message: str

    def __str__(self) -> str:
        return f"{self.phase} on {self.host}: {self.message}"


class End(BaseModel):
    """What one end of a trial had granted and how it went; all flows of an end are alike in these."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    window_granted_bytes: int | None
    window_clipped: bool
    window_raised: bool
    congestion: str | None
    mss_bytes: int | None
    origin_unix_ns: int | None
    strangers: int
    """Connections that reached this end and were not the trial's."""
    sample_rows_lost: int
    throttled_us: int | None = None
    """How long a CPU quota kept the engine from running while flows ran; absent where none can be read."""


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
    source: End | None
    sink: End | None


COUNTERS_SCHEMA = pa.schema(
    [
        pa.field("role", pa.string(), nullable=False),  # source or sink
        pa.field("name", pa.string(), nullable=False),  # Tcp.RetransSegs, softnet.dropped, eth0.rx_dropped, …
        pa.field("value", pa.int64(), nullable=False),  # how much it rose while flows ran
    ]
)


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """A finished attempt with its data."""

    record: TrialRecord
    samples: pa.Table
    """One row per flow, end and sample interval, in the engine's schema (schema/samples.json)."""
    flows: pa.Table
    """One row per flow and end, in FLOWS_SCHEMA."""
    cpu: pa.Table = field(default_factory=lambda: pa.table({}))
    """One row per end, core or thread, and interval, in the engine's schema (schema/cpu.json)."""
    counters: pa.Table = field(default_factory=COUNTERS_SCHEMA.empty_table)
    """One row per end and counter of its host that rose, in COUNTERS_SCHEMA."""


FLOWS_SCHEMA = pa.schema(
    [
        pa.field("role", pa.string(), nullable=False),  # source or sink
        pa.field("flow", pa.int32(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("first_byte_ns", pa.int64()),
        pa.field("end_ns", pa.int64(), nullable=False),
        pa.field("end", pa.string(), nullable=False),  # drained, drain_timeout, broken, stopped
        pa.field("error", pa.string()),
        pa.field("local_port", pa.int32(), nullable=False),
        pa.field("remote_port", pa.int32(), nullable=False),
        pa.field("cpu_user_us", pa.int64(), nullable=False),
        pa.field("cpu_system_us", pa.int64(), nullable=False),
        pa.field("cpu_elapsed_us", pa.int64(), nullable=False),
        pa.field("cpu_voluntary_switches", pa.int64(), nullable=False),
        pa.field("cpu_involuntary_switches", pa.int64(), nullable=False),
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
