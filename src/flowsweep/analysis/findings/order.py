"""Whether what was varied and the time moved together, so that their effects cannot be separated."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from flowsweep.analysis.axes import AXIS_NAMES, UNORDERED, level_words
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.blocks import blocks, is_imported
from flowsweep.analysis.statistics.design import Design, Level, coded, design
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.observations import Observations, all_observations, carried, trial_ids
from flowsweep.analysis.statistics.repeat_noise import repeat_noise
from flowsweep.analysis.statistics.simulated import SEED
from flowsweep.analysis.summarising.trial_row import TrialRow, is_searched, known
from flowsweep.wording import format_number

_LEAST_CORRELATION = 0.3
"""Rank correlation from which on a change over time passes for a good part of an axis's effect."""
_CHANCE = 0.001
"""A random order has one that seldom,"""
_CHANCE_IMPORTED = 0.01
"""and that seldom one of levels without an order, which are few, where nobody is known to have drawn it: six
tests of one level after six of another are no chance there."""
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
_WITHIN, _WITHIN_SITTINGS, _OVER = "within repeats", "within sittings", "over the campaign"
_LEVELS_NAMED = 4


@dataclass(frozen=True, slots=True)
class InOrder:
    """Levels of an axis that ran in an order of time."""

    axis: str
    correlation: float
    """Of level and start, by ranks; where levels have no order the correlation ratio, which has no sign."""
    where: str
    """Within the blocks of comparisons, or else over the whole campaign."""
    levels: tuple[Level, ...] = ()
    """Those that have no order, as they ran on average."""

    @property
    def within(self) -> bool:
        """Whether it is so within blocks."""
        return self.where != _OVER


def order_hypotheses(summary: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Look for axes whose levels ran in the order of time.

    Args:
        summary: Rows of a campaign.

    Yields:
        One description for each axis and each sweep and mode where the rank correlation (Spearman, The proof
        and measurement of association between two things, American Journal of Psychology 15, 1904) of level
        and start is at least 0.3 either way, over the campaign or within the blocks of comparisons (`blocks`,
        the repeats of a plan), and rarer than 0.1 % in random order: by Student's t, and up to 200 trials by
        4 999 random orders, too, of each block's trials by themselves where blocks are looked into. Of levels
        without an order it is the correlation ratio: the root of the share of the variance of start ranks
        that lies between levels (as in Kruskal and Wallis, Use of ranks in one-criterion variance analysis,
        JASA 47, 1952), by F in place of t; of imported trials one that is rarer than 1 %. The effect is that
        correlation. It says so where neighbours in time resemble each other, too: Pearson's correlation of
        what points and repeats leave of a trial's log goodput with the same of the next one, larger than in
        99 % of 999 random orders.
    """
    for observed in all_observations([row for row in summary if not is_searched(row)]):
        grid = design(observed, paired=False)
        found: dict[str, InOrder] = {}
        for one in in_order_of_time(grid):
            found.setdefault(one.axis, one)
        well = replace(observed, rows=tuple(filter(carried, observed.rows)))
        resemblance = _resemblance(design(well, paired=False)) if found and well.rows else None
        for one in found.values():
            yield _hypothesis(observed, one, resemblance)


def in_order_of_time(grid: Design) -> Iterator[InOrder]:
    """Each axis whose levels moved with time: over the campaign, then within blocks, if in both so.

    Nothing of one where the correlation is small, or no rarer than chance has it: see `order_hypotheses`.
    """
    for axis in grid.axes:
        reported = grid.where_reported(axis).units
        part = replace(grid, units=tuple(one for one in reported if one.rows[0]["started_at"] is not None))
        if len(part.units) < _FEWEST:
            continue
        starts = scipy.stats.rankdata([unit.rows[0]["started_at"] for unit in part.units])
        place = grid.axes.index(axis)
        levels = [unit.levels[place] for unit in part.units]
        numeric = [level for level in levels if isinstance(level, int | float)]
        if axis in UNORDERED or len(numeric) < len(levels):
            stand_for, as_they_ran = np.eye(len(set(levels)))[coded(levels)], _by_start(levels, starts)
        else:
            stand_for, as_they_ran = scipy.stats.rankdata(numeric)[:, None], ()
        own = blocks(part)
        chance = _CHANCE_IMPORTED if as_they_ran and is_imported(part) else _CHANCE
        inside = _WITHIN if np.array_equal(own, part.repeats) else _WITHIN_SITTINGS
        for where, groups in ((_OVER, np.zeros_like(own)), (inside, own)):
            correlation = _correlation(starts, stand_for, groups, chance)
            if correlation is not None:
                yield InOrder(axis, correlation, where, as_they_ran)


def _by_start(levels: Sequence[Level], starts: Floats) -> tuple[Level, ...]:
    means = {
        level: float(np.mean([start for own, start in zip(levels, starts, strict=True) if own == level]))
        for level in levels
    }
    return tuple(sorted(means, key=lambda level: means[level]))


def _correlation(starts: Floats, levels: Floats, groups: Codes, chance: float) -> float | None:
    """Correlation of start ranks, within groups, with (n, k) what stands for levels.

    Rank correlation of one column, correlation ratio of several. None where it is small, or no rarer than
    chance has it.
    """
    x, *columns = (
        values - (np.bincount(groups, values) / np.bincount(groups))[groups] for values in (starts, *levels.T)
    )
    size = float(np.sqrt(x @ x))
    left, singular, _ = np.linalg.svd(np.column_stack(columns), full_matrices=False)
    basis = left[:, singular > _ROUNDING * max(float(singular[0]), 1.0)]
    count = basis.shape[1]
    freedom = len(x) - int(groups.max()) - 1 - count
    if size == 0 or count == 0 or freedom < 1:
        return None
    found = float(np.linalg.norm(x @ basis)) / size
    f = found**2 / count * freedom / max(1 - found**2, np.finfo(np.float64).eps)
    rare = float(scipy.stats.f.sf(f, count, freedom)) < chance
    if found < _LEAST_CORRELATION or not rare:
        return None
    if len(x) <= _FEW and _chance(x, basis, groups) >= chance:
        return None
    return found if len(columns) > 1 else math.copysign(found, float(x @ columns[0]))


def _chance(x: Floats, basis: Floats, groups: Codes) -> float:
    """How often random orders within groups go as closely with levels."""
    random = np.random.default_rng(SEED)
    by_group = np.argsort(groups, kind="stable")
    x, basis, groups = x[by_group], basis[by_group], groups[by_group]
    observed = float(np.linalg.norm(x @ basis)) * (1 - _ROUNDING)
    orders = (np.lexsort((random.random(len(x)), groups)) for _ in range(_CHANCE_ORDERS))
    as_large = sum(float(np.linalg.norm(x @ basis[order])) >= observed for order in orders)
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


def _hypothesis(observed: Observations, found: InOrder, resemblance: float | None) -> Hypothesis:
    name = AXIS_NAMES[found.axis]
    size = format_number(abs(found.correlation))
    moved, method = _moved(found), "Spearman's rank correlation of level and start"
    if found.levels:
        moved = f"went with time {found.where} ({moved}; correlation ratio {size})"
        method = "correlation ratio of start ranks and levels"
    else:
        moved = f"{moved} with time {found.where} (rank correlation {size})"
    claim = (
        f"{name[0].upper()}{name[1:]} {moved}: a change over "
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
        Estimate(found.correlation, "1"),
        axis=found.axis,
        figure="time_series",
        method=f"{method}, {found.where}",
    )


def _moved(found: InOrder) -> str:
    """How levels went: "rose", "fell", "cubic, then bbr"."""
    if not found.levels:
        return "rose" if found.correlation > 0 else "fell"
    if len(found.levels) > _LEVELS_NAMED:
        return f"{len(found.levels)} levels"
    first, *others = (level_words(found.axis, level) for level in found.levels)
    return ", ".join([first, *(f"then {level}" for level in others)])


def what_order_leaves(order: Hypothesis) -> str:
    """Say what else may be behind a difference between levels, given a hypothesis of `order_hypotheses`."""
    for within, each in ((_WITHIN, "repeat"), (_WITHIN_SITTINGS, "sitting")):
        if order.method.endswith(within):
            return f"A change over time that began anew with each {each} would look alike."
    return "A change over time would look alike."
