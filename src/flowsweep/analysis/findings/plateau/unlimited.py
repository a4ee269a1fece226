"""Trials on the plateau of their direction: those that neither windows nor few flows hold back."""

from collections.abc import Iterable

from flowsweep.analysis.findings.plateau.apart import split_by_interaction
from flowsweep.analysis.findings.plateau.start import plateau_start
from flowsweep.analysis.statistics.design import Design
from flowsweep.analysis.statistics.level_means import LevelMeans
from flowsweep.analysis.statistics.means import flow_levels, window_levels
from flowsweep.analysis.statistics.observations import Observations


def held_back(observed: Observations, grid: Design, margin: float) -> frozenset[str]:
    """Return trial_id of the trials that are below the plateau, or past it where goodput falls again.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        grid: Their design.
        margin: How far below its maximum (relative) goodput counts as on the plateau.
    """
    return frozenset([*_below(window_levels(observed, grid), margin), *_below(flow_levels(grid), margin)])


def _below(pooled: Iterable[LevelMeans], margin: float) -> Iterable[str]:
    for means in split_by_interaction(pooled, margin):
        highest = set(plateau_start(means, margin).highest)
        for row, level in zip(means.rows, means.level_of.tolist(), strict=True):
            if level not in highest:
                yield row["trial_id"]
