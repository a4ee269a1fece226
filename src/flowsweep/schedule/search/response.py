"""A smooth response of goodput to the window, fitted to what a search has tried."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.scatter import LEAST_SPREAD
from flowsweep.schedule.search.levels import Blocks, Floats, membership
from flowsweep.schedule.search.tried import Tried

ALLOWED = -math.log1p(-EQUIVALENCE_MARGIN)
"""How far below its plateau goodput is where a window is enough: natural logarithm."""
_SHARPNESS = np.geomspace(1, 100, 24)
"""From that of window / (window + constant) to a corner."""
_BETWEEN = 7
"""Sharpnesses about the best of these that are tried for each window, again about the best of them, …"""
_TIMES_FINER = 3
_STEP = 0.01
"""From one window that may be enough to the next: natural logarithm."""
_COARSER = 4
"""Of these windows every fourth is tried with all sharpnesses, the others with its neighbours' best."""
_BEYOND = 1.0
"""How far outside the range that is searched a window may be enough: natural logarithm."""


@dataclass(frozen=True, slots=True)
class Response:
    """Log goodput = p − ln(1 + e^(−k (s − c))) / k of the logarithm s of the window."""

    enough: float
    """Natural logarithm of the window at which goodput is a margin below p."""
    sharpness: float
    """k."""
    low: float | None
    high: float | None
    """Ends of the interval of `enough`, natural logarithms; None where it is open."""
    variance: float
    """Of what the fit leaves over, natural logarithms; NaN where all of it is fitted."""


def fitted(tried: Sequence[Tried], low_bytes: int, high_bytes: int, confidence: float) -> Response:
    """Fit the generalised mean of window and plateau, with an effect of each round of the search.

    Args:
        tried: Trials that count.
        low_bytes: The smallest window of the search.
        high_bytes: The largest.
        confidence: Of the interval.

    Returns:
        Least squares (Churchill and Usagi 1972, A general expression for the correlation of rates of transfer
        and other phenomena, AIChE Journal 18). The interval is of the profile likelihood: windows at which
        the best fit is not worse by more than Student's t² times the variance of what the fit leaves over,
        which has the lack of fit in it (Bates and Watts 1988, Nonlinear Regression Analysis, 6.1).
    """
    quadratic = _Quadratic.of(tried)
    grid = np.arange(math.log(low_bytes) - _BEYOND, math.log(high_bytes) + _BEYOND, _STEP)
    coarse = grid[::_COARSER]
    sharpest = _sharpest(quadratic, coarse)
    number = np.arange(len(grid)) // _COARSER
    # Of two neighbours that differ much, either may suit what lies between them.
    suiting = np.stack(
        [
            sharpest[number],
            sharpest[np.minimum(number + 1, len(coarse) - 1)],
            np.exp(np.interp(grid, coarse, np.log(sharpest))),
        ]
    )
    left_over = quadratic.left_over(suiting, grid)
    profile = left_over.min(axis=0)
    best = int(profile.argmin())
    sharpness = float(suiting[left_over[:, best].argmin(), best])
    freedom = quadratic.freedom - 2
    if freedom < 1:
        return Response(float(grid[best]), sharpness, None, None, math.nan)
    variance = max(float(profile[best]) / freedom, LEAST_SPREAD**2)
    reach = variance * float(stdtrit(freedom, (1 + confidence) / 2)) ** 2
    outside = np.flatnonzero(profile > profile[best] + reach)
    below, above = outside[outside < best], outside[outside > best]
    return Response(
        enough=float(grid[best]),
        sharpness=sharpness,
        low=float(grid[below[-1]]) if len(below) else None,
        high=float(grid[above[0]]) if len(above) else None,
        variance=variance,
    )


def _sharpest(quadratic: "_Quadratic", grid: Floats) -> Floats:
    """(grid,) the sharpness that suits best where each of these windows is enough: natural logarithms."""
    tried = np.repeat(_SHARPNESS[:, None], len(grid), axis=1)
    sharpest: Floats = _SHARPNESS[quadratic.left_over(tried, grid).argmin(axis=0)]
    width = math.log(_SHARPNESS[1] / _SHARPNESS[0])
    for _ in range(_TIMES_FINER):
        between = np.log(sharpest) + np.linspace(-width, width, _BETWEEN)[:, None]
        between = np.exp(np.clip(between, math.log(_SHARPNESS[0]), math.log(_SHARPNESS[-1])))
        best = quadratic.left_over(between, grid).argmin(axis=0)
        sharpest = np.take_along_axis(between, best[None], axis=0)[0]
        width *= 2 / (_BETWEEN - 1)
    return sharpest


def shortfall(response: Response, windows: Sequence[int]) -> float:
    """How far goodput at some windows is below p in the mean: natural logarithm."""
    sizes: Floats = np.log(windows)
    return -float(shape(sizes, np.asarray(response.enough), np.asarray(response.sharpness)).mean())


def gradient(sizes: Floats, enough: float, sharpness: float) -> Floats:
    """(sizes, 2) derivatives of log goodput by `enough` and by the logarithm of the sharpness."""
    small = 1e-3

    def at(place: float, k: float) -> Floats:
        return shape(sizes, np.asarray(place), np.asarray(k))

    by_place = (at(enough + small, sharpness) - at(enough - small, sharpness)) / (2 * small)
    more, less = sharpness * math.exp(small), sharpness * math.exp(-small)
    return np.stack([by_place, (at(enough, more) - at(enough, less)) / (2 * small)], axis=-1)


@dataclass(frozen=True, slots=True)
class _Quadratic:
    """The squares that a response leaves over, once each round has an effect of its own.

    They depend on a few sums of the trials, however many there are.
    """

    sizes: Floats
    """(windows,) natural logarithms."""
    inner: Floats
    """(windows, windows)"""
    with_logs: Floats
    """(windows,)"""
    total: float
    freedom: int
    """Trials less rounds."""

    @classmethod
    def of(cls, tried: Sequence[Tried]) -> "_Quadratic":
        windows = sorted({one.level for one in tried})
        member = membership([one.level for one in tried])
        rounds = Blocks.of([one.round for one in tried])
        logs = rounds.within(np.array([one.log_goodput for one in tried]))
        left = rounds.within(member)
        return cls(
            sizes=np.log(windows),
            inner=left.T @ left,
            with_logs=left.T @ logs,
            total=float(logs @ logs),
            freedom=len(tried) - rounds.count,
        )

    def left_over(self, sharpness: Floats, enough: Floats) -> Floats:
        """(m, n) of (m, n) sharpnesses and (n,) windows that are enough, natural logarithms."""
        below = shape(self.sizes, enough[None, :, None], sharpness[:, :, None])
        explained = np.einsum("mni,i->mn", below, self.with_logs)
        own = np.einsum("mni,mni->mn", below @ self.inner, below)
        return np.asarray(np.maximum(self.total - 2 * explained + own, 0.0))


def shape(sizes: Floats, enough: Floats, sharpness: Floats) -> Floats:
    """Log goodput below p, of log windows."""
    corner = enough + np.log(np.expm1(sharpness * ALLOWED)) / sharpness
    return np.asarray(-np.logaddexp(0, -sharpness * (sizes - corner)) / sharpness)
