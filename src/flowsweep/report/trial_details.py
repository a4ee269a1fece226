"""What a trial's own page needs beyond its row of the summary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import ibis.expr.types as ir

from flowsweep.analysis import core_loads
from flowsweep.analysis.hosts import HostCounterRow
from flowsweep.archive import Tables
from flowsweep.grouping import grouped

LEAST_BUSY_SHARE = 0.02
"""Cores that were busy for less of the time tell nothing."""


class FlowEndRow(TypedDict, total=False):
    """A flow at one of its ends; empty where nothing is known of that."""

    trial_id: str
    role: str
    flow: int
    host: str
    peer: str | None
    bytes: int
    end: str | None
    error: str | None
    cpu_user_us: int | None
    cpu_system_us: int | None
    cpu_elapsed_us: int | None


class CoreRow(TypedDict):
    """How busy a core was, as shares of the time."""

    trial_id: str
    role: str
    host: str
    core: int
    busy_share: float | None
    user_share: float | None
    system_share: float | None
    softirq_share: float | None
    irq_share: float | None
    steal_share: float | None


@dataclass(frozen=True, slots=True)
class TrialDetails:
    """Rows of each trial, by trial_id; a trial without any is not in there."""

    flows: Mapping[str, Sequence[FlowEndRow]] = field(default_factory=dict)
    """Of an archive's flows: one row per flow and end."""
    cores: Mapping[str, Sequence[CoreRow]] = field(default_factory=dict)
    """From `flowsweep.analysis.core_loads`."""
    counters: Mapping[str, Sequence[HostCounterRow]] = field(default_factory=dict)
    """Of an archive's counters: what rose."""


def trial_details(tables: Tables) -> TrialDetails:
    """Take the rows out of an archive."""
    flows = tables.flows.select(
        "trial_id", "role", "flow", "host", "peer", "bytes", "end", "error",
        "cpu_user_us", "cpu_system_us", "cpu_elapsed_us",
    )  # fmt: skip
    loads = core_loads(tables.cpu)
    counters = tables.counters.select(*HostCounterRow.__annotations__)
    return TrialDetails(
        flows=_by_trial(flows.order_by("trial_id", "flow", "role")),
        cores=_by_trial(loads.filter(loads.busy_share >= LEAST_BUSY_SHARE)),
        counters=_by_trial(counters.order_by("trial_id", "role", "host", "name")),
    )


def _by_trial(table: ir.Table) -> dict[str, list[Any]]:
    """Rows as Arrow has them; their type is that of the table."""
    return grouped(table.to_pyarrow().to_pylist(), lambda row: row["trial_id"])
