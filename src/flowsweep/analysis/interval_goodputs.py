"""The goodput of every complete interval: what the distribution within trials is made of."""

import ibis.expr.types as ir


def interval_goodputs(intervals: ir.Table) -> ir.Table:
    """List the exact intervals that count.

    Args:
        intervals: From `flowsweep.analysis.intervals`.

    Returns:
        One row per trial and complete interval, in their order: trial_id, bin (int64, from 0), goodput_bps
        (float64, bit/s, Σ over the flows of what the sinks' applications read).

    Method:
        As of the headline goodput, the median over these: docs/explanation/statistics.md, "Coverage".
    """
    complete = intervals.filter(intervals.complete)
    return complete.select("trial_id", "bin", "goodput_bps").order_by("trial_id", "bin")
