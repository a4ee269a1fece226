"""Whether what was varied and the time moved together, so that their effects cannot be separated."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from flowsweep.analysis.axes import AXIS_NAMES, UNORDERED
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.design import Design, design
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.observations import Observations, all_observations, carried, trial_ids
from flowsweep.analysis.statistics.repeat_noise import repeat_noise
from flowsweep.analysis.statistics.simulated import SEED
from flowsweep.analysis.summarising.trial_row import TrialRow, is_searched, known
from flowsweep.wording import format_number

_LEAST_CORRELATION = 0.3
"""Rank correlation from which on a change over time passes for a good part of an axis's effect."""
_CHANCE = 0.001
"""A random order has one that seldom."""
_CHANCE_ORDERS = 4_999
"""Random ones that a correlation is compared with,"""
_FEW = 200
"""where so many trials or fewer have too few orders, or levels too few ranks, for Student's t."""
_FEWEST = 6
_ORDERS = 999
"""Random ones that the trials' own is compared with."""
_ROUNDING = 1e-9
"""Of sums of products."""
_RARE_ORDER = 0.01
"""Trials that are independent resemble their neighbours that seldom."""


@dataclass(frozen=True, slots=True)
class _Together:
    axis: str
    correlation: float
    within: bool
    """Within repeats; else over the whole campaign."""


_WITHIN, _OVER = "within repeats", "over the campaign"


def order_hypotheses(summary: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Look for axes whose levels ran in the order of time.

    Args:
        summary: Rows of a campaign.

    Yields:
        One description for each axis of ordered levels and each sweep and mode where the rank correlation
        (Spearman, The proof and measurement of association between two things, American Journal of
        Psychology 15, 1904) of level and start is at least 0.3 either way, over the campaign or within
        repeats, and rarer than 0.1 % in random order: by Student's t, and up to 200 trials by 4 999 random
        orders, too, of each repeat's trials by themselves where repeats are looked into. The effect is that
        correlation. It says so where neighbours in time resemble each other, too: Pearson's correlation of
        what points and repeats leave of a trial's log goodput with the same of the next one, larger than in
        99 % of 999 random orders.
    """
    for observed in all_observations([row for row in summary if not is_searched(row)]):
        grid = design(observed)
        found = [*_together(grid)]
        well = replace(observed, rows=tuple(filter(carried, observed.rows)))
        resemblance = _resemblance(design(well)) if found and well.rows else None
        for together in found:
            yield _hypothesis(observed, together, resemblance)


def _together(grid: Design) -> Iterator[_Together]:
    for axis, whole, within in time_correlations(grid):
        if whole is not None:
            yield _Together(axis, whole, within=False)
        elif within is not None:
            yield _Together(axis, within, within=True)


def time_correlations(grid: Design) -> Iterator[tuple[str, float | None, float | None]]:
    """Each axis of ordered levels, with their rank correlation with time: over the campaign, within repeats.

    None where it is small, or no rarer than chance has it: see `order_hypotheses`.
    """
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
        whole, within = (_correlation(starts, ranks, groups) for groups in (np.zeros_like(repeats), repeats))
        yield axis, whole, within


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
    if abs(correlation) < _LEAST_CORRELATION or not rare:
        return None
    return correlation if len(x) > _FEW or _chance(x, y, groups) < _CHANCE else None


def _chance(x: Floats, y: Floats, groups: Codes) -> float:
    """How often random orders within groups have a correlation as large, either way."""
    random = np.random.default_rng(SEED)
    by_group = np.argsort(groups, kind="stable")
    x, y, groups = x[by_group], y[by_group], groups[by_group]
    observed = abs(float(x @ y)) * (1 - _ROUNDING)
    orders = (np.lexsort((random.random(len(y)), groups)) for _ in range(_CHANCE_ORDERS))
    as_large = sum(abs(float(x @ y[order])) >= observed for order in orders)
    return (1 + as_large) / (1 + _CHANCE_ORDERS)


def _resemblance(grid: Design) -> float | None:
    """Correlation of neighbouring trials; None where it is not known, or no rarer than chance has it."""
    noise = repeat_noise(grid)
    if noise is None or any(row["started_at"] is None for row in noise.rows):
        return None
    left = noise.fit.residuals[np.argsort([known(row["started_at"]) for row in noise.rows], kind="stable")]
    if not left @ left > 0:
        return None
    orders = np.random.default_rng(SEED).permuted(np.tile(left, (_ORDERS, 1)), axis=1)
    chance = (orders[:, 1:] * orders[:, :-1]).sum(axis=1)
    products = float(left[1:] @ left[:-1])
    return products / float(left @ left) if (chance >= products).mean() < _RARE_ORDER else None


def _hypothesis(observed: Observations, together: _Together, resemblance: float | None) -> Hypothesis:
    name = AXIS_NAMES[together.axis]
    where = _WITHIN if together.within else _OVER
    order = "rose" if together.correlation > 0 else "fell"
    size = format_number(abs(together.correlation))
    claim = (
        f"{name[0].upper()}{name[1:]} {order} with time {where} (rank correlation {size}): a change over "
        f"time may be mistaken for an effect of the {name}. A random order would separate the two."
    )
    if resemblance is not None:
        claim += (
            f" Neighbouring trials resemble each other (r = {format_number(resemblance)}, of what the fit "
            "leaves): intervals and p-values that take trials as independent do not hold as they stand, and "
            "differences may look surer than they are."
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


def what_order_leaves(order: Hypothesis) -> str:
    """Say what else may be behind a difference between levels, given a hypothesis of `order_hypotheses`."""
    if order.method.endswith(_WITHIN):
        return "A change over time that began anew with each repeat would look alike."
    return "A change over time would look alike."
