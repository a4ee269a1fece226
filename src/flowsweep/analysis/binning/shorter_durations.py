"""What shorter trials would have shown: the goodput of the first part of each."""

from typing import TypedDict

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.quantiles import middle
from flowsweep.defaults import MINIMUM_BINS

CUTS = (3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300, 600, 1200, 2400, 3600)
"""Numbers of intervals at which trials are cut: steps of about a quarter."""


class CutRow(TypedDict):
    """What the first part of a trial would have shown."""

    trial_id: str
    bins: int
    duration_ns: int
    goodput_bps: float


def durations_cut(intervals: ir.Table, trials: ir.Table) -> ir.Table:
    """Cut each trial short, and take the headline goodput of what is left.

    Args:
        intervals: From `flowsweep.analysis.intervals`.
        trials: As in an archive.

    Returns:
        One row per trial and number of intervals of CUTS below that of the trial: trial_id, bins (int64: how
        many intervals are left), duration_ns (int64: what would have been asked for, what is omitted
        included), goodput_bps (float64, bit/s: the median over the complete ones among them, as in
        docs/explanation/statistics.md, "Goodput"; no row where fewer than 3 are complete).

    Method:
        Seed 003's search for the optimal duration, without running shorter trials: a trial that is cut has
        the same first intervals as one that was asked to be shorter.
    """
    asked = trials.select("trial_id", "omit_ns", "interval_ns", "expected_bins")
    wanted = asked.mutate(cut=ibis.literal(list(CUTS), "array<int64>").unnest())
    shorter = wanted.filter(wanted.cut < wanted.expected_bins)
    complete = intervals.filter(intervals.complete).select("trial_id", "bin", "bytes")
    first = complete.inner_join(shorter, "trial_id")
    kept = first.filter(first.bin < first.cut)
    collected = kept.group_by("trial_id", "cut", "omit_ns", "interval_ns").aggregate(
        values=kept.bytes.collect().sort()
    )
    enough = collected.filter(collected["values"].length() >= MINIMUM_BINS)
    return enough.select(
        "trial_id",
        bins=enough.cut,
        duration_ns=enough.omit_ns + enough.cut * enough.interval_ns,
        goodput_bps=middle(enough["values"]) * 8e9 / enough.interval_ns,
    ).order_by("trial_id", "bins")
