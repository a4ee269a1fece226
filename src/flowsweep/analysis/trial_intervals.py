"""The intervals of trials; those of each flow, which are many more, only where they are needed."""

from collections.abc import Callable

import ibis
import ibis.expr.types as ir

from flowsweep.analysis.resampling import TRIAL, begun_in_bins, binned, intervals

Keep = Callable[[str, ir.Table], ir.Table]


def trial_intervals(samples: ir.Table, trials: ir.Table, starts: ir.Table, keep: Keep) -> ir.Table:
    """Sum the flows of each trial, bin by bin, as `flowsweep.analysis.intervals` of all `bins`.

    Args:
        samples: As in an archive.
        trials: As in an archive.
        starts: From `flowsweep.analysis.alignment.flow_starts`.
        keep: As of `flowsweep.analysis.sampled.sampled`.

    Returns:
        One row per trial and bin: trial_id, bin, bytes (int64), complete (boolean).

    Method:
        Samples of a flow that are as long together as from its beginning to its end leave nothing out and
        cover nothing twice. Such flows cover a bin completely if what they cover of it, together, is as long
        as one bin for each of them. Where a flow has gaps, the bins of each flow of its trial are looked at.
    """
    sinks = starts.filter(starts.role == "sink")
    gaps = (~sinks.gapless).cast("int64").max().over(ibis.window(group_by="trial_id"))
    looked_at = sinks.mutate(gaps=gaps)
    even, uneven = (looked_at.filter(looked_at.gaps == some).drop("gaps") for some in (0, 1))
    begun = keep("begun", begun_in_bins(samples, trials, even, TRIAL))
    together = _of_trials(binned(samples, trials, even, begun, TRIAL), trials)
    one_by_one = intervals(binned(samples, trials, uneven), trials)
    return together.union(one_by_one.select(*together.columns))


def _of_trials(bins: ir.Table, trials: ir.Table) -> ir.Table:
    joined = bins.inner_join(trials.select("trial_id", "flows", "interval_ns", "expected_bins"), "trial_id")
    expected = (joined.bin >= 0) & (joined.bin < joined.expected_bins)
    covered = joined.covered_ns == joined.flows * joined.interval_ns
    return joined.select("trial_id", "bin", "bytes", complete=covered & expected)
