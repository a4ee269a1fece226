"""How many of the largest residuals stand out from the others, however heavy the tail of the noise is."""

import numpy as np
import scipy

from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.defaults import SIGNIFICANCE

_HEAVIEST = 3
"""Degrees of freedom of Student's t that noise may have: its variance is just finite."""
_MOST = 0.3
"""Share of the values that may stand out; more are a mode of their own."""
_TAIL = 0.1
_FEWEST_TAIL = 6
"""Values below the gap that tell how the tail falls: a tenth of all, at least so many."""


def standing_out(sizes: Floats) -> int:
    """Count the values that stand out from the others by their size.

    Args:
        sizes: (n,) absolute residuals in units of their standard error, which the largest had no part in; in
            any order, all above 0.

    Returns:
        How many of the largest stand out, 0 if none does: the probability of any is at most 5 % where noise
        is normal, and where it is Student's t on three degrees of freedom.

    Method:
        Two tests share the 5 %. Of few values: whether one is too large even for noise with
        the heaviest tail that is allowed, Student's t on three degrees of freedom, Bonferroni over all. Of
        many: whether the largest are beyond a gap that the tail of the others does not explain
        (`_beyond_gap`).
    """
    p_values = 2 * scipy.stats.t.sf(sizes, _HEAVIEST) * len(sizes)
    return max(int(np.sum(p_values < SIGNIFICANCE / 2)), _beyond_gap(sizes))


def chance_of_one(size: float, of: int) -> float:
    """Bound the probability that one of some values is so large: noise with the heaviest tail, Bonferroni.

    Args:
        size: An absolute residual in units of its standard error.
        of: How many values it is the largest of.
    """
    return min(1.0, 2 * float(scipy.stats.t.sf(size, _HEAVIEST)) * of)


def _beyond_gap(sizes: Floats) -> int:
    """How many of the largest values lie beyond a gap.

    With x₁ ≥ x₂ ≥ … the sizes, the spacings i · ln(xᵢ / xᵢ₊₁) are independent and exponential with the
    same mean, whatever the index of the tail (Rényi 1953, On the theory of order statistics, Acta
    Mathematica Hungarica 4). So k · ln(xₖ / xₖ₊₁) over the mean of the spacings below it is an F on 2 and 2m
    degrees of freedom (Pisarenko and Sornette 2012, Robust statistical tests of dragon-kings beyond power
    law distributions, European Physical Journal Special Topics 205; for several: Wheatley and Sornette
    2019, Multiple outlier detection in samples with exponential and Pareto tails, Statistical Papers).
    The largest k counts whose p is below 0.025 / 2ᵏ, which add up to 0.025: from the most downwards, so that
    outliers do not hide each other. Noise with heavy tails has wide spacings all along its tail, and
    widens what is a gap.
    """
    ordered = np.sort(sizes)[::-1]
    most = int(_MOST * len(ordered))
    tail = max(_FEWEST_TAIL, round(_TAIL * len(ordered)))
    most = min(most, len(ordered) - tail - 1)
    if most < 1:
        return 0
    numbers = np.arange(1, len(ordered))
    spacings = numbers * np.log(ordered[:-1] / ordered[1:])
    sums = np.concatenate([[0.0], np.cumsum(spacings)])
    gaps = np.arange(1, most + 1)
    below = (sums[gaps + tail] - sums[gaps]) / tail
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(spacings[:most] > 0, spacings[:most] / below, 0.0)
    log_p_values = scipy.stats.f.logsf(ratios, 2, 2 * tail) + gaps * np.log(2)
    found = np.flatnonzero(log_p_values < np.log(SIGNIFICANCE / 2))
    return int(found[-1]) + 1 if len(found) else 0
