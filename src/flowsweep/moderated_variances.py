"""Variances of many points, each from few repeats, that lend each other what they have in common."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_LEAST_SHARE = 1e-12
"""Of the mean variance: less is rounding."""
_TRIGAMMA_ENDS = (1e-3, 1e4)
"""Half the degrees of freedom of what the points have in common lie between these."""


@dataclass(frozen=True, slots=True)
class Moderated:
    """Variances of points."""

    variances: Floats
    """(points,)"""
    freedom: float
    """Degrees of freedom of each."""


def moderated(variances: Floats, freedom: Floats) -> Moderated:
    """Draw variances towards what they have in common, as far as they are alike.

    Args:
        variances: (points,) not negative, not all 0.
        freedom: (points,) degrees of freedom of each, above 0.

    Returns:
        The variances are taken to be drawn from a scaled inverse χ² distribution, whose scale and degrees of
        freedom follow from the mean and the variance of their logarithms; each is then averaged with the
        scale (G. K. Smyth, Linear models and empirical Bayes methods for assessing differential expression in
        microarray experiments, Statistical Applications in Genetics and Molecular Biology 3, 2004). Where
        they differ by no more than chance, all are their mean. Never more degrees of freedom than there are.
    """
    everything = float(freedom.sum())
    mean = float(variances @ freedom) / everything
    logs = np.log(np.maximum(variances, _LEAST_SHARE * mean)) - scipy.special.digamma(freedom / 2)
    logs += np.log(freedom / 2)
    apart = 0.0
    if len(logs) > 1:
        apart = float(logs.var(ddof=1)) - float(scipy.special.polygamma(1, freedom / 2).mean())
    half = _inverse_trigamma(apart)
    if half is None:
        return Moderated(np.full(len(variances), mean), everything)
    scale = float(np.exp(logs.mean() + scipy.special.digamma(half) - np.log(half)))
    drawn = (2 * half * scale + freedom * variances) / (2 * half + freedom)
    return Moderated(drawn, min(2 * half + float(freedom.mean()), everything))


def _inverse_trigamma(value: float) -> float | None:
    """Solve trigamma(x) = value, within bounds; None where x is beyond any bound."""
    least, most = _TRIGAMMA_ENDS
    if value <= scipy.special.polygamma(1, most):
        return None
    if value >= scipy.special.polygamma(1, least):
        return least
    return float(scipy.optimize.brentq(lambda x: scipy.special.polygamma(1, x) - value, least, most))
