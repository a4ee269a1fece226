"""Goodput of few digits: what was rounded away, put back as noise."""

from itertools import pairwise

import numpy as np

from flowsweep.analysis.statistics.design import Design
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.simulated import SEED
from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.grouping import grouped

_COARSEST = 0.02
"""Of the logarithm of goodput: figures have two digits, or they differ by more than their last one."""


def dithered(grid: Design, points: Codes) -> Floats:
    """(units,) natural logarithms of goodput, anywhere within what the last digit of equal figures tells.

    Where most trials are 94 Mbit/s and some are 93, most differ by nothing from what is usual, so that the
    least change is far beyond what seems to be their noise. A uniform dither as wide as a digit stands for
    what was rounded (Schuchman 1964, Dither signals and their effect on quantization noise, IEEE Transactions
    on Communication Technology 12).

    Args:
        grid: Of trials of one sweep and mode; goodput in bit/s.
        points: (units,) number of the point that each is of.
    """
    digit = _last_digit(grid, points)
    if not digit:
        return grid.logs
    ways = np.array([len(unit.rows) for unit in grid.units])
    of_units = np.repeat(np.arange(len(ways)), ways)
    drawn = np.random.default_rng(SEED).uniform(-digit / 2, digit / 2, len(of_units))
    return np.asarray(grid.logs + np.bincount(of_units, drawn) / ways)


def _last_digit(grid: Design, points: Codes) -> float:
    """The least by which trials of a point and direction differ if they do; 0 where no two are equal."""
    rows = [
        (int(point), way, float(np.log(goodput_of(row))))
        for point, unit in zip(points, grid.units, strict=True)
        for way, row in enumerate(unit.rows)
    ]
    distinct = sorted(set(rows))
    if len(distinct) == len(rows):
        return 0.0
    alike = grouped(distinct, lambda row: row[:2]).values()
    apart = [later[2] - one[2] for own in alike for one, later in pairwise(own)]
    return min(apart, default=0.0) and min(*apart, _COARSEST)
