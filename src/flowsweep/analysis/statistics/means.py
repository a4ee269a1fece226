"""Means of logarithms: of each level of an axis, and of what varies by factors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from flowsweep.analysis.statistics.blocks import blocks
from flowsweep.analysis.statistics.design import Design, Level, flows_of_one_window, levels_of
from flowsweep.analysis.statistics.intervals import mean_interval
from flowsweep.analysis.statistics.level_means import LevelMeans, Placed, level_means
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, trial_ids
from flowsweep.defaults import FEWEST_FOR_INTERVAL
from flowsweep.tests import facts_of

WINDOW_AXES = ("window_sum_bytes", "window_send_bytes", "window_recv_bytes")
"""Of all flows together; the first that varies counts."""


def window_levels(observed: Observations, grid: Design) -> list[LevelMeans]:
    """Compare the windows of all flows together, for each direction and congestion control.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        grid: Their design.

    Returns:
        One for each direction and congestion control in which at least two window sums ran. Where the windows
        of the two ends differ it is the send window times flows, or the receive window, whichever varies.
        None of datagrams, which no window holds back, and none of `flows_of_one_window`: see `flow_levels`.
        Method: a mean for each point, repeats as blocks, pure error (Box, Hunter and Hunter, Statistics for
        Experimenters, 2005, ch. 4); a level's mean is over the points of the other axes that all levels have.
    """
    axis = next((name for name in WINDOW_AXES if _varies(observed, name)), None)
    if flows_of_one_window(observed.rows):
        return []
    return [] if axis is None or facts_of(observed.rows[0].get("test")).datagrams else _grouped(grid, axis)


def flow_levels(grid: Design) -> list[LevelMeans]:
    """Compare numbers of flows, for each direction and congestion control.

    Args:
        grid: Of trials of one sweep and mode; goodput in bit/s.

    Returns:
        One for each direction and congestion control in which at least two numbers of flows ran; none where
        the window per flow varies, too: there it is the product that counts, see `window_levels`, whose
        method it shares. Points that only one number of flows has, as sums that `window_max` lowered, take no
        part.
    """
    axes = grid.axes
    per_flow = {"window_bytes", "window_send_bytes", "window_recv_bytes"} & set(axes)
    return _grouped(_shared(grid), "flows") if "flows" in axes and not per_flow else []


def _shared(grid: Design) -> Design:
    """What is left without the points of the other axes that only one number of flows has."""
    if "window_sum_bytes" not in grid.axes:
        return grid
    points = grid.codes(*(axis for axis in grid.axes if axis != "flows")).tolist()
    place = grid.axes.index("flows")
    flows: dict[int, set[Level]] = {}
    for point, unit in zip(points, grid.units, strict=True):
        flows.setdefault(point, set()).add(unit.levels[place])
    kept = (unit for point, unit in zip(points, grid.units, strict=True) if len(flows[point]) > 1)
    return replace(grid, units=tuple(kept))


def _varies(observed: Observations, axis: str) -> bool:
    """Whether a window of all flows together varies; where all sums are known, only they can."""
    rows = observed.rows
    if axis != "window_sum_bytes" and all(row["window_sum_bytes"] is not None for row in rows):
        return False
    return axis in observed.factors and len({*levels_of(rows, axis)} - {None}) > 1


def _grouped(grid: Design, axis: str) -> list[LevelMeans]:
    groups: dict[tuple[str, str | None], list[Placed]] = {}
    others = tuple(name for name in grid.axes if name not in (axis, "congestion_asked"))
    several = "congestion_asked" in grid.axes
    rows = [row for unit in grid.units for row in unit.rows]
    known = {} if axis in grid.axes else dict(zip(trial_ids(rows), levels_of(rows, axis), strict=True))
    block_of = _blocks_by_trial(grid)
    for unit in grid.units:
        point = tuple(unit.levels[grid.axes.index(name)] for name in others)
        for row in unit.rows:
            level = unit.levels[grid.axes.index(axis)] if axis in grid.axes else known[row["trial_id"]]
            if isinstance(level, int):
                per_flow = axis in WINDOW_AXES and axis != "window_sum_bytes"
                size = level * row["flows"] if per_flow else level
                group = (row[DIRECTION], row["congestion_asked"] if several else None)
                groups.setdefault(group, []).append(Placed(row, size, point, block_of[row["trial_id"]]))
    return [
        level_means(axis, direction, congestion, placed, others=others)
        for (direction, congestion), placed in groups.items()
        if len({one.level for one in placed}) > 1
    ]


def _blocks_by_trial(grid: Design) -> dict[str, int]:
    """The block of each trial, by trial_id: each direction has blocks of its own."""
    found: dict[str, int] = {}
    alone = [part for unit in grid.units for part in unit.alone()]
    for direction in {unit.rows[0][DIRECTION] for unit in alone}:
        own = tuple(unit for unit in alone if unit.rows[0][DIRECTION] == direction)
        numbers = blocks(replace(grid, units=own)).tolist()
        found |= {unit.rows[0]["trial_id"]: number for unit, number in zip(own, numbers, strict=True)}
    return found


@dataclass(frozen=True, slots=True)
class GeometricMean:
    """A mean with the ends of its 95 % interval, in the unit of the values; none of fewer than three."""

    value: float
    low: float | None
    high: float | None

    def in_unit(self, size: float) -> Self:
        """Return the same in a unit of `size` of the present ones."""
        ends = (None if end is None else end / size for end in (self.low, self.high))
        return type(self)(self.value / size, *ends)


def geometric_mean(values: Sequence[float]) -> GeometricMean:
    """Take the mean of independent values that vary by factors, and how sure it is.

    Args:
        values: One or more, all above 0, in any unit.

    Method:
        The mean of the logarithms, with Student's t interval (Student 1908, The probable error of a mean,
        Biometrika 6), turned back (Limpert, Stahel and Abbt, Log-normal distributions across the sciences,
        BioScience 51, 2001). Two values tell no interval: that of one degree of freedom is 12.7 standard
        errors wide either way, so that it is decided by how near to each other two values happen to be.
    """
    logs = np.log(values)
    if len(logs) < FEWEST_FOR_INTERVAL:
        return GeometricMean(math.exp(float(logs.mean())), None, None)
    return GeometricMean(*map(math.exp, mean_interval(logs)))
