"""What a trial's own page needs beyond its row of the summary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import ibis.expr.types as ir

from flowsweep.analysis import core_loads
from flowsweep.archive import Tables
from flowsweep.figures.axis import Row

LEAST_BUSY_SHARE = 0.02
"""Cores that were busy for less of the time tell nothing."""

ByTrial = Mapping[str, Sequence[Row]]


@dataclass(frozen=True, slots=True)
class TrialDetails:
    """Rows of each trial, by trial_id; a trial without any is not in there."""

    flows: ByTrial = field(default_factory=dict)
    """Of an archive's flows: one row per flow and end."""
    cores: ByTrial = field(default_factory=dict)
    """From `flowsweep.analysis.core_loads`."""
    counters: ByTrial = field(default_factory=dict)
    """Of an archive's counters: what rose."""


def trial_details(tables: Tables) -> TrialDetails:
    """Take the rows out of an archive."""
    flows = tables.flows.select(
        "trial_id", "role", "flow", "host", "peer", "bytes", "end", "error",
        "cpu_user_us", "cpu_system_us", "cpu_elapsed_us",
    )  # fmt: skip
    loads = core_loads(tables.cpu)
    counters = tables.counters.select("trial_id", "host", "role", "name", "value")
    return TrialDetails(
        flows=_by_trial(flows.order_by("trial_id", "flow", "role")),
        cores=_by_trial(loads.filter(loads.busy_share >= LEAST_BUSY_SHARE)),
        counters=_by_trial(counters.order_by("trial_id", "role", "host", "name")),
    )


def _by_trial(table: ir.Table) -> ByTrial:
    found: dict[str, list[Row]] = {}
    for row in table.to_pyarrow().to_pylist():
        found.setdefault(row["trial_id"], []).append(row)
    return found
