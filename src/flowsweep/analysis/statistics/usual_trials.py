"""A design without the trials that stand out from their repeats."""

from dataclasses import replace

import numpy as np

from flowsweep.analysis.statistics.design import Design
from flowsweep.analysis.statistics.least_squares import Codes
from flowsweep.analysis.statistics.repeat_noise import repeat_noise
from flowsweep.analysis.statistics.robust_fit import Flags, RobustFit, robust_fit

_FEWEST = 2
"""Repeats of a point that agree, where others did not."""
_RISK = 0.02
"""Probability, at most, that all repeats of some point that is kept are unusual, and nothing tells."""


def usual_trials(grid: Design) -> tuple[Design, int]:
    """Leave out the trials of a design that stand out: one that stalled moves a mean by more than any effect.

    Args:
        grid: Of trials of one sweep and mode; goodput in bit/s.

    Returns:
        What is left, and how many trials that leaves out: the units of a trial that stands out, and the
        points of which it is not known which repeat does (`robust_fit`). The points as well that have so few
        repeats that, at the share of trials that stand out, all of them may have stalled. The design
        itself where none stands out, or where points ran once.
    """
    noise = repeat_noise(grid)
    found = None if noise is None else robust_fit(noise.logs, noise.cells, noise.blocks)
    if noise is None or found is None or not found.unusual:
        return grid, 0
    kept = _trusted(found, noise.cells)
    trusted = {row["trial_id"] for row, known in zip(noise.rows, kept, strict=True) if known}
    units = tuple(unit for unit in grid.units if all(row["trial_id"] in trusted for row in unit.rows))
    return replace(grid, units=units), len(grid.trials) - sum(len(unit.rows) for unit in units)


def _trusted(found: RobustFit, cells: Codes) -> Flags:
    """Which trials are usual, as far as the repeats of their point can tell."""
    usual = np.ones(len(cells), dtype=np.bool_)
    usual[list(found.unusual)] = False
    unusual = len(found.outside) + len(found.undecided)
    sizes = np.bincount(cells)
    # Of a binomial share with few successes, as of the rule of succession.
    risks = ((unusual + 1) / (len(cells) + 1)) ** sizes
    enough = min(size for size in range(_FEWEST, int(sizes.max()) + 2) if risks[sizes >= size].sum() <= _RISK)
    told = (np.bincount(cells, usual) >= _FEWEST) & (sizes >= enough)
    return np.asarray(usual & told[cells])
