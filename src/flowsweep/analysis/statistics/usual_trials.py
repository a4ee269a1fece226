"""A design without the trials that stand out from their repeats."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from flowsweep.analysis.statistics.design import Design
from flowsweep.analysis.statistics.observations import DIRECTION
from flowsweep.analysis.statistics.repeat_noise import RepeatNoise, repeat_noise
from flowsweep.analysis.statistics.robust_fit import RobustFit, robust_fit
from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.defaults import EQUIVALENCE_MARGIN, SLOW_SHARE

_SLOW = math.log(SLOW_SHARE)
_PAIR = 2

Point = tuple[Hashable, ...]
"""Hosts, direction and the level of each axis."""


class LeftOut(NamedTuple):
    """What takes no part, since it stands out from its repeats."""

    trials: int
    points: int
    """Of which nothing is left."""
    of_points: int


def fit_of_repeats(noise: RepeatNoise) -> RobustFit | None:
    """Fit the repeats of a design robustly: `robust_fit`, in which nothing of no practical effect stands out.

    Args:
        noise: Of trials of one sweep and mode; natural logarithms of goodput.
    """
    return robust_fit(noise.logs, noise.cells, noise.blocks, least=math.log1p(EQUIVALENCE_MARGIN))


def usual_trials(grid: Design) -> tuple[Design, LeftOut]:
    """Leave out the trials of a design that stand out: a slow one moves a mean by more than any effect.

    Args:
        grid: Of trials of one sweep and mode; goodput in bit/s.

    Returns:
        What is left, and how many trials and whole points that leaves out: the units of a trial that stands
        out, the points of which it is not known which repeat is slow (`robust_fit`), and points that nobody
        can vouch for: of one repeat, of two where other trials stand out, with less than half of what three
        quarters of the points have that differ from it in one axis only. The design itself where that is
        none, where a level of an axis would be lost, or where points ran once.
    """
    noise = repeat_noise(grid)
    nothing = LeftOut(0, 0, len(_points(grid)))
    if noise is None:
        return grid, nothing
    found = fit_of_repeats(noise)
    unusual: set[str] = set()
    if found is not None:
        slow = [places for places in found.undecided if np.ptp(noise.logs[list(places)]) > -_SLOW]
        places = (*found.outside, *(place for group in slow for place in group))
        unusual = {noise.rows[place]["trial_id"] for place in places}
    values: dict[Point, list[float]] = {}
    trials: dict[Point, list[str]] = {}
    for unit in grid.units:
        for row in unit.rows:
            if row["trial_id"] not in unusual:
                point = (unit.hosts, row[DIRECTION], *unit.levels)
                values.setdefault(point, []).append(math.log(goodput_of(row)))
                trials.setdefault(point, []).append(row["trial_id"])
    means = {point: float(np.mean(logs)) for point, logs in values.items()}
    vouched = _PAIR if unusual else 1
    for point, logs in values.items():
        if len(logs) <= vouched and _below_neighbours(point, means):
            unusual.update(trials[point])
    units = tuple(unit for unit in grid.units if not any(row["trial_id"] in unusual for row in unit.rows))
    left = replace(grid, units=units)
    if any(set(left.levels(axis)) != set(grid.levels(axis)) for axis in grid.axes):
        return grid, nothing
    points = nothing.of_points - len(_points(left))
    return left, LeftOut(len(grid.trials) - len(left.trials), points, nothing.of_points)


def _points(grid: Design) -> set[Point]:
    return {(unit.hosts, *unit.levels) for unit in grid.units}


def _below_neighbours(point: Point, means: Mapping[Point, float]) -> bool:
    """Whether a point has less than half of most others that differ from it in one axis, or the direction."""
    differences = sorted(
        means[point] - mean
        for other, mean in means.items()
        if sum(mine != its for mine, its in zip(point, other, strict=True)) == 1
    )
    return bool(differences) and differences[-1 - len(differences) // 4] < _SLOW
