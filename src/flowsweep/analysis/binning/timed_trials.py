"""What several ask of a campaign's trials over their own time: computed once, kept beside the samples."""

from dataclasses import dataclass

import ibis.expr.types as ir
import pyarrow.compute as pc

from flowsweep.analysis.binning.alignment import kept_starts
from flowsweep.analysis.binning.interval_goodput import trial_intervals
from flowsweep.analysis.binning.shorter_durations import CutRow, durations_cut
from flowsweep.archive import Tables, keep_with


@dataclass(frozen=True, slots=True)
class TimedTrials:
    """A campaign's trials, each over its own time."""

    starts: ir.Table
    """From `flowsweep.analysis.binning.alignment.kept_starts`."""
    gapless: bool
    """Whether all of `starts` are."""
    intervals: ir.Table
    """From `trial_intervals`."""
    cuts: tuple[CutRow, ...]
    """From `flowsweep.analysis.binning.shorter_durations`."""


def timed_trials(tables: Tables) -> TimedTrials:
    """Bring all trials of a campaign that have samples onto their own time.

    Args:
        tables: Of the campaign.

    Returns:
        Durations in ns, goodputs in bit/s. Methods: `trial_intervals`, `durations_cut`.
    """
    samples, trials = tables.samples, tables.trials
    found = kept_starts(tables).to_pyarrow()
    starts = keep_with(trials, "starts_within", found)
    gapless = pc.all(found["gapless"], skip_nulls=False).as_py() is True
    summed = trial_intervals(samples, trials, starts, gapless=gapless).to_pyarrow()
    intervals = keep_with(trials, "intervals_within", summed)
    cuts: list[CutRow] = durations_cut(intervals, trials).to_pyarrow().to_pylist()
    return TimedTrials(starts, gapless, intervals, tuple(cuts))
