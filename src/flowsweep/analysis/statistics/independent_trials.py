"""How close another trial of some duration would come to what long trials tell on average."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import scipy

from flowsweep.analysis.statistics.least_squares import Codes, Fit, Floats
from flowsweep.analysis.statistics.robust_fit import robust_fit
from flowsweep.defaults import CONFIDENCE

_NORMAL = NormalDist()
_SMALLEST = 1e-12
"""Standard deviation of logarithms that agree to the last digit."""
_FEWEST_POINTS = 2

Component = tuple[float, float]
"""A variance, and its degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Independent:
    """An independent trial of a duration, against the mean of the long ones at its point. Logarithms."""

    bias: float
    half: float
    """Of the 95 % interval of the bias."""
    share: float
    """Estimate of the probability that such a trial is within the margin."""
    least_share: float
    """Lower end of it, with 95 % confidence."""


def independent(cut: Floats, whole: Floats, cells: Codes, blocks: Codes, margin: float) -> Independent | None:
    """Estimate how near independent trials of a duration come.

    Args:
        cut: (n,) logarithms of the goodput of the first part of each trial.
        whole: (n,) likewise, of all of it.
        cells: (n,) number of the point; most of them with repeats.
        blocks: (n,) number of the repeat.
        margin: Of practical equivalence, relative.

    Returns:
        None without degrees of freedom.

    Method:
        A part is no independent witness of its whole: both have the same seconds. But parts of different
        trials are independent of each other, and how much they differ between repeats of a point holds
        whatever the correlation of neighbouring intervals did to a trial of that length. Their variance is
        that of repeats as a whole, plus that of trials within them, plus that of the bias between points
        (components of variance: Searle, Casella and McCulloch, Variance Components, 1992), with
        Satterthwaite's degrees of freedom (1946); the bias is the mean of part − whole over points. The share
        is of a normal distribution with both, its lower end with the upper end of the variance by chi-square
        and the farther end of the bias; neither is above the share of the parts themselves. Trials that stand
        out (`robust_fit`) count as beyond the margin, and take no part in bias and variance.
    """
    found = robust_fit(cut, cells, blocks)
    kept = np.ones(len(cut), dtype=np.bool_)
    kept[list(found.unusual) if found is not None else []] = False
    cut, whole = cut[kept], whole[kept]
    cells, blocks = (np.unique(codes[kept], return_inverse=True)[1] for codes in (cells, blocks))
    shifts = cut - whole
    one = np.zeros_like(cells)
    paired = Fit(shifts, cells, one)
    parts = _spread(cut, cells, blocks)
    if not parts:
        return None
    parts += _of_points(shifts, cells, paired)
    deviation, freedom = _together(parts)
    count = int(cells.max()) + 1
    mean = paired.compare(shifts, np.full((1, count), 1 / count))
    bias, half = float(mean.value[0]), float(mean.half_widths()[0])
    widest = deviation * math.sqrt(freedom / float(scipy.stats.chi2.ppf(1 - CONFIDENCE, freedom)))
    usual, seen = float(kept.mean()), _seen(cut, whole, cells, margin)
    return Independent(
        bias,
        half,
        usual * min(_within(bias, deviation, margin), seen / len(cut)),
        usual * min(_within(abs(bias) + half, widest, margin), _lower_end(seen, len(cut))),
    )


def _seen(cut: Floats, whole: Floats, cells: Codes, margin: float) -> int:
    """Count the parts that are within the margin of the mean of whole trials of their point.

    Deviations from the mean of n are smaller than those from the truth by √(1 − 1/n).
    """
    sizes = np.bincount(cells)
    mean_cut, mean_whole = (np.bincount(cells, values) / sizes for values in (cut, whole))
    wider = np.where(sizes > 1, np.sqrt(sizes / np.maximum(sizes - 1, 1)), 1.0)
    deviations = (mean_cut - mean_whole)[cells] + (cut - mean_cut[cells]) * wider[cells]
    return int(np.sum(np.abs(deviations) <= math.log1p(margin)))


def _lower_end(seen: int, count: int) -> float:
    """Lower end of a share (Clopper and Pearson 1934, Biometrika 26); of all, 1: that does not bound it."""
    if seen in (0, count):
        return float(seen == count)
    return float(scipy.stats.beta.ppf(1 - CONFIDENCE, seen, count - seen + 1))


def _within(bias: float, deviation: float, margin: float) -> float:
    allowed = math.log1p(margin)
    return _NORMAL.cdf((allowed - bias) / deviation) - _NORMAL.cdf((-allowed - bias) / deviation)


def _spread(y: Floats, cells: Codes, blocks: Codes) -> list[Component]:
    """Variance of another trial about the mean of its point: of repeats as a whole, and within them."""
    alone, blocked = Fit(y, cells, np.zeros_like(cells)), Fit(y, cells, blocks)
    if alone.freedom < 1:
        return []
    between = alone.freedom - blocked.freedom
    if between < 1 or blocked.freedom < 1:
        return [(alone.variance, float(alone.freedom))]
    of_blocks = max(alone.variance * alone.freedom - blocked.variance * blocked.freedom, 0.0) / between
    size = len(y) / (int(blocks.max()) + 1)
    return [(of_blocks / size, float(between)), (blocked.variance * (1 - 1 / size), float(blocked.freedom))]


def _of_points(shifts: Floats, cells: Codes, paired: Fit) -> list[Component]:
    """Variance of the bias between points, beyond chance."""
    sizes = np.bincount(cells)
    if len(sizes) < _FEWEST_POINTS or paired.freedom < 1:
        return []
    means = np.bincount(cells, shifts) / sizes
    variance = float(means.var(ddof=1)) - paired.variance * float(np.mean(1 / sizes))
    return [(variance, len(sizes) - 1.0)] if variance > 0 else []


def _together(parts: list[Component]) -> tuple[float, float]:
    """Standard deviation of a sum, and its degrees of freedom."""
    total = sum(variance for variance, _ in parts)
    spread = sum(variance**2 / freedom for variance, freedom in parts)
    freedom = total**2 / spread if spread > 0 else min(freedom for _, freedom in parts)
    return max(math.sqrt(total), _SMALLEST), freedom
