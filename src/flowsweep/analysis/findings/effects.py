"""Does an axis of the grid matter? One hypothesis for each of them."""

import math
from functools import partial

import numpy as np
import scipy

from flowsweep.analysis.axes import AXIS_NAMES, UNORDERED
from flowsweep.analysis.findings.finding import FigureKey, FindingKind
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis, unrepeated
from flowsweep.analysis.findings.sentences import AxisEffect, Somewhere, say_effect
from flowsweep.analysis.statistics.design import Design, design
from flowsweep.analysis.statistics.level_effects import LevelComparison, Pair, compare_levels
from flowsweep.analysis.statistics.observations import Observations
from flowsweep.analysis.statistics.usual_trials import usual_trials
from flowsweep.defaults import EQUIVALENCE_MARGIN, SIGNIFICANCE
from flowsweep.wording import counted

PLAIN = 0.001
"""Below this p-value, Bonferroni's bound included, a pair stays beyond chance among many other hypotheses."""
_OF_ITS_OWN = frozenset({"duration_s"})
"""Axes that another topic asks about; here they only make points differ."""


def effect_hypotheses(observed: Observations, *, margin: float = EQUIVALENCE_MARGIN) -> list[Hypothesis]:
    """Ask of each axis whether it changes goodput, all other axes being equal.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        margin: Of practical equivalence, relative.

    Returns:
        One hypothesis for each axis, of the kind "flows" for the number of flows at equal window sum,
        "congestion" for congestion control, else "effect". The effect is in percent of goodput, between the
        two levels that `headline_pair` chooses, and interval and p-value are of the same two. Trials that
        stand out from their repeats are left out, and the sentence says how many. Method: `compare_levels`.
    """
    grid, left_out = usual_trials(design(observed))
    return [
        _hypothesis(observed, grid, axis, margin=margin, left_out=left_out)
        for axis in grid.axes
        if axis not in _OF_ITS_OWN
    ]


def _hypothesis(
    observed: Observations, grid: Design, axis: str, *, margin: float, left_out: int
) -> Hypothesis:
    compared = compare_levels(grid, axis)
    kind = _kind(observed, grid, axis)
    if compared is None:
        claim = f"Whether the {AXIS_NAMES[axis]} matters is undecided: {_why_untestable(grid)}."
        return unrepeated(kind, observed.scope(), claim, grid.trials, axis=axis)
    pair, chosen_from = headline_pair(compared)
    p_value = min(1.0, compared.p_of(pair) * len(compared.pairs))
    estimate = compared.difference(pair, comparisons=chosen_from)
    within = _within(compared, margin)
    uneven = within and _uneven(compared, pair, margin)
    effect = AxisEffect(
        kind=kind,
        axis=axis,
        levels=compared.levels,
        first=compared.levels[pair[0]],
        second=compared.levels[pair[1]],
        in_order=chosen_from == 1 and axis not in UNORDERED,
        extremes=pair == (int(np.argmin(compared.means)), int(np.argmax(compared.means))),
        estimate=estimate,
        margin=margin,
        uneven=uneven,
        left_out=left_out,
        spread=partial(_spread, compared, pair, margin),
    )
    return Hypothesis(
        kind,
        observed.scope(),
        partial(say_effect, effect),
        grid.trials,
        Estimate.in_percent(estimate),
        axis=axis,
        p_value=p_value,
        within_margin=within and not uneven,
        second_opinion=compared.permuted,
        method=_method(grid, compared, chosen_from, left_out),
        figure=FigureKey("effects", observed.sweep, observed.mode, axis=axis),
    )


def _kind(observed: Observations, grid: Design, axis: str) -> FindingKind:
    if axis == "congestion_asked":
        return "congestion"
    sums = {row["window_sum_bytes"] for row in observed.rows}
    if axis == "flows" and ("window_sum_bytes" in grid.axes or (len(sums) == 1 and None not in sums)):
        return "flows"
    return "effect"


def headline_pair(compared: LevelComparison) -> tuple[Pair, int]:
    """Choose the two levels that a sentence about an axis compares, and that its p-value is of.

    Returns:
        Numbers of the levels, and from how many pairs they were chosen by what they differ: 1 for the lowest
        and the highest level, which are chosen beforehand. Those are taken, or the extremes where levels have
        no order or goodput has a peak or a dip between them, unless only another pair differs beyond chance:
        then the most telling one, or a sentence would claim what its own interval denies.
    """
    pair, chosen_from = _preferred_pair(compared)
    telling = compared.pairs[int(np.argmin(compared.differences.p_values))]
    count = len(compared.pairs)
    beyond_chance = compared.p_of(telling) * count < SIGNIFICANCE
    if beyond_chance and telling != (min(pair), max(pair)) and compared.p_of(pair) * count >= PLAIN:
        low, high = telling
        upwards = compared.difference(telling)[0] >= 0
        return ((low, high) if upwards else (high, low)), count
    return pair, chosen_from


def _preferred_pair(compared: LevelComparison) -> tuple[Pair, int]:
    last = len(compared.levels) - 1
    ends = (0, last)
    lowest, highest = int(np.argmin(compared.means)), int(np.argmax(compared.means))
    extremes = (lowest, highest)
    count = len(compared.pairs)
    if compared.axis in UNORDERED or None in compared.levels or ends not in compared.pairs:
        if (min(extremes), max(extremes)) in compared.pairs:
            return extremes, count
        return max(compared.pairs, key=lambda pair: abs(compared.difference(pair)[0])), count
    beyond = _beyond_both(compared, highest, 1, last) or _beyond_both(compared, lowest, -1, last)
    if beyond and (min(extremes), max(extremes)) in compared.pairs:
        return extremes, count
    return ends, 1


def _beyond_both(compared: LevelComparison, level: int, sign: int, last: int) -> bool:
    """Whether a level between the ends is above (sign 1) or below (−1) both of them, beyond chance."""
    if level in (0, last):
        return False
    for end in (0, last):
        if (min(end, level), max(end, level)) not in compared.pairs:
            return False
        _, low, high = compared.difference((end, level), comparisons=len(compared.pairs))
        if (low if sign > 0 else -high) <= 0:
            return False
    return True


def _within(compared: LevelComparison, margin: float) -> bool:
    """Whether no two levels differ by more than the margin.

    All pairs have to be within, each with 95 % confidence: an intersection-union test, which needs no
    correction (Berger 1982, Multiparameter hypothesis testing and acceptance sampling, Technometrics 24).
    """
    differences = compared.differences
    reach = np.abs(differences.value) + differences.half_widths()
    return bool(np.all(reach <= math.log1p(margin)))


def _uneven(compared: LevelComparison, pair: Pair, margin: float) -> bool:
    """Whether the levels differ by more than the margin somewhere, though not on average over the grid."""
    if not compared.repeated:
        return False
    _, there = compared.at_points((min(pair), max(pair)))
    telling = there.p_values * len(there.value) < SIGNIFICANCE
    return bool(np.any(telling & (np.abs(there.value) > math.log1p(margin))))


def _spread(compared: LevelComparison, pair: Pair, margin: float) -> tuple[Somewhere, Somewhere] | None:
    """Where on the grid the levels differ least and most, if these two differ beyond chance and margin."""
    if not compared.repeated:
        return None
    points, there = compared.at_points((min(pair), max(pair)))
    low, high = int(np.argmin(there.value)), int(np.argmax(there.value))
    apart = float(there.value[high] - there.value[low])
    error = math.hypot(there.error[low], there.error[high])
    freedom = min(there.freedom[low], there.freedom[high])
    # They were chosen by what they differ: Bonferroni's bound over all pairs of points.
    if (
        apart <= math.log1p(margin)
        or scipy.stats.t.sf(apart / error, freedom) * len(points) * (len(points) - 1) >= SIGNIFICANCE
    ):
        return None
    sign = 1 if pair[0] < pair[1] else -1
    ends = [(sign * float(there.value[place]), compared.points[points[place]]) for place in (low, high)]
    first, second = sorted(ends, key=lambda end: -abs(end[0]))
    return first, second


def _why_untestable(grid: Design) -> str:
    if grid.unpaired and not grid.units:
        return f"{counted(grid.unpaired, 'trial')} ended well, none with that of the other direction"
    return "the trials that ended well leave no measure of chance; more repeats would"


def _method(grid: Design, compared: LevelComparison, chosen_from: int, left_out: int) -> str:
    directions = max(len(unit.rows) for unit in grid.units)
    unit = "mean over both directions of a point" if directions > 1 else "trial"
    if compared.repeated:
        model = f"each of {len(set(grid.codes(*grid.axes).tolist()))} points a mean, repeats as blocks"
    else:
        blocks = counted(len(compared.points), "point")
        model = f"one repeat: additive model, {blocks} of the other axes as blocks"
    parts = [
        f"linear model of log goodput, one value for each {unit}",
        model,
        f"{counted(compared.freedom, 'degree')} of freedom",
        "t intervals",
    ]
    if len(compared.pairs) > 1:
        parts.append(f"p by Bonferroni over {len(compared.pairs)} pairs of levels")
    if chosen_from > 1:
        parts.append("interval likewise")
    if grid.unpaired:
        parts.append(f"{counted(grid.unpaired, 'trial')} left out: that of the other direction is missing")
    if compared.permuted is None:
        parts.append("too few arrangements for a check by permutation")
    return "; ".join(parts) + trials_left_out(left_out)


def trials_left_out(count: int) -> str:
    """What the method of a finding says where trials that stand out have no part in it."""
    if not count:
        return ""
    what = "left out that stand out from their repeats, or are the counterpart of one"
    return f"; {counted(count, 'trial')} {what}"
