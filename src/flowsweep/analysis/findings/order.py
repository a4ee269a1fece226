"""Whether what was varied and the time moved together, so that their effects cannot be separated."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from flowsweep.analysis.axes import AXIS_NAMES, UNORDERED
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.observations import Observations, grouped, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.wording import format_number

_LEAST_CORRELATION = 0.3
"""Rank correlation from which on a change over time passes for a good part of an axis's effect."""
_CHANCE = 0.001
"""A random order has one that seldom."""
_FEWEST = 6


@dataclass(frozen=True, slots=True)
class _Together:
    axis: str
    correlation: float
    within: bool
    """Within repeats; else over the whole campaign."""


def order_hypotheses(summary: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Look for axes whose levels ran in the order of time.

    Args:
        summary: Rows of a campaign.

    Yields:
        One description for each axis of ordered levels and each sweep and mode where the rank correlation
        (Spearman, The proof and measurement of association between two things, American Journal of
        Psychology 15, 1904) of level and start is at least 0.3 either way, over the campaign or within
        repeats, and rarer than 0.1 % in random order. The effect is that correlation.
    """
    for observed in grouped(summary):
        for together in _together(observed):
            yield _hypothesis(observed, together)


def _together(observed: Observations) -> Iterator[_Together]:
    grid = design(observed)
    units = [unit for unit in grid.units if unit.rows[0]["started_at"] is not None]
    if len(units) < _FEWEST:
        return
    starts = scipy.stats.rankdata([unit.rows[0]["started_at"] for unit in units])
    numbers: dict[int, int] = {}
    repeats = np.array([numbers.setdefault(unit.repeat, len(numbers)) for unit in units], dtype=np.intp)
    for place, axis in enumerate(grid.axes):
        levels = [unit.levels[place] for unit in units]
        if axis in UNORDERED or not all(isinstance(level, int | float) for level in levels):
            continue
        ranks = scipy.stats.rankdata(np.array(levels, dtype=np.float64))
        found = [
            _Together(axis, correlation, within)
            for within, groups in ((False, np.zeros_like(repeats)), (True, repeats))
            if (correlation := _correlation(starts, ranks, groups)) is not None
        ]
        yield from found[:1]


def _correlation(starts: Floats, ranks: Floats, groups: Codes) -> float | None:
    """Rank correlation within groups; None where it is small, or no rarer than chance has it."""
    x, y = (
        values - (np.bincount(groups, values) / np.bincount(groups))[groups] for values in (starts, ranks)
    )
    size = float(np.sqrt((x @ x) * (y @ y)))
    freedom = len(x) - int(groups.max()) - 2
    if size == 0 or freedom < 1:
        return None
    correlation = float(x @ y) / size
    t = abs(correlation) * np.sqrt(freedom / max(1 - correlation**2, np.finfo(np.float64).eps))
    rare = 2 * float(scipy.stats.t.sf(t, freedom)) < _CHANCE
    return correlation if abs(correlation) >= _LEAST_CORRELATION and rare else None


def _hypothesis(observed: Observations, together: _Together) -> Hypothesis:
    name = AXIS_NAMES[together.axis]
    where = "within repeats" if together.within else "over the campaign"
    order = "rose" if together.correlation > 0 else "fell"
    size = format_number(abs(together.correlation))
    claim = (
        f"{name[0].upper()}{name[1:]} {order} with time {where} (rank correlation {size}): a change over "
        f"time may be mistaken for an effect of the {name}. A random order would separate the two."
    )
    return Hypothesis(
        "order",
        observed.scope(),
        claim,
        trial_ids(observed.rows),
        Estimate(together.correlation, "1"),
        axis=together.axis,
        figure="time_series",
        method=f"Spearman's rank correlation of level and start, {where}",
    )
