"""Rows of a trial's own flows, apart from those of what ran beside it."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from flowsweep.run.outcome import TrialRecord

if TYPE_CHECKING:
    import ibis.expr.types as ir

OF_BACKGROUND = ("flows", "samples")
"""Tables whose rows of background traffic are kept apart; of the others they are left out."""
NUMBERED = {
    "cpu": "id",
    **dict.fromkeys(
        ("samples", "flows", "datagrams", "histograms", "subflows", "quic", "streams", "storage"), "flow"
    ),
}
"""Tables with rows of flows, and the column with the flow's number."""


def split(
    trials: "ir.Table",
    tables: Mapping[str, "ir.Table"],
    empty: Mapping[str, "ir.Table"],
    records: Collection[TrialRecord],
) -> "dict[str, ir.Table]":
    """Take the flows of background traffic, which are numbered after a trial's own, out of all tables.

    Args:
        trials: As in an archive.
        tables: Of the archive, by name; with rows of all flows.
        empty: Each of `OF_BACKGROUND` without rows.
        records: The attempts that count. Without such traffic nothing is done, so that it costs nothing.

    Returns:
        The tables by name, and those of `OF_BACKGROUND` once more as `background_NAME`.
    """
    beside = {f"background_{name}": table for name, table in empty.items()}
    if not any(record.trial.background for record in records):
        return {**tables, **beside}
    own_flows = trials.select("trial_id", own_flows=trials.flows)

    def apart(name: str, *, own: bool) -> "ir.Table":
        table = tables[name]
        rows = table.inner_join(own_flows, "trial_id")
        is_own = rows[NUMBERED[name]] < rows.own_flows
        if name == "cpu":
            is_own |= rows.kind != "thread"
        return rows.filter(is_own if own else ~is_own).select(*table.columns)

    kept = {name: apart(name, own=True) for name in NUMBERED}
    return {**tables, **kept, **{f"background_{name}": apart(name, own=False) for name in OF_BACKGROUND}}
