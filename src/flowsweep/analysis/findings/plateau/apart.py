"""Levels compared apart where another axis decides which of them is enough, or how high the plateau is."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from flowsweep.analysis.axes import AXIS_NAMES
from flowsweep.analysis.findings.plateau.start import plateau_start
from flowsweep.analysis.statistics.design import Level
from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.analysis.statistics.level_means import LevelMeans
from flowsweep.analysis.statistics.means import WINDOW_AXES
from flowsweep.defaults import SIGNIFICANCE


def split_by_interaction(pooled: Iterable[LevelMeans], margin: float) -> list[LevelMeans]:
    """Test whether the plateau is the same at each level of the other axes, and split where it is not.

    Args:
        pooled: From `window_levels` or `flow_levels`.
        margin: A relative change of goodput up to this is of no practical effect.

    Returns:
        In the same order. The other axes are tested one by one, flows first. What is tested is the plateau
        and the last level below it: whether its height, or how far one of these levels is from their mean,
        differs at one level of the other axis from the rest; the height only where there is a level below, as
        it is not stated where the smallest level is enough (interaction contrasts, t, Bonferroni over all
        of them; Scheffé, The Analysis of Variance, 1959, ch. 4). Where one differs beyond chance and by more
        than the margin, the axis with the smallest p-value splits the trials, and its parts are tested again.
        Numbers of flows are kept at the window of the highest goodput alone, where windows split them. Where
        points ran once, nothing tells an interaction from noise, and nothing is split.
    """
    return [part for means in pooled for part in _parts(means, margin)]


def told_apart(means: LevelMeans) -> str:
    """Say in a method by what levels are told apart, and whose noise counts (`LevelMeans.cautious`)."""
    if not means.apart:
        return ""
    by = " and ".join(AXIS_NAMES[axis] for axis, _ in means.apart)
    return (
        f"; told apart by {by}; a level's noise is that over all of them where it is more, with degrees of "
        "freedom after Welch"
    )


def _parts(means: LevelMeans, margin: float) -> list[LevelMeans]:
    p_values = {
        axis: _p_value(means, axis, margin) for axis in sorted(means.others, key=lambda axis: axis != "flows")
    }
    if not p_values or means.fit is None or not means.repeated:
        return [means]
    axis = min(p_values, key=lambda name: p_values[name])
    if p_values[axis] >= SIGNIFICANCE:
        return [means]
    split = [own for level in _levels(means, axis) if (own := means.at(axis, level)) is not None]
    if means.axis == "flows" and axis in WINDOW_AXES:
        # How many flows are enough where a window holds them back is a question about the window.
        split = [max(split, key=lambda own: float(own.logs.mean()))] if split else []
    return [part for own in split for part in _parts(own, margin)]


def _p_value(means: LevelMeans, axis: str, margin: float) -> float:
    """Of "the plateau is the same at all levels of another axis"; what is within the margin counts as 1."""
    levels = _levels(means, axis)
    if len(levels) < 2 or means.fit is None or not means.repeated:
        return 1.0
    contrasts = [*_contrasts(means, axis, levels, margin)]
    if not contrasts:
        return 1.0
    compared = means.cautious(contrasts)
    counts = np.abs(compared.value) > math.log1p(margin)
    p_values = np.where(counts, compared.p_values, 1.0) * len(contrasts)
    return float(p_values.min())


def _levels(means: LevelMeans, axis: str) -> list[Level]:
    place = means.others.index(axis)
    found = list(dict.fromkeys(one.point[place] for one in means.placed))
    if any(isinstance(level, str | tuple) for level in found):
        return found
    return sorted(found, key=lambda level: (level is not None, level))


def _contrasts(means: LevelMeans, axis: str, levels: Sequence[Level], margin: float) -> Iterable[Floats]:
    found = plateau_start(means, margin)
    kept = sorted({max(found.earliest - 1, 0), *found.highest})
    tables = [_shares(means, axis, level) for level in levels]
    # Compared is where all levels of the other axis ran.
    there = [number for number in kept if all(number in table for table in tables)]
    if not there:
        return
    own = [np.array([table[number] for number in there]) for table in tables]
    for place, table in enumerate(own):
        rest = np.mean([other for at, other in enumerate(own) if at != place], axis=0)
        apart = table - rest
        plateau = [at for at, number in enumerate(there) if number in found.highest]
        if plateau and found.start > 0:
            yield apart[plateau].mean(axis=0)
        if len(there) > 1:
            yield from apart - apart.mean(axis=0)


def _shares(means: LevelMeans, axis: str, level: Level) -> dict[int, Floats]:
    """What each cell counts in the mean of each level, of those at one level of another axis."""
    place = means.others.index(axis)
    cells: dict[int, set[int]] = {}
    for one, number, cell in zip(means.placed, means.level_of, means.cells, strict=True):
        if one.point[place] == level:
            cells.setdefault(int(number), set()).add(int(cell))
    shares = {}
    for number, own in cells.items():
        row = np.zeros(len(means.shares[0]))
        row[sorted(own)] = 1 / len(own)
        shares[number] = row
    return shares
