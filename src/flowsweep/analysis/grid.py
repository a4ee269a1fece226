"""Trials as points of the grid that the plan asked for."""

import ibis
import ibis.expr.types as ir


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
