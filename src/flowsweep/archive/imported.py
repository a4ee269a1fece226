"""Trials that another tool ran, as the journal keeps them: what a file with past results said of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

GoodputMethod = Literal["receiver_median", "receiver_mean", "sender_median", "sender_mean"]
"""Which end counted, and what was taken: the median over intervals, or the mean of the whole transfer."""


class ImportedTrial(BaseModel):
    """One test of another tool. What its file does not say is null."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trial_id: str
    """12 hexadecimal digits: a hash of what the file says."""
    imported_from: str
    """Kind and name of the file."""
    sweep: str
    repeat: int
    """From 1: trials of one point in the order in which they were imported."""
    started_at: datetime | None
    elapsed_ns: int
    """How long the transfer took."""
    src: str
    dst: str
    test: Literal["tcp", "udp"] = "tcp"
    simultaneous: bool = False
    flows: int
    window_send_bytes: int | None
    """As the tool asked for it."""
    window_recv_bytes: int | None
    window_granted_send_bytes: int | None
    window_granted_recv_bytes: int | None
    length_bytes: int | None
    congestion: str | None
    duration_ns: int | None
    """As the tool asked for it."""
    omit_ns: int = 0
    """Lies inside the duration."""
    rate_bps: int | None = None
    """Of each flow, as the tool asked for it."""
    interval_ns: int | None
    """Width of the exact intervals of goodput; null where the file tells of none that count."""
    expected_bins: int
    """How many of them there are."""
    goodput_method: GoodputMethod
    reported_bytes: int | None
    """Of all flows, as the end has them that `goodput_method` names."""
    reported_goodput_bps: float | None
    """Goodput as the file has it; null where it follows from samples of the receiver, as for own trials."""

    @property
    def window_bytes(self) -> int | None:
        """Window per flow, where both ends asked for the same."""
        return self.window_send_bytes if self.window_send_bytes == self.window_recv_bytes else None


@dataclass(frozen=True, slots=True)
class ImportedOutcome:
    """An imported trial with its data."""

    record: ImportedTrial
    samples: pa.Table
    """One row per flow and interval of the end that told: host, peer, role, flow, start_ns, end_ns, bytes."""
    flows: pa.Table
    """One row per flow and end that the file tells of, in `flowsweep.run.outcome.FLOWS_SCHEMA`."""
    of_tests: Mapping[str, pa.Table] = field(default_factory=dict)
    """Further tables with rows, by name, as `flowsweep.archive.parquet.NEEDED_FIELDS` has them; what the file
    does not say is null."""
