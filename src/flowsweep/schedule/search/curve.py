"""Goodput as a search knows it: the mean of each level that was tried, and the response that it believes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from flowsweep.scatter import LEAST_SPREAD
from flowsweep.schedule.search.levels import Blocks, Floats
from flowsweep.schedule.search.plateau import Seen, Shown
from flowsweep.schedule.search.response import Response, gradient, shape
from flowsweep.schedule.search.tried import Tried

_POINTS = 121
"""Of a curve: enough for a smooth line."""


@dataclass(frozen=True, slots=True)
class Band:
    """Values with their intervals, in bit/s; an interval is infinite where nothing is known of the noise."""

    middle: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Curve:
    """What is known after all trials of a search."""

    levels: tuple[int, ...]
    """Windows in bytes, or numbers of flows, ascending."""
    trials: tuple[int, ...]
    """Of each level; those that others contradict are left out."""
    means: Band
    """(levels,) at the mean of the rounds."""
    shown: tuple[Shown, ...]
    """Of each level."""
    places: Floats
    """(places,) from the least level to the largest, evenly spaced on a logarithmic scale."""
    response: Band | None
    """(places,) None where goodput follows no such response."""


def curve_of(tried: Sequence[Tried], low: int, high: int, *, confidence: float) -> Curve:
    """Say what trials show of goodput at each level.

    Args:
        tried: Those that were whole; three levels at least.
        low: The smallest level of the range.
        high: The largest.
        confidence: Of the search. Intervals are as wide as those of one look, since it looks often.

    Returns:
        Means by Student's t. The response has a pointwise band of its linear approximation (Bates and Watts
        1988, Nonlinear Regression Analysis, 2.3), with the lack of fit in its variance.
    """
    seen = Seen.of(tried, low, high, confidence)
    levels = seen.judged
    half = np.full(len(levels.values), math.inf)
    if levels.freedom > 0:
        spread = np.diag(levels.covariance) + 1 / levels.counts.sum()
        half = _quantile(levels.freedom, seen.confidence) * np.sqrt(
            max(levels.variance, LEAST_SPREAD**2) * spread
        )
    places = np.linspace(math.log(levels.values[0]), math.log(levels.values[-1]), _POINTS)
    return Curve(
        levels.values,
        tuple(map(int, levels.counts)),
        _band(levels.means, half),
        seen.shown,
        np.exp(places),
        None if seen.fit is None else _response(seen, seen.fit, places),
    )


def _response(seen: Seen, fit: Response, places: Floats) -> Band:
    """The curve through the levels that count."""
    counted = seen.counted
    sizes = np.log([one.level for one in counted])
    slopes = gradient(sizes, fit.enough, fit.sharpness)
    enough, sharpness = np.asarray(fit.enough), np.asarray(fit.sharpness)
    mean_of = dict(zip(seen.levels.values, seen.levels.means, strict=True))
    means = np.array([mean_of[one.level] for one in counted])
    plateau = (means - shape(sizes, enough, sharpness)).mean()
    middle = plateau + shape(places, enough, sharpness)
    rounds = Blocks.of([one.round for one in counted])
    freedom = len(counted) - rounds.count - slopes.shape[1]
    if freedom < 1:
        return _band(middle, np.full(len(places), math.inf))
    within = rounds.within(slopes)
    covariance = np.linalg.pinv(within.T @ within, hermitian=True)
    away = gradient(places, fit.enough, fit.sharpness) - slopes.mean(axis=0)
    spread = np.einsum("ni,ij,nj->n", away, covariance, away) + 1 / len(counted)
    return _band(middle, _quantile(freedom, seen.confidence) * np.sqrt(fit.variance * spread))


def _quantile(freedom: int, confidence: float) -> float:
    return float(stdtrit(freedom, (1 + confidence) / 2))


def _band(middle: Floats, half: Floats) -> Band:
    """Of natural logarithms."""
    return Band(np.exp(middle), np.exp(middle - half), np.exp(middle + half))
