"""Trials on the plateau of their direction: those that neither windows nor few flows hold back."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from flowsweep.analysis.findings.plateau.apart import split_by_interaction
from flowsweep.analysis.findings.plateau.start import plateau_start
from flowsweep.analysis.statistics.design import Design, design
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
    windows = split_by_interaction(window_levels(observed, grid), margin)
    flows = split_by_interaction(flows_alone(observed, grid, windows, margin), margin)
    return frozenset([*_below(windows, margin), *_below(flows, margin)])


def flows_alone(
    observed: Observations, grid: Design, windows: Sequence[LevelMeans], margin: float
) -> list[LevelMeans]:
    """Compare numbers of flows where no window holds them back.

    Small windows are granted in steps, and many flows have smaller ones: what that does is no effect of the
    number of flows.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        grid: Their design.
        windows: From `split_by_interaction`, of the same trials.
        margin: As for `held_back`.

    Returns:
        As `flow_levels`; of all windows where fewer than two numbers of flows are on the plateau of theirs.
    """
    limited = frozenset(_below(windows, margin))
    everywhere = flow_levels(grid)
    if not limited or not everywhere:
        return everywhere
    rest = replace(observed, rows=tuple(row for row in observed.rows if row["trial_id"] not in limited))
    alone = {(means.direction, means.congestion): means for means in flow_levels(design(rest))}
    return [alone.get((means.direction, means.congestion), means) for means in everywhere]


def _below(parts: Iterable[LevelMeans], margin: float) -> Iterable[str]:
    for means in parts:
        highest = set(plateau_start(means, margin).highest)
        for row, level in zip(means.rows, means.level_of.tolist(), strict=True):
            if level not in highest:
                yield row["trial_id"]
