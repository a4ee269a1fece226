"""Does goodput fall again where windows are larger than they have to be?"""

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
"""Neighbouring levels that a top may span."""
_FEWEST_LEVELS = 3


@dataclass(frozen=True, slots=True)
class _Decline:
    """Neighbouring levels, `first` to `last`, that are higher than the largest window."""

    means: LevelMeans
    first: int
    last: int
    change: tuple[float, float, float]
    """Of the largest window against them: natural logarithm, and its interval."""
    p_value: float
    within_margin: bool
    candidates: int
    margin: float


def decline_hypotheses(
    observed: Observations, windows: Sequence[LevelMeans], *, margin: float
) -> list[Hypothesis]:
    """Ask whether the largest window gives less goodput than smaller ones.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        windows: From `told_apart`.
        margin: Of practical equivalence, relative.

    Returns:
        One hypothesis for each with at least three window sums, about the most telling top. The effect is in
        percent of goodput: at the largest window, against the mean of up to three neighbouring smaller ones.
        Which those are is not known beforehand: the p-value is one-sided, times the number of tops that are
        possible (umbrella alternatives with an unknown peak: Mack and Wolfe 1981, K-sample rank tests for
        umbrella alternatives, JASA 76; as contrasts of means: Bretz and Hothorn 2001, Testing dose-response
        relationships with a priori unknown, possibly nonmonotone shapes, J. Biopharm. Stat. 11; here with
        Bonferroni's bound). The interval is Bonferroni's over the same tops. A dip that goodput recovers from
        is none: the largest window has to be below the top.
    """
    return [
        _hypothesis(observed, _most_telling(means, margin))
        for means in windows
        if len(means.levels) >= _FEWEST_LEVELS and means.fit is not None
    ]


def _most_telling(means: LevelMeans, margin: float) -> _Decline:
    end = len(means.levels) - 1
    tops = [(first, last) for first in range(end) for last in range(first, min(first + LONGEST, end))]
    compared = means.guarded(
        [means.shares[end] - means.shares[first : last + 1].mean(axis=0) for first, last in tops]
    )
    half = compared.half_widths(len(tops))
    one_sided = np.where(compared.value < 0, compared.p_values / 2, 1 - compared.p_values / 2)
    chosen = int(np.argmin(one_sided))
    value, reach = float(compared.value[chosen]), float(half[chosen])
    return _Decline(
        means=means,
        first=tops[chosen][0],
        last=tops[chosen][1],
        change=(value, value - reach, value + reach),
        p_value=min(1.0, float(one_sided[chosen]) * len(tops)),
        within_margin=bool((compared.value - half).min() >= math.log1p(-margin)),
        candidates=len(tops),
        margin=margin,
    )


def _hypothesis(observed: Observations, decline: _Decline) -> Hypothesis:
    means = decline.means
    assert means.fit is not None, "a decline is sought where there is a measure of the noise"
    return Hypothesis(
        "decline",
        observed.scope(means.direction),
        partial(_say, decline),
        trial_ids(means.rows),
        Estimate.in_percent(decline.change if decline.change[0] < 0 else None),
        axis=means.axis,
        p_value=decline.p_value,
        within_margin=decline.within_margin,
        method=(
            f"mean log goodput of the largest window against up to {LONGEST} neighbouring smaller ones, "
            f"{counted(means.fit.freedom, 'degree')} of freedom; one-sided t, Bonferroni over "
            f"{counted(decline.candidates, 'top')}"
        ),
        figure="product",
    )


def _say(decline: _Decline, decision: Decision) -> str:
    where, end = said_of(decline.means), len(decline.means.levels) - 1
    largest = _words(decline, end)
    top = " … ".join(dict.fromkeys((_words(decline, decline.first), _words(decline, decline.last))))
    best = _words(decline, int(np.argmax(decline.means.means)))
    less = format_change(*(percent(value) for value in decline.change))
    if decision == "effect":
        small = decline.change[1] >= math.log1p(-decline.margin)
        remark = (
            f"which is less than the margin of {format_margin(decline.margin)}"
            if small
            else f"it is highest at {best}"
        )
        return f"{where}: goodput declines at large windows: {less} at {largest} against {top}; {remark}."
    if decision == "no practical effect":
        most = format_margin(decline.margin)
        return f"{where}: the largest window, {largest}, costs no more than {most} of goodput."
    if decline.change[0] >= 0:
        return f"{where}: no decline of goodput is seen up to {largest}; a small one cannot be excluded."
    return (
        f"{where}: whether goodput declines at large windows is undecided: {less} at {largest} against {top} "
        "may be chance."
    )


def _words(decline: _Decline, level: int) -> str:
    return level_words("window_sum_bytes", decline.means.levels[level])
