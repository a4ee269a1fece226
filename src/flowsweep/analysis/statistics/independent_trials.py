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
        A part is no independent witness of its whole: both have the same seconds. But parts of different trials
        are independent of each other, and how much they differ between repeats of a point holds whatever
        the correlation of neighbouring intervals did to a trial of that length. Their variance is that
        of repeats as a whole plus that of trials within them (components of variance: Searle, Casella and
        McCulloch, Variance Components, 1992), with Satterthwaite's degrees of freedom (1946); the bias is
        the mean of part − whole over points. The share is of a normal distribution with both, its lower end
        with the upper end of the variance by chi-square and the farther end of the bias. Trials that
        stand out (`robust_fit`) count as beyond the margin, and take no part in bias and variance.
    """
    found = robust_fit(cut, cells, blocks)
    kept = np.ones(len(cut), dtype=np.bool_)
    kept[list(found.unusual) if found is not None else []] = False
    cut, whole = cut[kept], whole[kept]
    cells, blocks = (np.unique(codes[kept], return_inverse=True)[1] for codes in (cells, blocks))
    shifts = cut - whole
    one = np.zeros_like(cells)
    paired = Fit(shifts, cells, one)
    spread = _spread(cut, cells, blocks)
    if spread is None:
        return None
    count = int(cells.max()) + 1
    mean = paired.compare(shifts, np.full((1, count), 1 / count))
    bias, half = float(mean.value[0]), float(mean.half_widths()[0])
    deviation, freedom = spread
    widest = deviation * math.sqrt(freedom / float(scipy.stats.chi2.ppf(1 - CONFIDENCE, freedom)))
    usual = float(kept.mean())
    return Independent(
        bias,
        half,
        usual * _within(bias, deviation, margin),
        usual * _within(abs(bias) + half, widest, margin),
    )


def _within(bias: float, deviation: float, margin: float) -> float:
    allowed = math.log1p(margin)
    return _NORMAL.cdf((allowed - bias) / deviation) - _NORMAL.cdf((-allowed - bias) / deviation)


_SMALLEST = 1e-12


def _spread(y: Floats, cells: Codes, blocks: Codes) -> tuple[float, float] | None:
    """Standard deviation of another trial about the mean of its point, and its degrees of freedom."""
    alone, blocked = Fit(y, cells, np.zeros_like(cells)), Fit(y, cells, blocks)
    if alone.freedom < 1:
        return None
    between = alone.freedom - blocked.freedom
    if between < 1 or blocked.freedom < 1:
        return max(math.sqrt(alone.variance), _SMALLEST), float(alone.freedom)
    within = blocked.variance
    of_blocks = max(alone.variance * alone.freedom - within * blocked.freedom, 0.0) / between
    size = len(y) / (int(blocks.max()) + 1)
    parts = of_blocks / size, within * (1 - 1 / size)
    total = sum(parts)
    spread = parts[0] ** 2 / between + parts[1] ** 2 / blocked.freedom
    freedom = total**2 / spread if spread > 0 else float(alone.freedom)
    return max(math.sqrt(total), _SMALLEST), freedom
