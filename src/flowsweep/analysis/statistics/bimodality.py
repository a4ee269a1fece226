"""Do trials of the same point come out at one of two levels?"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.defaults import SIGNIFICANCE

_APART = (4.0, 5.0, 6.5, 9.0, 15.0, 30.0)
"""Distances of the two levels that are considered, in standard deviations of each: of nearer ones no one can
tell whether they are two, or noise of one level with a flat or skewed distribution."""
_FARTHEST = 60.0
"""Standard deviations that levels are apart at most: of values that are two numbers, as in a rounded table,
the likelihood grows without end as these get more, and so does what has to be integrated."""
_SHARES = (0.2, 0.35, 0.5, 0.65, 0.8)
"""Of the lower level."""
_SCALES = (0.85, 1.15)
_TAILS = (1.0, 3.0, 6.0)
"""Degrees of freedom of noise of one level, with heavy tails or uneven between cells."""
_FINE = 0.8
"""Step of the integral over a point's mean, in standard errors of that."""
_BEYOND = 4.0
_HOPELESS = 3.0
"""Logarithm of the likelihood that two levels may lack at a glance."""
_STEP = 0.02
"""Of logarithms, for second derivatives."""
_SMALLEST = 1e-9
_MOST_AT_ONCE = 1 << 20
"""Likelihoods of a value at a mean: 8 MiB, of which a few are there at a time."""


@dataclass(frozen=True, slots=True)
class TwoLevels:
    """Two levels, as likely as they are. Natural logarithms."""

    p_value: float
    """Of "one level", noise normal or with tails as heavy as Student's t on three degrees of freedom."""
    apart: float
    """The higher less the lower level."""
    error: float
    """Standard error of it."""
    spread: float
    """Standard deviation of the values of each level."""
    low: Floats
    """(n,) probability that each value is of the lower level; 0.5 for points without repeats."""
    share: float
    """Of the values at the lower level."""


def two_levels(y: Floats, cells: Codes) -> TwoLevels | None:
    """Hold two levels that all cells have in common against one.

    Args:
        y: (n,) natural logarithms.
        cells: (n,) number of the cell, each with a mean of its own.

    Returns:
        None where one level explains the values: p ≥ 0.05.

    Method:
        Likelihoods are of the differences within cells: the cell's mean is integrated out (as in restricted
        maximum likelihood: Patterson and Thompson 1971, Biometrika 58). p is the greatest likelihood of one
        level, of noise that is normal, heavy-tailed or uneven between cells, over the mean likelihood of two
        levels, taken over distances from 4 to 30 standard deviations and shares from 20 to 80 %. That such a
        ratio is below p has at most probability p, whatever the number of values and though the two-level
        likelihood has no regular maximum (Robbins 1970, Statistical methods related to the law of the
        iterated logarithm, Annals of Mathematical Statistics 41; Vovk and Wang 2021, E-values, Annals of
        Statistics 49).
    """
    repeated = np.bincount(cells)[cells] > 1
    y, cells = y[repeated], np.unique(cells[repeated], return_inverse=True)[1]
    sizes = np.bincount(cells) if len(cells) else np.zeros(0, dtype=np.intp)
    freedom = int((sizes - 1).sum())
    if freedom < 1:
        return None
    centred = y - (np.bincount(cells, y) / sizes)[cells]
    deviation = math.sqrt(float(centred @ centred) / freedom)
    if deviation < _SMALLEST:
        return None
    sample = _Sample(centred / deviation, cells, sizes)
    tried = [(_two(apart, share, scale), share) for apart in _APART for share in _SHARES for scale in _SCALES]
    normal = sample.normal()
    # Most samples show no two levels at a glance.
    glance = max(sample.two(spread, apart, share) for (spread, apart), share in tried[:: len(_SHARES)])
    if glance < normal - _HOPELESS:
        return None
    likelihoods = np.array([sample.two(spread, apart, share) for (spread, apart), share in tried])
    likely = float(scipy.special.logsumexp(likelihoods)) - math.log(len(tried))
    one = max(normal, *(way(tail) for way in (sample.heavy, sample.uneven) for tail in _TAILS))
    p_value = math.exp(one - likely)
    if p_value >= SIGNIFICANCE:
        return None
    (spread, apart), share = tried[int(np.argmax(likelihoods))]
    spread, apart, share, error = _greatest(sample, spread, apart, share)
    low = np.full(len(repeated), 0.5)
    low[repeated] = sample.of_low(spread, apart, share)
    return TwoLevels(p_value, apart * deviation, error * deviation, spread * deviation, low, share)


def _greatest(
    sample: "_Sample", spread: float, apart: float, share: float
) -> tuple[float, float, float, float]:
    """Spread, distance and share of the greatest likelihood, and the standard error of the distance."""

    def unlikely(place: Floats) -> float:
        return -sample.two(*_bounded(place), float(scipy.special.expit(place[2])))

    start = np.array([math.log(spread), math.log(apart), float(scipy.special.logit(share))])
    found = scipy.optimize.minimize(
        unlikely, start, method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-3, "maxfev": 200}
    )
    place = np.asarray(found.x, dtype=np.float64)
    steps = np.eye(3) * _STEP
    curvature = np.array(
        [
            [
                unlikely(place + one + other) - unlikely(place + one - other)
                - unlikely(place - one + other) + unlikely(place - one - other)
                for other in steps
            ]
            for one in steps
        ]
    ) / (4 * _STEP**2)  # fmt: skip
    spread, apart = _bounded(place)
    variance = max(float(np.linalg.pinv(curvature)[1, 1]), 0.0)
    return spread, apart, float(scipy.special.expit(place[2])), apart * math.sqrt(variance)


def _bounded(place: Floats) -> tuple[float, float]:
    """Standard deviation and distance of two levels, of their logarithms."""
    apart = math.exp(place[1])
    return max(math.exp(place[0]), apart / _FARTHEST), apart


def _two(apart: float, share: float, scale: float) -> tuple[float, float]:
    """Standard deviation and distance of two levels that spread by 1 together, or by a scale."""
    spread = scale / math.sqrt(1 + share * (1 - share) * apart**2)
    return spread, apart * spread


class _Sample:
    """Values of cells about their mean, in units of their pooled standard deviation."""

    def __init__(self, values: Floats, cells: Codes, sizes: Codes) -> None:
        self._values, self._cells, self._sizes = values, cells, sizes
        self._starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        order = np.argsort(cells, kind="stable")
        self._sorted = values[order]
        self._back = np.argsort(order, kind="stable")

    def normal(self) -> float:
        """The greatest logarithm of the likelihood of one level with normal noise."""
        freedom = int((self._sizes - 1).sum())
        return -0.5 * (freedom * math.log(2 * math.pi) + freedom + float(np.log(self._sizes).sum()))

    def heavy(self, tail: float) -> float:
        """Likewise with noise of Student's t."""

        def unlikely(log_scale: float) -> float:
            scale = math.exp(log_scale)
            step = _FINE * scale / math.sqrt(float(self._sizes.max()))
            grid = self._grid(step, _BEYOND * scale)

            def logs(part: Floats) -> Floats:
                found = scipy.stats.t.logpdf((self._sorted[:, None] - part) / scale, tail)
                return np.asarray(found - log_scale)

            return -self._integrated(self._of_cells(grid, logs), step)

        found = scipy.optimize.minimize_scalar(
            unlikely, bounds=(-4.0, 0.5), method="bounded", options={"xatol": 0.05}
        )
        return -float(found.fun)

    def uneven(self, tail: float) -> float:
        """Likewise with normal noise that is not the same in all cells: its variance is inverse gamma."""
        squares = np.add.reduceat(self._sorted**2, self._starts)
        freedom = self._sizes - 1
        constant = scipy.special.gammaln((tail + freedom) / 2) - scipy.special.gammaln(tail / 2)
        constant -= 0.5 * (freedom * math.log(tail * math.pi) + np.log(self._sizes))

        def unlikely(log_scale: float) -> float:
            misfit = np.log1p(squares / (tail * math.exp(2 * log_scale))) * (tail + freedom) / 2
            return -float((constant - freedom * log_scale - misfit).sum())

        found = scipy.optimize.minimize_scalar(unlikely, bounds=(-6.0, 1.0), method="bounded")
        return -float(found.fun)

    def two(self, spread: float, apart: float, share: float) -> float:
        """The logarithm of the likelihood of two levels; means are of the higher one."""
        step = _FINE * spread / math.sqrt(float(self._sizes.max()))
        of_cells = self._of_cells(
            self._shifted(step, spread, apart), lambda part: self._logs(part, spread, apart, share)
        )
        return self._integrated(of_cells, step)

    def of_low(self, spread: float, apart: float, share: float) -> Floats:
        """(n,) probability that each value is of the lower level."""
        step = _FINE * spread / math.sqrt(float(self._sizes.max()))
        grid = self._shifted(step, spread, apart)
        of_cells = self._of_cells(grid, lambda part: self._logs(part, spread, apart, share))
        weights = np.exp(of_cells - scipy.special.logsumexp(of_cells, axis=1, keepdims=True))
        found = np.zeros(len(self._sorted))
        for part, own in zip(self._parts(grid), self._parts(weights.T), strict=True):
            low = math.log(share) + _normal((self._sorted[:, None] - part + apart) / spread)
            chances = np.exp(low - math.log(spread) - self._logs(part, spread, apart, share))
            found += (chances * np.repeat(own.T, self._sizes, axis=0)).sum(axis=1)
        return np.asarray(found[self._back])

    def _shifted(self, step: float, spread: float, apart: float) -> Floats:
        """Means of the higher level that are possible: at the cell's mean and up to the distance above."""
        return np.arange(-_BEYOND * spread, apart + _BEYOND * spread, step)

    def _grid(self, step: float, beyond: float) -> Floats:
        reach = float(np.abs(self._values).max()) * 0.5 + beyond
        return np.arange(-reach, reach, step)

    def _logs(self, grid: Floats, spread: float, apart: float, share: float) -> Floats:
        about = (self._sorted[:, None] - grid) / spread
        high = math.log1p(-share) + _normal(about)
        low = math.log(share) + _normal(about + apart / spread)
        return np.asarray(np.logaddexp(high, low) - math.log(spread))

    def _parts(self, grid: Floats) -> list[Floats]:
        """A grid in parts: all values at once on all of it are gigabytes for a year of trials."""
        return np.array_split(grid, -(-len(grid) * len(self._sorted) // _MOST_AT_ONCE))

    def _of_cells(self, grid: Floats, logs: Callable[[Floats], Floats]) -> Floats:
        """(cells, grid) sums over the values of each cell, of (n, grid) logarithms."""
        parts = [np.add.reduceat(logs(part), self._starts) for part in self._parts(grid)]
        return np.concatenate(parts, axis=1)

    def _integrated(self, of_cells: Floats, step: float) -> float:
        return float(scipy.special.logsumexp(of_cells, axis=1).sum()) + len(self._sizes) * math.log(step)


def _normal(values: Floats) -> Floats:
    return np.asarray(-0.5 * values**2 - 0.5 * math.log(2 * math.pi))
