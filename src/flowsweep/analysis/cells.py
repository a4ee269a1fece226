"""Trials of the same point put together: the median over the repeats, and their spread."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.exact import quotient
from flowsweep.analysis.ranks import ranked

POINT_COLUMNS = (
    "sweep", "src", "dst", "test", "simultaneous", "flows", "flows_per_pair", "sources", "sinks",
    "window_bytes", "window_sum_bytes",
    "window_send_bytes", "window_recv_bytes", "window_sum_asked_bytes", "length_bytes", "congestion_asked",
    "duration_s", "rate_bps", "pacing_rate_bps", "mss_bytes", "dscp", "no_delay", "affinity", "family",
    "mode",
)  # fmt: skip
"""What trials of one point have in common: they differ in their repeat only."""


def cells(trials: ir.Table) -> ir.Table:
    """Put together the trials of each point. Only those that ended `ok` count for its goodput.

    Args:
        trials: From `flowsweep.analysis.points`; or a summary, if it does not matter which window sum was
            asked for.

    Returns:
        One row per point, in the order in which they ran first: POINT_COLUMNS, as far as `trials` has them,
        then goodput_median_bps, goodput_lowest_bps and goodput_highest_bps (float64, over the repeats, null
        if none ended well), goodputs_bps (array, one for each of them, in no order; null if none did),
        repeats_ok, trials (all that were run), window_capped (of any), order_index (of the first).
    """
    point = [name for name in POINT_COLUMNS if name in trials.columns]
    told = trials.mutate(counts=(trials.status == "ok") & trials.goodput_bps.notnull())
    # The rank tells trials apart that count, and those that do not, each by themselves.
    rows = ranked(told, "goodput_bps", groups=[*point, "counts"], ties="trial_id")
    two = ibis.literal(2, "int64")
    lower, upper = quotient(rows["count"] - 1, two), quotient(rows["count"], two)
    middle = (rows["rank"] == lower) | (rows["rank"] == upper)
    put_together = rows.group_by(point).aggregate(
        goodput_median_bps=rows.goodput_bps.mean(where=rows.counts & middle),
        goodput_lowest_bps=rows.goodput_bps.min(where=rows.counts),
        goodput_highest_bps=rows.goodput_bps.max(where=rows.counts),
        goodputs_bps=rows.goodput_bps.collect(where=rows.counts),
        repeats_ok=rows.counts.sum().cast("int64"),
        trials=rows.count(),
        window_capped=rows.window_capped.any(),
        order_index=rows.order_index.min(),
    )
    asked = [name for name in ("window_sum_asked_bytes",) if name in point]
    return put_together.order_by("order_index", *asked)
