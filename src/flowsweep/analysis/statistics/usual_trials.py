"""A design without the trials that stand out from their repeats."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from flowsweep.analysis.axes import UNORDERED, level_of
from flowsweep.analysis.statistics.design import AXES, Design, Level
from flowsweep.analysis.statistics.observations import DIRECTION, ObservedRow
from flowsweep.analysis.statistics.repeat_noise import RepeatNoise, repeat_noise
from flowsweep.analysis.statistics.robust_fit import RobustFit, robust_fit
from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.defaults import EQUIVALENCE_MARGIN, SLOW_SHARE

_SLOW = math.log(SLOW_SHARE)
_AGREE = -_SLOW / 2
"""What other repeats of a point may differ by, natural logarithm, to speak with one voice against one."""
_PAIR = 2
_FIRST_AXIS = 2
"""Place of the first level in a `Point`."""

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
        out, the points of which it is not known which repeat is slow (`robust_fit`) unless one is
        `alone_above`, and points that nobody can vouch for: of one repeat, of two where other trials stand
        out, with less than half of what three quarters of the points have that differ from it in one axis
        only, of all axes and of each by itself,
        unless they rise from the end of an axis on by as much as the two next to it. The design itself where
        that is none, where a level of an axis would be lost, or where points ran once. Where goodput stepped,
        a trial stands out from those on its own side (`repeat_noise`).
    """
    noise = repeat_noise(grid)
    nothing = LeftOut(0, 0, len(_points(grid)))
    if noise is None:
        return grid, nothing
    found = fit_of_repeats(noise)
    unusual: set[str] = set()
    if found is not None:
        slow = [places for places in found.undecided if np.ptp(noise.logs[list(places)]) > -_SLOW]
        of_slow = (group if (alone := alone_above(noise, group)) is None else (alone,) for group in slow)
        places = (*found.outside, *(place for group in of_slow for place in group))
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
        if len(logs) <= vouched and _below_neighbours(point, means, grid):
            unusual.update(trials[point])
    units = tuple(unit for unit in grid.units if not any(row["trial_id"] in unusual for row in unit.rows))
    left = replace(grid, units=units)
    if any(set(left.levels(axis)) != set(grid.levels(axis)) for axis in grid.axes):
        return grid, nothing
    points = nothing.of_points - len(_points(left))
    return left, LeftOut(len(grid.trials) - len(left.trials), points, nothing.of_points)


def alone_above(noise: RepeatNoise, places: Sequence[int]) -> int | None:
    """Tell which of three repeats of a point or more carried what nothing on the grid explains.

    Args:
        noise: Of trials of one sweep and mode.
        places: Of all repeats of a point in one direction.

    Returns:
        The place of the fastest, if it carried more than twice what the others did, which agree, and more
        than twice the median of every other point of its direction, one of which has no smaller windows, no
        fewer flows and no less of anything else: were the others what went wrong, that one would be, too.
    """
    *others, fastest = sorted(places, key=lambda place: float(noise.logs[place]))
    rest, half_of_it = noise.logs[others], float(noise.logs[fastest]) + _SLOW
    if len(others) < _PAIR or np.ptp(rest) > _AGREE or rest.max() >= half_of_it:
        return None
    row, numbers = noise.rows[fastest], set(noise.cells.tolist()) - {int(noise.cells[fastest])}
    cells = [np.flatnonzero(noise.cells == number) for number in numbers]
    elsewhere = [cell for cell in cells if noise.rows[cell[0]][DIRECTION] == row[DIRECTION]]
    if any(float(np.median(noise.logs[cell])) >= half_of_it for cell in elsewhere):
        return None
    return fastest if any(_is_beyond(noise.rows[cell[0]], row) for cell in elsewhere) else None


def _is_beyond(other: ObservedRow, row: ObservedRow) -> bool:
    """Whether a point has more of something that is counted than another, and less of nothing; else alike."""
    more = False
    for axis in AXES:
        theirs, own = level_of(other, axis), level_of(row, axis)
        if theirs == own or axis == "duration_s":
            continue
        if axis in UNORDERED or not isinstance(theirs, int | float) or not isinstance(own, int | float):
            return False
        if theirs < own:
            return False
        more = True
    return more


def _points(grid: Design) -> set[Point]:
    return {(unit.hosts, *unit.levels) for unit in grid.units}


def _below_neighbours(point: Point, means: Mapping[Point, float], grid: Design) -> bool:
    """Whether a point has less than half of most others that differ from it in one axis, or the direction.

    And less than half of what the others along each single axis let expect: at the smallest window nearly all
    neighbours have larger windows, and a point of as many flows or of as small a window has as little.
    """
    along: dict[int, dict[Level, float]] = {}
    for other, mean in means.items():
        apart = [place for place, level in enumerate(point) if level != other[place]]
        if len(apart) == 1:
            along.setdefault(apart[0], {})[other[apart[0]]] = mean
    axes = {axis: along[place] for place, axis in enumerate(grid.axes, _FIRST_AXIS) if place in along}
    everywhere = [mean for others in along.values() for mean in others.values()]
    if not axes or not _below_most(means[point], everywhere):
        return False
    levels = dict(zip(grid.axes, point[_FIRST_AXIS:], strict=True))
    return all(
        _below_most(means[point], list(others.values()))
        and not _continues(levels[axis], means[point], {} if axis in UNORDERED else others)
        for axis, others in axes.items()
    )


def _below_most(mean: float, others: Sequence[float]) -> bool:
    """Whether three quarters of others have more than twice as much."""
    differences = sorted(mean - other for other in others)
    return differences[-1 - len(differences) // 4] < _SLOW


def _continues(level: Level, mean: float, others: Mapping[Level, float]) -> bool:
    """Whether the point at the end of an ordered axis has no less than the two next to it let expect."""
    known = sorted(other for other in others if isinstance(other, int | float))
    if len(known) <= 1 or not isinstance(level, int | float) or known[0] < level < known[-1]:
        return False
    near, next_to_it = known[:2] if level < known[0] else known[:-3:-1]
    return mean - (2 * others[near] - others[next_to_it]) >= _SLOW
