"""Does goodput dip between two windows that are better?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from flowsweep.analysis.axes import level_words
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.plateau.sentences import said_of
from flowsweep.analysis.findings.sentences import percent
from flowsweep.analysis.statistics.level_means import LevelMeans
from flowsweep.analysis.statistics.observations import Observations, trial_ids
from flowsweep.wording import counted, format_change, format_margin

LONGEST = 3
"""Neighbouring levels that one dip may span."""
_FEWEST_LEVELS = 3


@dataclass(frozen=True, slots=True)
class _Dip:
    """Neighbouring levels, `first` to `last`, lower than the level before and the level after."""

    means: LevelMeans
    first: int
    last: int
    depth: tuple[float, float, float]
    """Below the mean of both neighbours: natural logarithm, below 0, and its interval."""
    p_value: float
    below_both: bool
    """Its mean is below that of either neighbour; else there is no dip to be seen."""
    within_margin: bool
    candidates: int
    margin: float


def dip_hypotheses(
    observed: Observations, windows: Sequence[LevelMeans], *, margin: float
) -> list[Hypothesis]:
    """Ask whether some windows give less goodput than both a smaller and a larger one.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        windows: From `told_apart`.
        margin: Of practical equivalence, relative.

    Returns:
        One for each direction and congestion control with at least three window sums, about the most
        telling run of up to three neighbouring ones. The effect is in percent of goodput, against the mean of
        the levels just before and after. It is a dip if it is below each of the two: the larger of both
        p-values counts (intersection-union test: Berger 1982, Technometrics 24), times the number of runs
        (Bonferroni). The model is that of `level_means`.
    """
    return [
        _hypothesis(observed, _most_telling(means, margin))
        for means in windows
        if len(means.levels) >= _FEWEST_LEVELS and means.fit is not None
    ]


def _most_telling(means: LevelMeans, margin: float) -> _Dip:
    count = len(means.levels)
    runs = [
        (first, last)
        for first in range(1, count - 1)
        for last in range(first, min(first + LONGEST, count - 1))
    ]
    contrasts = []
    for first, last in runs:
        run = means.shares[first : last + 1].mean(axis=0)
        before, after = means.shares[first - 1], means.shares[last + 1]
        contrasts += [run - before, run - after, run - (before + after) / 2]
    estimates = means.contrasts(contrasts)
    half = estimates.half_widths(len(runs))
    allowed = -math.log1p(-margin)
    # (runs, 3): against the level before, the level after, and the mean of both.
    values, halves, tests = (each.reshape(-1, 3) for each in (estimates.value, half, estimates.p_values))
    nearer = values[:, :2].max(axis=1)
    p_values = np.where(nearer < 0, tests[:, :2].max(axis=1), 1.0)
    deepest = (halves - values)[:, :2].min(axis=1)
    chosen = min(range(len(runs)), key=lambda place: (p_values[place], nearer[place]))
    value, reach = float(values[chosen, 2]), float(halves[chosen, 2])
    return _Dip(
        means=means,
        first=runs[chosen][0],
        last=runs[chosen][1],
        depth=(value, value - reach, value + reach),
        p_value=min(1.0, float(p_values[chosen]) * len(runs)),
        below_both=bool(nearer[chosen] < 0),
        within_margin=bool(deepest.max() <= allowed),
        candidates=len(runs),
        margin=margin,
    )


def _hypothesis(observed: Observations, dip: _Dip) -> Hypothesis:
    means = dip.means
    assert means.fit is not None, "a dip is sought where there is a measure of the noise"
    return Hypothesis(
        "dip",
        observed.scope(means.direction),
        partial(_say, dip),
        trial_ids(means.rows),
        Estimate.in_percent(dip.depth if dip.below_both else None),
        axis=means.axis,
        p_value=dip.p_value,
        within_margin=dip.within_margin,
        method=(
            f"mean log goodput of up to {LONGEST} neighbouring levels against the level before and the level "
            f"after, {counted(means.fit.freedom, 'degree')} of freedom; t, Bonferroni over "
            f"{counted(dip.candidates, 'run')} of levels"
        ),
        figure="product",
    )


def _say(dip: _Dip, decision: Decision) -> str:
    means = dip.means
    where = said_of(means)
    run = " … ".join(dict.fromkeys((_words(dip, dip.first), _words(dip, dip.last))))
    change = format_change(*(percent(value) for value in dip.depth))
    beside = f"between {_words(dip, dip.first - 1)} and {_words(dip, dip.last + 1)}"
    if decision == "effect":
        return f"{where}: goodput dips at a window of {run}: {change} {beside}."
    if decision == "no practical effect":
        return f"{where}: goodput dips at no window by more than {format_margin(dip.margin)}."
    if not dip.below_both:
        return f"{where}: no window has less goodput than its neighbours; small dips cannot be excluded."
    return (
        f"{where}: whether goodput dips at a window of {run} is undecided: {change} {beside} may be chance."
    )


def _words(dip: _Dip, level: int) -> str:
    return level_words("window_sum_bytes", dip.means.levels[level])
