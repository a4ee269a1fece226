"""What is left of each trial's goodput once its point and its repeat are known: the noise between repeats."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from flowsweep.analysis.statistics.design import Design, coded
from flowsweep.analysis.statistics.least_squares import Codes, Fit, Floats
from flowsweep.analysis.statistics.observations import DIRECTION, ObservedRow
from flowsweep.analysis.summarising.trial_row import goodput_of


@dataclass(frozen=True, slots=True)
class RepeatNoise:
    """Trials with a mean for each point and direction, and repeats as blocks."""

    rows: tuple[ObservedRow, ...]
    cells: Codes
    """(rows,) number of the point and direction."""
    blocks: Codes
    """(rows,) number of the repeat; all 0 where repeats are not taken out."""
    logs: Floats
    """(rows,) natural logarithm of goodput in bit/s."""
    fit: Fit
    """With degrees of freedom."""
    steps: int = 0
    """In goodput: points have a mean on each side of them."""

    @property
    def without(self) -> str:
        """What was taken out, in words."""
        if self.steps:
            return f"points on each side of {self.the_steps} taken out"
        return "points and repeats taken out" if np.any(self.blocks) else "points taken out"

    @property
    def the_steps(self) -> str:
        """Those on whose sides points have a mean, in words."""
        return "the step" if self.steps == 1 else "the steps"

    @property
    def most_repeats(self) -> int:
        """How often the point that ran most often did, in one direction."""
        return int(np.bincount(self.cells).max())

    def refit(self, values: Floats) -> Fit:
        """Fit another quantity of the same trials, (rows,), in the same way."""
        return Fit(values, self.cells, self.blocks)


def repeat_noise(grid: Design) -> RepeatNoise | None:
    """Take points and repeats out of log goodput.

    Args:
        grid: Of trials of one sweep and mode; goodput in bit/s.

    Returns:
        Residuals of log goodput = point and direction + repeat + noise, by least squares (randomised complete
        blocks; Box, Hunter and Hunter, Statistics for Experimenters, 2005, ch. 4). Repeats are not taken out
        where most are of a single point: how they differ is the noise. Where the grid knows of sides of
        steps, a point, or else a repeat, has a mean on each of them. None where points ran once.
    """
    placed = [
        (row, (unit.hosts, unit.levels, row[DIRECTION]), (unit.repeat, side), side)
        for unit in grid.units
        for row, side in zip(unit.rows, unit.sides, strict=True)
    ]
    if not placed:
        return None
    rows = tuple(row for row, _, _, _ in placed)
    points = Counter(unit.repeat for unit in grid.units)
    several = sum(count > 1 for count in points.values()) >= len(points) / 2
    blocks = coded([repeat if several else 0 for _, _, repeat, _ in placed])
    sides = [0 if several else side for _, _, _, side in placed]
    cells = coded([(cell, side) for (_, cell, _, _), side in zip(placed, sides, strict=True)])
    steps = len(set(sides)) - 1
    logs = np.log([goodput_of(row) for row in rows])
    fit = Fit(logs, cells, blocks)
    return RepeatNoise(rows, cells, blocks, logs, fit, steps) if fit.freedom > 0 else None
