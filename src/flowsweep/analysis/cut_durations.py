"""What shorter trials would have said: the headline goodput of the first intervals of each trial."""

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.ranks import tenfold_decile
from flowsweep.analysis.resampling import bins, intervals
from flowsweep.defaults import MINIMUM_BINS

CUT_BINS = tuple(
    count
    for count in (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300, 600)
    if count >= MINIMUM_BINS
)
"""Numbers of intervals after which a trial is cut; evenly spaced on a log axis, roughly."""


def cut_durations(samples: ir.Table, trials: ir.Table, flows: ir.Table) -> ir.Table:
    """Cut each trial short, and take the headline goodput of what is left.

    Args:
        samples: As in an archive.
        trials: As in an archive.
        flows: As in an archive.

    Returns:
        One row per trial and cut, in their order: trial_id; cut_bins (int64, the first so many intervals;
        those of CUT_BINS that are shorter than the trial, and all of it); duration_s (float64, seconds: with
        what is omitted at the beginning, as a plan would ask for it); goodput_bps (float64, bit/s, the median
        over these intervals). A cut with an incomplete interval is left out.

    Method:
        The median of seed 000's tests and of every summary (type 7 of Hyndman and Fan 1996), over a prefix of
        the intervals. The cuts of a trial share intervals: they are no repeats of each other.
    """
    totals = intervals(bins(samples, trials, flows), trials)
    asked = trials.select("trial_id", "interval_ns", "omit_ns", "expected_bins")
    rows = totals.filter(totals.complete).select("trial_id", "bin", "bytes").inner_join(asked, "trial_id")
    shorter = [ibis.cases((rows.expected_bins > count, count)) for count in CUT_BINS]
    spread = rows.mutate(cut_bins=ibis.array([*shorter, rows.expected_bins]).unnest())
    kept = spread.filter(spread.cut_bins.notnull() & (spread.bin < spread.cut_bins))
    cuts = kept.group_by("trial_id", "cut_bins", "interval_ns", "omit_ns").aggregate(
        bins=kept.count(), all_bytes=kept.bytes.collect()
    )
    whole = cuts.filter(cuts.bins == cuts.cut_bins)
    median = tenfold_decile(whole.all_bytes.sort(), decile=5)
    return whole.select(
        "trial_id",
        "cut_bins",
        duration_s=(whole.omit_ns + whole.cut_bins * whole.interval_ns).cast("float64") / 1e9,
        goodput_bps=median.cast("float64") * 8e9 / (10 * whole.interval_ns),
    ).order_by("trial_id", "cut_bins")
