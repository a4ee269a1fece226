"""Trials that another tool ran, as the journal keeps them: what a file with past results said of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

import pyarrow as pa
from pydantic import BeforeValidator, Field

from flowsweep.defaults import (
    IMPORT_FLOWS_MAX,
    IMPORT_SUM_MAX,
    IMPORT_WINDOW_MAX_BYTES,
    NAME_MAX_CHARACTERS,
    SECOND_NS,
)
from flowsweep.frozen import Frozen
from flowsweep.plan.model import TimedTest
from flowsweep.run.outcome import EndRole

GoodputMethod = Literal["receiver_median", "receiver_mean", "sender_median", "sender_mean"]
"""Which end counted, and what was taken: the median over intervals, or the mean of the whole transfer."""


_GOODPUT_MAX_BPS = 8.0 * IMPORT_SUM_MAX * SECOND_NS
"""All that is counted, in a nanosecond."""
_Name = Annotated[str, Field(max_length=NAME_MAX_CHARACTERS)]
_Number = Annotated[int, Field(ge=0, le=IMPORT_SUM_MAX)]
_Size = Annotated[int, Field(ge=0, le=IMPORT_WINDOW_MAX_BYTES)]


def _unless_0(value: object) -> object:
    """Tools write 0 for what nobody asked for; earlier versions kept that."""
    return None if value == 0 else value


_AskedNumber = Annotated[_Number | None, BeforeValidator(_unless_0)]
_AskedSize = Annotated[_Size | None, BeforeValidator(_unless_0)]


class ImportedTrial(Frozen):
    """One test of another tool. What its file does not say is null.

    Numbers are such that every column of a table holds them, and what is made of them: who imports, and who
    reads an archive, checks them here.
    """

    trial_id: str = Field(max_length=NAME_MAX_CHARACTERS)
    """12 hexadecimal digits: a hash of what the file says."""
    imported_from: str = Field(max_length=2 * NAME_MAX_CHARACTERS)
    """Kind and name of the file."""
    sweep: _Name
    repeat: _Number
    """From 1: trials of one point as they were imported, each repeat on one occasion."""
    started_at: datetime | None
    elapsed_ns: _Number | None
    """How long the transfer took."""
    src: _Name
    dst: _Name
    test: TimedTest = "tcp"
    simultaneous: bool = False
    flows: int = Field(ge=1, le=IMPORT_FLOWS_MAX)
    window_send_bytes: _AskedSize
    """As the tool asked for it."""
    window_recv_bytes: _AskedSize
    window_granted_send_bytes: _Size | None
    window_granted_recv_bytes: _Size | None
    of_linux: tuple[EndRole, ...] = Field(default=(), exclude_if=lambda ends: not ends)
    """Ends of which the file says so: what Linux grants is twice of what it uses."""
    length_bytes: _AskedSize
    congestion: _Name | None
    duration_ns: _AskedNumber
    """As the tool asked for it."""
    omit_ns: _Number = 0
    """Lies inside the duration."""
    rate_bps: _AskedNumber = None
    """Of each flow, as the tool asked for it."""
    dscp: int | None = Field(default=None, ge=0, le=63, exclude_if=lambda dscp: dscp is None)
    """As the tool asked for it; so are MSS and pacing rate."""
    mss_bytes: _AskedSize = Field(default=None, exclude_if=lambda size: size is None)
    pacing_rate_bps: _AskedNumber = Field(default=None, exclude_if=lambda rate: rate is None)
    """Of each flow."""
    interval_ns: _Number | None
    """Width of the exact intervals of goodput; null where the file tells of none that count."""
    expected_bins: _Number
    """How many of them there are."""
    goodput_method: GoodputMethod
    reported_bytes: _Number | None
    """Of all flows, as the end has them that `goodput_method` names."""
    reported_goodput_bps: float | None = Field(ge=0, le=_GOODPUT_MAX_BPS, allow_inf_nan=False)
    """Goodput as the file has it; null where it follows from samples of the receiver, as for own trials."""
    failure: str | None = Field(default=None, max_length=2 * NAME_MAX_CHARACTERS)
    """Why the test gave no result, as its file tells it."""
    unfinished: str | None = Field(
        default=None, max_length=2 * NAME_MAX_CHARACTERS, exclude_if=lambda reason: reason is None
    )
    """Why its file tells of a part of the test only."""

    @property
    def window_bytes(self) -> int | None:
        """Window per flow, where both ends asked for the same."""
        return self.window_send_bytes if self.window_send_bytes == self.window_recv_bytes else None


@dataclass(frozen=True, slots=True)
class ImportedOutcome:
    """An imported trial with its data."""

    record: ImportedTrial
    samples: pa.Table
    """One row per flow and interval of the reporting end: host, peer, role, flow, start_ns, end_ns, bytes."""
    flows: pa.Table
    """One row per flow and end that the file tells of, in `flowsweep.run.tables.FLOWS_SCHEMA`."""
    of_tests: Mapping[str, pa.Table] = field(default_factory=dict)
    """Further tables with rows, by name, as `flowsweep.archive.parquet.NEEDED_FIELDS` has them; what the file
    does not say is null."""
