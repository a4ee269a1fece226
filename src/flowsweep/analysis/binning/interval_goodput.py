"""The exact intervals of trials, and the goodput of each trial from them.

The intervals of each flow, which are many more, are looked at only where they are needed.
"""

from collections.abc import Callable
from typing import TypedDict

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.binning.resampling import TRIAL, begun_in_bins, binned, intervals
from flowsweep.analysis.quantiles import tenfold_decile
from flowsweep.defaults import STALLED_SHARE

Keep = Callable[[str, ir.Table], ir.Table]


def as_it_is(_: str, table: ir.Table) -> ir.Table:
    """Keep no table: what starts from it computes it."""
    return table


def trial_intervals(
    samples: ir.Table, trials: ir.Table, starts: ir.Table, keep: Keep = as_it_is, *, gapless: bool = False
) -> ir.Table:
    """Sum the flows of each trial, bin by bin, as `flowsweep.analysis.intervals` of all `bins`.

    Args:
        samples: As in an archive.
        trials: As in an archive.
        starts: From `flowsweep.analysis.binning.alignment.flow_starts`.
        keep: As of `flowsweep.analysis.summarising.samples.sampled`.
        gapless: It is known that all of `starts` are: the expression is half as long then.

    Returns:
        One row per trial and bin: trial_id, bin, bytes (int64), complete (boolean).

    Method:
        Samples of a flow that are as long together as from its beginning to its end leave nothing out and
        cover nothing twice. Such flows cover a bin completely if what they cover of it, together, is as long
        as one bin for each of them. Where a flow has gaps, the bins of each flow of its trial are looked at.
    """
    if gapless:
        return _together(samples, trials, starts, keep)
    sinks = starts.filter(starts.role == "sink")
    gaps = (~sinks.gapless).cast("int64").max().over(ibis.window(group_by="trial_id"))
    looked_at = sinks.mutate(gaps=gaps)
    even, uneven = (looked_at.filter(looked_at.gaps == some).drop("gaps") for some in (0, 1))
    together = _together(samples, trials, even, keep)
    one_by_one = intervals(binned(samples, trials, uneven), trials)
    return together.union(one_by_one.select(*together.columns))


def _together(samples: ir.Table, trials: ir.Table, even: ir.Table, keep: Keep) -> ir.Table:
    begun = keep("begun", begun_in_bins(samples, trials, even, TRIAL))
    bins = binned(samples, trials, even, begun, TRIAL)
    joined = bins.inner_join(trials.select("trial_id", "flows", "interval_ns", "expected_bins"), "trial_id")
    expected = (joined.bin >= 0) & (joined.bin < joined.expected_bins)
    covered = joined.covered_ns == joined.flows * joined.interval_ns
    return joined.select("trial_id", "bin", "bytes", complete=covered & expected)


def trial_goodputs(totals: ir.Table, trials: ir.Table) -> ir.Table:
    """Per trial with complete intervals: how many, and the distribution of goodput over them.

    least_bytes (int64) is what an interval has that did not stall: STALLED_SHARE of the median, and a byte.
    """
    complete = totals.filter(totals.complete).inner_join(trials.select("trial_id", "interval_ns"), "trial_id")
    collected = complete.group_by("trial_id", "interval_ns").aggregate(
        bins=complete.count(),
        complete_bytes=complete.bytes.sum().cast("int64"),
        bytes=complete.bytes.collect(),
    )
    ordered = collected.mutate(bytes=collected.bytes.sort())
    counts = ordered.mutate(
        **{f"tenfold_{decile}": tenfold_decile(ordered.bytes, decile=decile) for decile in (1, 5, 9)}
    )

    def rate(count: ir.IntegerValue, per: ir.IntegerValue) -> ir.FloatingValue:
        return count.cast("float64") * 8e9 / (per * counts.interval_ns)

    ten = ibis.literal(10, "int64")
    return counts.select(
        "trial_id",
        "bins",
        goodput_bps=rate(counts.tenfold_5, ten),
        goodput_p10_bps=rate(counts.tenfold_1, ten),
        goodput_p90_bps=rate(counts.tenfold_9, ten),
        goodput_mean_bps=rate(counts.complete_bytes, counts.bins),
        least_bytes=ibis.greatest(
            (counts.tenfold_5 * STALLED_SHARE / 10).ceil().cast("int64"), ibis.literal(1, "int64")
        ),
    )


def with_stalled_share(goodputs: ir.Table, totals: ir.Table) -> ir.Table:
    """Add for which share of its complete intervals each trial stood still.

    Args:
        goodputs: From `trial_goodputs`.
        totals: What they are of.

    Returns:
        The same, stalled_share instead of least_bytes (float64): intervals with fewer bytes than that, over
        all; those before the first that has as many are the beginning, as of slow start, and not counted.
    """
    complete = totals.filter(totals.complete)
    known = complete.inner_join(goodputs.select("trial_id", "least_bytes"), "trial_id")
    low = known.bytes < known.least_bytes
    begun = ibis.cases((~low, known.bin)).min().over(ibis.window(group_by="trial_id"))
    marked = known.select("trial_id", stalled=(low & (known.bin > begun)).cast("int64"))
    stalls = marked.group_by("trial_id").aggregate(stalled=marked.stalled.sum().coalesce(0).cast("int64"))
    joined = goodputs.inner_join(stalls, "trial_id")
    share = joined.stalled.cast("float64") / joined.bins
    return joined.mutate(stalled_share=share).drop("least_bytes", "stalled")


class IntervalRow(TypedDict):
    """The goodput of a trial in an interval that counts."""

    trial_id: str
    bin: int
    goodput_bps: float


def interval_goodputs(intervals: ir.Table, trials: ir.Table) -> ir.Table:
    """List the exact intervals that count.

    Args:
        intervals: From `trial_intervals`, or `flowsweep.analysis.intervals`.
        trials: As in an archive.

    Returns:
        One row per trial and complete interval, in their order: trial_id, bin (int64, from 0), goodput_bps
        (float64, bit/s, Σ over the flows of what the sinks' applications read).

    Method:
        As of the headline goodput, the median over these: docs/explanation/statistics.md, "Coverage".
    """
    complete = intervals.filter(intervals.complete).select("trial_id", "bin", "bytes")
    timed = complete.inner_join(trials.select("trial_id", "interval_ns"), "trial_id")
    goodput_bps = timed.bytes.cast("float64") * 8e9 / timed.interval_ns
    return timed.select("trial_id", "bin", goodput_bps=goodput_bps).order_by("trial_id", "bin")
