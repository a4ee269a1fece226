"""How the sender's rate went on within imported trials of whose receiver the files have the mean only."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

import ibis.expr.types as ir

from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.archive import Tables
from flowsweep.defaults import MINIMUM_BINS, SECOND_NS

_METHOD = "receiver_mean"


class SenderCourse(TypedDict):
    """The rate of a trial's flows together in the first and in the last third of the time that counts."""

    trial_id: str
    first_bps: float
    last_bps: float


def sender_courses(tables: Tables, summary: Sequence[TrialRow]) -> list[SenderCourse]:
    """Compare the first third of imported trials with the last, by the intervals of their senders.

    Args:
        tables: As in an archive.
        summary: Rows of the same trials.

    Returns:
        One for each imported trial that has the receiver's mean, the bytes of both ends and at least
        `MINIMUM_BINS` intervals of each of the sender's flows, in the order of the summary.

    Method:
        Bytes of intervals by how much of them lies in a third. A sender counts what it passes to its kernel,
        which first fills the send buffer; so what never came is taken off the first third.
    """
    counted = {row["trial_id"]: row for row in summary if _is_counted(row)}
    if not counted:
        return []
    thirds = {row["trial_id"]: row for row in _thirds(tables).to_pyarrow().to_pylist()}
    return [_course(row, thirds[trial_id]) for trial_id, row in counted.items() if trial_id in thirds]


def _is_counted(row: TrialRow) -> bool:
    both_ends = row.get("bytes") is not None and row.get("bytes_sent") is not None
    return both_ends and bool(row.get("imported_from")) and row.get("goodput_method") == _METHOD


def _thirds(tables: Tables) -> ir.Table:
    """For each trial: trial_id, first, last (bytes), third_ns (float64)."""
    asked = tables.trials
    imported = asked.filter(asked.imported_from.notnull() & (asked.goodput_method == _METHOD))
    source = tables.samples.filter(tables.samples.role == "source")
    rows = source.inner_join(imported.select("trial_id", "omit_ns", flow_count=imported.flows), "trial_id")
    rows = rows.filter((rows.start_ns >= rows.omit_ns) & (rows.end_ns > rows.start_ns))
    by_flow = rows.group_by("trial_id", "flow", "flow_count").aggregate(
        count=rows.count(), begin_ns=rows.start_ns.min(), over_ns=rows.end_ns.max()
    )
    spans = by_flow.group_by("trial_id", "flow_count").aggregate(
        flows_seen=by_flow.count(),
        fewest=by_flow["count"].min(),
        begin_ns=by_flow.begin_ns.min(),
        over_ns=by_flow.over_ns.max(),
    )
    whole = spans.filter((spans.flows_seen == spans.flow_count) & (spans.fewest >= MINIMUM_BINS))
    third_ns = (whole.over_ns - whole.begin_ns).cast("float64") / 3
    joined = rows.select("trial_id", "start_ns", "end_ns", "bytes").inner_join(
        whole.select("trial_id", "begin_ns", "over_ns", third_ns=third_ns), "trial_id"
    )
    begins = (joined.start_ns - joined.begin_ns).cast("float64")
    ends = (joined.end_ns - joined.begin_ns).cast("float64")
    width = ends - begins
    parted = joined.mutate(
        first=joined.bytes * ((joined.third_ns - begins) / width).clip(lower=0, upper=1),
        last=joined.bytes * ((ends - 2 * joined.third_ns) / width).clip(lower=0, upper=1),
    )
    sums = {part: parted[part].sum() for part in ("first", "last")}
    return parted.group_by("trial_id", "third_ns").aggregate(**sums)


def _course(row: TrialRow, thirds: Mapping[str, float]) -> SenderCourse:
    never_came = max(known(row["bytes_sent"]) - known(row["bytes"]), 0)
    to_bps = 8 * SECOND_NS / thirds["third_ns"]
    return {
        "trial_id": row["trial_id"],
        "first_bps": max(thirds["first"] - never_came, 0.0) * to_bps,
        "last_bps": thirds["last"] * to_bps,
    }
