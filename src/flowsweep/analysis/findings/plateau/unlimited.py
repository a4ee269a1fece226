"""Trials on the plateau of their direction: those that neither windows nor few flows hold back."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from flowsweep.analysis.findings.plateau.apart import split_by_interaction
from flowsweep.analysis.findings.plateau.start import plateau_start
from flowsweep.analysis.statistics.design import Design, design
from flowsweep.analysis.statistics.level_means import LevelMeans
from flowsweep.analysis.statistics.means import flow_levels, window_levels
from flowsweep.analysis.statistics.observations import Observations


def plateau_levels(observed: Observations, margin: float) -> list[LevelMeans]:
    """Compare windows, and numbers of flows that no window holds back, for each direction by itself.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        margin: How far below its maximum (relative) goodput counts as on the plateau.
    """
    grid = design(observed, paired=False)
    windows = split_by_interaction(window_levels(observed, grid), margin)
    return [*windows, *split_by_interaction(flows_alone(observed, grid, windows, margin), margin)]


def held_back(levels: Sequence[LevelMeans], margin: float) -> frozenset[str]:
    """Return trial_id of the trials that are below the plateau, or past it where goodput falls again.

    Args:
        levels: From `plateau_levels`.
        margin: As for `plateau_levels`.
    """
    return frozenset(_below(levels, margin))


def untried(levels: Sequence[LevelMeans], direction: str, beside: str, margin: float) -> LevelMeans | None:
    """Find levels of one direction whose plateau may lie above them, at levels that only another one has.

    Args:
        levels: From `plateau_levels`.
        direction: The one that may have more.
        beside: The other one.
        margin: As for `plateau_levels`.

    Returns:
        Levels of which the largest alone is on the plateau, while trials of the other direction at the same
        point of the other axes have larger ones; null where there are none.
    """
    for means in levels:
        last = len(means.levels) - 1
        if means.direction != direction or plateau_start(means, margin).highest != (last,):
            continue
        points = {one.point for one in means.placed}
        if any(
            one.level > means.levels[last] and one.point in points
            for other in levels
            if (other.direction, *_question(other)) == (beside, *_question(means))
            for one in other.placed
        ):
            return means
    return None


def _question(means: LevelMeans) -> tuple[object, ...]:
    return means.axis, means.congestion, means.others


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
        margin: As for `plateau_levels`.

    Returns:
        As `flow_levels`; of all windows where fewer than two numbers of flows are on the plateau of theirs.
    """
    limited = frozenset(_below(windows, margin))
    everywhere = flow_levels(grid)
    if not limited or not everywhere:
        return everywhere
    rest = replace(observed, rows=tuple(row for row in observed.rows if row["trial_id"] not in limited))
    alone = {(means.direction, means.congestion): means for means in flow_levels(design(rest, paired=False))}
    return [alone.get((means.direction, means.congestion), means) for means in everywhere]


def _below(parts: Iterable[LevelMeans], margin: float) -> Iterable[str]:
    for means in parts:
        highest = set(plateau_start(means, margin).highest)
        for row, level in zip(means.rows, means.level_of.tolist(), strict=True):
            if level not in highest:
                yield row["trial_id"]
