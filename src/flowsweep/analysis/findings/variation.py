"""How much goodput varies: between repeats of the same point, and within a trial."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import scipy

from flowsweep.analysis.axes import AXIS_NAMES, level_of, level_words
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.outliers import standing_out
from flowsweep.analysis.statistics.design import Design, Level
from flowsweep.analysis.statistics.least_squares import Fit, Floats
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, trial_ids
from flowsweep.analysis.statistics.repeat_noise import RepeatNoise
from flowsweep.analysis.statistics.rounded import rounded_away
from flowsweep.analysis.statistics.unlike_days import unlike_days
from flowsweep.analysis.statistics.usual_trials import fit_of_repeats
from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.defaults import CONFIDENCE, FEWEST_FOR_INTERVAL
from flowsweep.wording import counted, format_number, format_share

_DECILES_APART = NormalDist().inv_cdf(0.9) - NormalDist().inv_cdf(0.1)
"""Standard deviations between the 10th and the 90th percentile of a normal distribution: 2.563."""
_PERCENT = 100
_CHANCE = 0.001
"""Levels that scatter alike are called unlike that seldom."""
_ROUNDING = 1e-9
"""Standard deviation of a logarithm up to which what is left of equal repeats may be."""
_Scatter = tuple[Level, float]
"""A level, and the standard deviation of repeats of its points."""
_LARGEST_VARIANCE = 700.0
"""Of a logarithm; a number beyond the exponential of it has no place in 64 bits."""


def variation_hypotheses(observed: Observations, grid: Design, noise: RepeatNoise | None) -> list[Hypothesis]:
    """Describe by how much goodput varies.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        grid: Their design.
        noise: Of the same trials; none where points ran once.

    Returns:
        One description, none without repeats. The effect is the coefficient of variation between repeats, in
        percent: with s the standard deviation of what is left of log goodput once points and repeats as a
        whole are taken out (not the repeats where most are of a single point), √(exp(s²) − 1), as of a
        log-normal quantity (Limpert, Stahel and Abbt, Log-normal distributions across the sciences,
        BioScience 51, 2001); the interval is that of s by chi-square, as of trials that are independent,
        and none of two repeats of a point or two. Beside it the one within trials: from the 10th and 90th
        percentile over the intervals of each, (p90 − p10) / 2.563 / median, the median over trials. Where the
        directions, or the levels of an axis, scatter unlike each other, the least and the most are named
        (Levene 1960, Robust tests for equality of variances: a one-way analysis of absolute deviations, here
        of orthogonal contrasts between repeats; p below 0.1 %, Bonferroni over the axes). Where trials stand
        out (`fit_of_repeats`), the sentence has the coefficient of the others, too; where days are unlike
        (`unlike_days`) and repeats taken out, also that of the means of repeats. Of figures that another
        tool rounded to equal ones (`rounded_away`) there is no coefficient.
    """
    if noise is None:
        return []
    fit = noise.fit
    if rounded_away(noise.rows, fit.residuals):
        return [_equal(observed, noise)]
    tail = (1 - CONFIDENCE) / 2
    ends = (scipy.stats.chi2.isf(tail, fit.freedom), scipy.stats.chi2.ppf(tail, fit.freedom))
    low, high = (_coefficient(fit.variance * fit.freedom / float(end)) for end in ends)
    if max(noise.most_repeats, fit.freedom) < FEWEST_FOR_INTERVAL:
        low = high = None
    value = _coefficient(fit.variance)
    if value is None:
        return []
    interval = (
        ", with too few repeats for an interval"
        if low is None or high is None
        else f" [{format_number(low)}, {format_number(high)}]"
    )
    said = (
        f"Trials of the same point scatter by {format_number(value)} %{interval} "
        f"(coefficient of variation{_apart_from(noise)}){_whole_repeats(observed, noise)}"
        f"{_usual(noise)}{_unlike(observed, grid, noise)}{_within(noise)}."
    )
    return [
        Hypothesis(
            "variation",
            observed.scope(),
            said,
            trial_ids(noise.rows),
            Estimate(value, "%", None if high is None else low, high),
            figure="ecdf",
            method=(
                f"standard deviation of log goodput, {noise.without}, "
                f"{counted(fit.freedom, 'degree')} of freedom; interval by chi-square"
            ),
        )
    ]


def _equal(observed: Observations, noise: RepeatNoise) -> Hypothesis:
    """Say of figures that another tool rounded that repeats are equal: what they vary by nobody knows."""
    own = [noise.logs[noise.cells == cell] for cell in range(int(noise.cells.max()) + 1)]
    alike = max(float(np.ptp(logs)) for logs in own) < _ROUNDING
    said = "are equal" if alike else "differ by nothing but what a whole repeat shares,"
    return Hypothesis(
        "variation",
        observed.scope(),
        f"Repeats of the same point {said} to the digits of the imported figures{_within(noise)}.",
        trial_ids(noise.rows),
        figure="ecdf",
        method=f"log goodput, {noise.without}: nothing is left",
    )


def _apart_from(noise: RepeatNoise) -> str:
    if noise.steps:
        return f", on each side of {noise.the_steps}"
    return ", without what a whole repeat shares" if np.any(noise.blocks) else ""


def _whole_repeats(observed: Observations, noise: RepeatNoise) -> str:
    """Say how much repeats as a whole scatter, where days unlike the others are most of that."""
    found = unlike_days(observed) if np.any(noise.blocks) else None
    # What repeats of other points differ by is of the points, too.
    if found is None or found.left:
        return ""
    left = Fit(noise.logs, noise.cells, np.zeros_like(noise.blocks)).residuals
    means = np.bincount(noise.blocks, left) / np.bincount(noise.blocks)
    value = _coefficient(float(np.var(means, ddof=1)))
    return "" if value is None else f"; repeats as a whole, by {format_number(value)} %"


def _coefficient(variance: float) -> float | None:
    """The coefficient of variation, in percent, of what has this variance of its natural logarithm.

    None where no number can say it: two repeats of which one is 3.5 times the other have no upper end.
    """
    return _PERCENT * math.sqrt(math.expm1(variance)) if variance < _LARGEST_VARIANCE else None


def _usual(noise: RepeatNoise) -> str:
    """Say how much the others scatter where some trials stand out: one that stalled may be most of it."""
    found = fit_of_repeats(noise)
    outside = () if found is None else standing_out(noise, found)
    if not outside:
        return ""
    kept = np.ones(len(noise.logs), dtype=np.bool_)
    kept[list(outside)] = False
    # Least squares number what they are of from 0, without gaps.
    cells, blocks = (np.unique(codes[kept], return_inverse=True)[1] for codes in (noise.cells, noise.blocks))
    fit = Fit(noise.logs[kept], cells, blocks)
    value = _coefficient(fit.variance) if fit.freedom > 0 else None
    if value is None:
        return ""
    which = "one that stands" if len(outside) == 1 else f"{len(outside)} that stand"
    return f", {format_number(value)} % without the {which} out"


def _unlike(observed: Observations, grid: Design, noise: RepeatNoise) -> str:
    """Say where trials scatter most and least, if that depends on the direction or an axis."""
    # Repeats taken out as well would smear what one level scatters over the others of its repeat.
    places = [np.flatnonzero(noise.cells == cell) for cell in range(int(noise.cells.max()) + 1)]
    points = [(noise.rows[own[0]], _contrasts(noise.logs[own])) for own in places if len(own) > 1]
    found: list[tuple[float, str, list[_Scatter]]] = []
    for axis in (name for name in (DIRECTION, *grid.axes) if name in observed.factors):
        groups: dict[Level, list[float]] = {}
        for row, contrasts in points:
            groups.setdefault(level_of(row, axis), []).extend(contrasts)
        if len(groups) > 1 and min(map(len, groups.values())) >= FEWEST_FOR_INTERVAL:
            p_value = float(scipy.stats.f_oneway(*groups.values()).pvalue)
            found.append((p_value, axis, [(level, _rms(own)) for level, own in groups.items()]))
    if not found:
        return ""
    p_value, axis, levels = min(found, key=lambda one: one[0])
    if not p_value * len(found) < _CHANCE:
        return ""
    ends = (min(levels, key=lambda one: one[1]), max(levels, key=lambda one: one[1]))
    low, high = (f"{format_number(_scatter(own))} % at {level_words(axis, level)}" for level, own in ends)
    # A path says by itself what it is.
    name = f", {AXIS_NAMES[axis]}" if axis in AXIS_NAMES else ""
    return f"; about the means of their points by {low}, by {high}{name}"


def _contrasts(repeats: Floats) -> list[float]:
    """Sizes of what repeats of a point differ by: one fewer than there are, as two have one difference.

    Helmert's contrasts: each repeat less the mean of those before it, in units of one repeat's deviation.
    """
    before = np.arange(1, len(repeats))
    contrasts = repeats[1:] - np.cumsum(repeats)[:-1] / before
    return [float(size) for size in np.abs(contrasts) * np.sqrt(before / (before + 1))]


def _scatter(deviation: float) -> float:
    """The coefficient of variation, in percent; nothing of repeats that differ by rounding alone."""
    value = _coefficient(deviation**2 if deviation >= _ROUNDING else 0.0)
    return math.inf if value is None else value


def _rms(values: Sequence[float]) -> float:
    return math.sqrt(float(np.mean(np.square(values))))


def _within(noise: RepeatNoise) -> str:
    spreads = [
        (row["goodput_p90_bps"] - row["goodput_p10_bps"]) / _DECILES_APART / goodput_of(row)
        for row in noise.rows
        if row["goodput_p10_bps"] is not None and row["goodput_p90_bps"] is not None
    ]
    return (
        f", the intervals of the median trial by {format_share(float(np.median(spreads)))}" if spreads else ""
    )
