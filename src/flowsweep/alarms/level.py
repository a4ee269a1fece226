"""What is usual of a series: its level, its course of the day, its noise, of which neighbours are alike."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flowsweep.analysis.statistics.waves import HARMONICS, waves
from flowsweep.defaults import DAY_S
from flowsweep.scatter import NORMAL_MAD

Floats = NDArray[np.float64]

_HUBER = 2.5
"""Standard deviations beyond which a value counts as if it were that far away."""
_CLIPPED_VARIANCE = 0.9778
"""Variance of a standard normal value clipped at ± 2.5."""
_RHO_MIN, _RHO_MAX = -0.5, 0.98
_DAYS_OF_WAVES = 2.0
"""Span from which on a course of the day is taken out."""
_GAP_OF_WAVE = 0.5
"""Longest time of the day without a value, of the period of a wave."""
_ROUNDS = 3
_STEP_LEAST_S = 1.0
"""Of values at one time: the shorter steps are, the surer a shift must be."""


@dataclass(frozen=True, slots=True)
class Whitened:
    """Values without what is usual, each without what it shares with the one before; in units of the noise.

    A change of level by one unit that begins at value i is in them `own[i]` at i and `later[j]` at each j
    after it. `design` is the same of the model's columns.
    """

    residuals: Floats
    """(n,) As measured: before anything of neighbours is taken out."""
    innovations: Floats
    """(n,)"""
    own: Floats
    """(n,)"""
    later: Floats
    """(n,)"""
    design: Floats
    """(n, p)"""


@dataclass(frozen=True, slots=True)
class Level:
    """A linear model with AR(1) noise: mean, waves of 24 and 12 hours.

    `sigma` is the standard deviation of innovations; that of the values about their course of the day is
    `sigma_of_values`.
    """

    began_s: float
    step_s: float
    """Usual time from one value to the next; above 0."""
    harmonics: int
    coefficients: Floats
    covariance: Floats
    """(p, p) Of the coefficients, in units of sigma²."""
    rho: float
    sigma: float
    freedom: float

    @property
    def sigma_of_values(self) -> float:
        """Standard deviation of values about level and course of the day."""
        return self.sigma / float(np.sqrt(1 - self.rho**2))

    def usual(self, times_s: Floats) -> Floats:
        """(n,) What is expected at these times."""
        return _columns(times_s - self.began_s, self.harmonics, self.began_s) @ self.coefficients

    def whitened(self, times_s: Floats, values: Floats) -> Whitened:
        """Compare values with what is usual."""
        columns = _columns(times_s - self.began_s, self.harmonics, self.began_s)
        residuals = values - columns @ self.coefficients
        share, scale = _memory(times_s, self.step_s, self.rho)
        scale = 1 / scale
        return Whitened(
            residuals,
            _innovations(residuals, share) * scale / self.sigma,
            scale,
            (1 - share) * scale,
            _innovations(columns, share[:, None]) * scale[:, None],
        )


def learned(times_s: Floats, values: Floats, *, sigma_min: float) -> Level:
    """Learn what is usual, in a way that single values far away change little.

    Args:
        times_s: (n,) Ascending; values may share a time.
        values: (n,) Of log goodput, or whatever has noise of the same size everywhere.
        sigma_min: Least standard deviation of the values.

    Returns:
        Generalised least squares for AR(1) noise (Cochrane and Orcutt 1949, JASA 44); residuals beyond 2.5
        standard deviations are drawn in to there (Huber 1964, Robust estimation of a location parameter,
        Annals of Mathematical Statistics 35). The correlation of neighbours is corrected for its bias
        towards 0 (Kendall 1954, Note on bias in the estimation of autocorrelation, Biometrika 41; for the
        waves by simulation).
    """
    began_s = float(times_s[0])
    step_s = _step_s(times_s)
    harmonics = _harmonics(times_s)
    columns = _columns(times_s - began_s, harmonics, began_s)
    count, width = columns.shape
    coefficients = np.zeros(width)
    coefficients[0] = np.median(values)
    drawn_in = values
    solve = np.linalg.pinv(columns.T @ columns) @ columns.T
    for _ in range(_ROUNDS):
        coefficients = solve @ drawn_in
        residuals = values - columns @ coefficients
        bound = _HUBER * max(NORMAL_MAD * float(np.median(np.abs(residuals))), sigma_min)
        drawn_in = values - residuals + np.clip(residuals, -bound, bound)
    clipped = drawn_in - columns @ coefficients
    rho = _correlation(times_s, step_s, clipped, width)
    share, scale = _memory(times_s, step_s, rho)
    scale = 1 / scale
    design = _innovations(columns, share[:, None]) * scale[:, None]
    covariance: Floats = np.linalg.pinv(design.T @ design).astype(np.float64)
    coefficients = np.asarray(covariance @ (design.T @ (_innovations(drawn_in, share) * scale)))
    innovations = _innovations(values - columns @ coefficients, share) * scale
    least = sigma_min * float(np.sqrt(1 - rho**2))
    freedom = max(2.0, count - width - 1.0)
    spread = max(NORMAL_MAD * float(np.median(np.abs(innovations))), least)
    for _ in range(_ROUNDS):
        drawn = np.clip(innovations, -_HUBER * spread, _HUBER * spread)
        spread = max(float(np.sqrt(drawn @ drawn / (freedom * _CLIPPED_VARIANCE))), least)
    return Level(began_s, step_s, harmonics, coefficients, covariance, rho, spread, freedom)


def _step_s(times_s: Floats) -> float:
    """Usual time from one value to the next one at another time; a short one where there is none."""
    steps_s = np.diff(times_s)
    apart_s = steps_s[steps_s > 0]
    return float(np.median(apart_s)) if len(apart_s) else _STEP_LEAST_S


def _columns(since_s: Floats, harmonics: int, began_s: float) -> Floats:
    """(n, 1 + 2 · harmonics) ones, cosines and sines."""
    ones = np.ones((len(since_s), 1))
    return np.hstack([ones, waves(since_s + began_s % DAY_S, DAY_S, harmonics)]) if harmonics else ones


def _harmonics(times_s: Floats) -> int:
    """How many waves of a day the times tell: of each no half period may be without a value."""
    if times_s[-1] - times_s[0] < _DAYS_OF_WAVES * DAY_S:
        return 0
    of_day = np.unique(times_s % DAY_S)
    longest = max(float(np.diff(of_day).max(initial=0.0)), float(of_day[0] + DAY_S - of_day[-1]))
    return next((wave for wave in range(HARMONICS, 0, -1) if longest < _GAP_OF_WAVE * DAY_S / wave), 0)


def _memory(times_s: Floats, step_s: float, rho: float) -> tuple[Floats, Floats]:
    """(n,) share of its neighbour that a value has, and spread of the rest; of the first nothing is known."""
    steps = np.maximum(1, np.rint(np.diff(times_s) / step_s))
    share = np.full(len(times_s), rho)
    share[0] = 0.0
    far = np.flatnonzero(steps > 1)
    share[far + 1] = rho ** steps[far]
    return share, np.sqrt((1 - share**2) / (1 - rho**2))


def _innovations(values: Floats, share: Floats) -> Floats:
    before = np.concatenate([values[:1], values[:-1]])
    return np.asarray(values - share * before)


def _correlation(times_s: Floats, step_s: float, residuals: Floats, width: int) -> float:
    """Of neighbours one step apart."""
    near = np.rint(np.diff(times_s) / step_s) <= 1
    count = int(near.sum())
    squares = float(residuals @ residuals) / len(residuals) * count
    if squares <= 0:
        return 0.0
    found = float((residuals[1:] * residuals[:-1])[near].sum()) / squares
    bias = (1 + 3 * found + (width - 1) * (1 - found)) / count
    return float(np.clip(found + bias, _RHO_MIN, _RHO_MAX))
