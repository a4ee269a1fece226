"""How much goodput varies: between repeats of the same point, and within a trial."""

import math
from statistics import NormalDist

import numpy as np
import scipy

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Observations, trial_ids
from flowsweep.analysis.statistics.repeat_noise import RepeatNoise
from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.defaults import CONFIDENCE, FEWEST_FOR_INTERVAL
from flowsweep.wording import counted, format_number, format_share

_DECILES_APART = NormalDist().inv_cdf(0.9) - NormalDist().inv_cdf(0.1)
"""Standard deviations between the 10th and the 90th percentile of a normal distribution: 2.563."""
_PERCENT = 100
_LARGEST_VARIANCE = 700.0
"""Of a logarithm; a number beyond the exponential of it has no place in 64 bits."""


def variation_hypotheses(observed: Observations, noise: RepeatNoise | None) -> list[Hypothesis]:
    """Describe by how much goodput varies.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        noise: Of the same trials; none where points ran once.

    Returns:
        One description, none without repeats. The effect is the coefficient of variation between repeats, in
        percent: with s the standard deviation of what is left of log goodput once points and repeats as a
        whole are taken out (not the repeats where most are of a single point), √(exp(s²) − 1), as of a
        log-normal quantity (Limpert, Stahel and Abbt, Log-normal distributions across the sciences,
        BioScience 51, 2001); the interval is that of s by chi-square, as of trials that are independent,
        and none of two repeats of a point or two. Beside it the one within trials: from the 10th and 90th
        percentile over the intervals of each, (p90 − p10) / 2.563 / median, the median over trials.
    """
    if noise is None:
        return []
    fit = noise.fit
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
        f"(coefficient of variation{', without what a whole repeat shares' if np.any(noise.blocks) else ''})"
        f"{_within(noise)}."
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


def _coefficient(variance: float) -> float | None:
    """The coefficient of variation, in percent, of what has this variance of its natural logarithm.

    None where no number can say it: two repeats of which one is 3.5 times the other have no upper end.
    """
    return _PERCENT * math.sqrt(math.expm1(variance)) if variance < _LARGEST_VARIANCE else None


def _within(noise: RepeatNoise) -> str:
    spreads = [
        (row["goodput_p90_bps"] - row["goodput_p10_bps"]) / _DECILES_APART / goodput_of(row)
        for row in noise.rows
        if row["goodput_p10_bps"] is not None and row["goodput_p90_bps"] is not None
    ]
    return f", the intervals of a trial by {format_share(float(np.median(spreads)))}" if spreads else ""
