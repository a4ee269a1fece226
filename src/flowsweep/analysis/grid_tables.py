"""Tables of trials as points of the grid that the plan asked for, and each point's repeats put together."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.analysis.quantiles import middle


def points(summary: ir.Table, trials: ir.Table) -> ir.Table:
    """Give each trial one row for each window sum of the plan that it answers.

    Points that `window_max` made equal ran once; here each of them is there, so that a surface over (window
    sum, flows) has no holes.

    Args:
        summary: From `flowsweep.analysis.summary`.
        trials: As in an archive.

    Returns:
        The summary's columns and window_sum_asked_bytes (int64; the trial's own window sum if the plan asked
        for windows per flow, null if it asked for none).
    """
    asked = trials.select("trial_id", asked=trials.window_sums_asked_bytes)
    joined = summary.inner_join(asked, "trial_id")
    sums = (joined.asked.length() > 0).ifelse(joined.asked, ibis.array([joined.window_sum_bytes]))
    return joined.mutate(window_sum_asked_bytes=sums.unnest()).drop("asked")


def cells(trials: ir.Table) -> ir.Table:
    """Put together the trials of each point. Only those that ended `ok` count for its goodput.

    Args:
        trials: From `flowsweep.analysis.points`; or a summary, if it does not matter which window sum was
            asked for.

    Returns:
        One row per point, in the order in which they ran first: POINT_COLUMNS, as far as `trials` has them,
        then goodput_median_bps, goodput_lowest_bps and goodput_highest_bps (float64, over the repeats, null
        if none ended well), goodputs_bps (array, one for each of them, sorted; null if none did),
        repeats_ok, trials (all that were run), window_capped (of any), order_index (of the first).
    """
    point = [name for name in POINT_COLUMNS if name in trials.columns]
    marked = trials.mutate(counts=(trials.status == "ok") & trials.goodput_bps.notnull())
    put_together = marked.group_by(point).aggregate(
        goodput_lowest_bps=marked.goodput_bps.min(where=marked.counts),
        goodput_highest_bps=marked.goodput_bps.max(where=marked.counts),
        goodputs_bps=marked.goodput_bps.collect(where=marked.counts),
        repeats_ok=marked.counts.sum().cast("int64"),
        trials=marked.count(),
        window_capped=marked.window_capped.any(),
        order_index=marked.order_index.min(),
    )
    ordered = put_together.mutate(goodputs_bps=put_together.goodputs_bps.sort())
    medians = ordered.mutate(
        goodput_median_bps=middle(ordered.goodputs_bps),
        goodputs_bps=ibis.cases((ordered.repeats_ok > 0, ordered.goodputs_bps)),
    )
    asked = [name for name in ("window_sum_asked_bytes",) if name in point]
    return medians.select(
        *point, "goodput_median_bps", "goodput_lowest_bps", "goodput_highest_bps", "goodputs_bps",
        "repeats_ok", "trials", "window_capped", "order_index",
    ).order_by("order_index", *asked)  # fmt: skip
