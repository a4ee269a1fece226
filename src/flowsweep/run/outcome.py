"""What became of a trial: what run/ hands to a recorder, and what the archive keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from sys import intern
from typing import Annotated, Literal, NamedTuple, Protocol

import pyarrow as pa
from pydantic import Field

from flowsweep.frozen import Frozen
from flowsweep.run.tables import COUNTERS_SCHEMA, LINKS_SCHEMA
from flowsweep.schedule.search.steps import EndedEarly, Learned
from flowsweep.schedule.trial import Trial

Status = Literal["ok", "failed", "incomplete"]
EndRole = Literal["source", "sink"]


class Failure(Frozen):
    """Why a trial did not go as asked."""

    phase: str
    """prepare, listen, connect, run, drain or report."""
    host: str
    """Where; the link, if that is what broke."""
    kind: str
    """A word that programs can compare: window_clipped, connect_timeout, session_lost, …"""
    message: str

    def __str__(self) -> str:
        return f"{self.phase} on {self.host}: {self.message}"


class End(Frozen):
    """What one end of a pair of hosts had granted and how it went; all flows of an end are alike in these."""

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


class BackgroundRecord(Frozen):
    """What the two ends of traffic beside a trial had granted; none for an end whose flows never stood."""

    name: str
    source: End | None
    sink: End | None


HeldBy = Literal["slow_start", "too_short", "window_grows", "spread", "trend"]
"""Why a mean was not known when the duration was over."""


class Decided(Frozen):
    """What the source of a trial that may end early made of it. Times count from when all flows run."""

    counted_from_ns: int
    """When slow start was over, and what is omitted."""
    ended_ns: int
    half_width_share: float | None
    """Half of the 95 % interval of the mean, over the mean; absent if there was too little to tell."""
    held_by: HeldBy | None
    """Absent: the mean is known."""

    @property
    def ended_by(self) -> Literal["known", "at_most"]:
        """What ended the trial."""
        return "known" if self.held_by is None else "at_most"


class TrialRecord(Frozen):
    """One finished attempt at a trial, as the journal keeps it."""

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
    far_side: Literal["iperf3", "quic-perf"] | None = None
    """What reported of an end that has no engine; absent where both have one."""
    reported_bytes: int | None = None
    """What such an end received of all flows, without the beginning that was left out; absent if it sent. A
    QUIC perf server tells nothing: what it acknowledged."""
    reported_goodput_bps: float | None = None
    """The mean of it."""
    carried: bool | None = None
    """Of a whole step of a search: whether its rate was offered and no more than the limit was lost."""
    searched_bps: float | None = Field(default=None, exclude_if=lambda goodput: goodput is None)
    """Of a step of a search for the plateau: goodput after what is omitted, 0 if the trial was not whole."""

    decided: Decided | None = Field(default=None, exclude_if=lambda decided: decided is None)
    """Of a trial that may end early and sent to its end."""

    @property
    def learned(self) -> Learned | None:
        """What its search is told of it; None of a trial that is no step of one, or tells nothing."""
        if self.searched_bps is None:
            return self.carried
        if self.decided is None:
            return self.searched_bps
        return EndedEarly(self.searched_bps, self.decided.ended_ns)


class FinishedTrial(NamedTuple):
    """What a campaign that goes on has to know of a trial that is over: there may be a million."""

    attempt: int
    sweep: str
    repeat: int
    learned: Learned | None

    @classmethod
    def of(cls, record: TrialRecord) -> "FinishedTrial":
        """The few facts of a whole record."""
        return cls(record.attempt, intern(record.trial.sweep), record.trial.repeat, record.learned)


_NUMBER_MAX = 2**31
"""Of a time: once a second it takes 68 years."""


class Missed(Frozen):
    """Times at which a sweep was due and did not run, or not to its end: in a row, and for one reason."""

    sweep: str
    first: Annotated[int, Field(ge=1, le=_NUMBER_MAX)]
    """The number of the first such time: the `repeat` of trials that are not there."""
    last: Annotated[int, Field(ge=1, le=_NUMBER_MAX)]
    first_due: datetime
    last_due: datetime
    reason: str
    trials_run: Annotated[int, Field(ge=0)] = 0
    """Of a single time: how many of its trials had run."""

    @property
    def count(self) -> int:
        """How many times."""
        return self.last - self.first + 1


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

    Cores are given by one end of each host and role only. Of a host that only carries background traffic the
    role is background_source or background_sink.
    """
    counters: pa.Table = field(default_factory=COUNTERS_SCHEMA.empty_table)
    """One row per host, role and counter that rose, in COUNTERS_SCHEMA."""
    links: pa.Table = field(default_factory=LINKS_SCHEMA.empty_table)
    """One row per emulated link, direction and moment, in LINKS_SCHEMA."""
    of_tests: Mapping[str, pa.Table] = field(default_factory=dict)
    """What only some tests record: the engine's tables with rows, by name, with host and peer."""


class Recorder(Protocol):
    """Where a campaign's facts go. The archive implements it; tests may use a list."""

    def hosts(self, facts: dict[str, dict[str, object]]) -> None:
        """Keep what the engines see of their hosts, by host name."""

    def started(self, trial_id: str, attempt: int, at: datetime) -> None:
        """Keep that an attempt begins. Returns once it is on disk."""

    def finished(self, outcome: TrialOutcome) -> None:
        """Keep a finished attempt. Returns once it is on disk."""
