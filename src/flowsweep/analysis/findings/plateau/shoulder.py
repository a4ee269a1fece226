"""A smooth response of goodput to the window: proportional below, level above, and a shoulder between."""

import math
from collections.abc import Sequence

import numpy as np
import scipy

from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.scatter import LEAST_SPREAD

_SHARPNESS = (1.0, 100.0)
"""From that of window / (window + constant), Michaelis and Menten's, to a corner."""
_SPREAD = 0.5
"""Of ln k beforehand, its standard deviation."""
_LEAST_SHARE = 0.1
"""Of the margin: as near to the asymptote as the response is read."""


def enough_at(  # a fit, its levels and what is asked of it
    sizes: Floats,
    means: Floats,
    below: Sequence[int],
    highest: Sequence[int],
    *,
    error: float,
    margin: float,
) -> float:
    """Estimate at which window goodput is a margin below its plateau.

    Args:
        sizes: (levels,) natural logarithm of the window.
        means: (levels,) natural logarithm of goodput.
        below: Numbers of the levels below the plateau that count, in order.
        highest: Of those on it.
        error: Standard error of a level's mean.
        margin: Relative.

    Returns:
        Natural logarithm of the window, by least squares of log goodput = p − ln(1 + e^(−k (s − c))) / k, the
        generalised mean of window and plateau (Churchill and Usagi 1972, A general expression for the
        correlation of rates of transfer and other phenomena, AIChE Journal 18), with plateau p, corner c and
        sharpness k. Few levels tell little of the shoulder's shape: of shapes that chance cannot tell apart
        the sharpest is preferred, with ln k normal about a corner's, and the estimate has no interval.
    """
    taking_part = [*below, *highest]
    size, mean = sizes[taking_part], means[taking_part]
    plateau = float(np.mean(means[list(highest)]))
    corner = plateau + float(np.mean(sizes[list(below)] - means[list(below)]))
    goal = math.log1p(-margin)
    low, high = (math.log(end) for end in _SHARPNESS)

    def left(values: Floats) -> Floats:
        height, place, sharpness = values[0], values[1], math.exp(values[2])
        smooth = height - np.logaddexp(0.0, -sharpness * (size - place)) / sharpness
        return np.append((smooth - mean) / max(error, LEAST_SPREAD), (high - values[2]) / _SPREAD)

    fitted = scipy.optimize.least_squares(
        left, [plateau, corner, (low + high) / 2],
        bounds=([-np.inf, -np.inf, low], [np.inf, np.inf, high]),
    )  # fmt: skip
    height, place, sharpness = fitted.x[0], fitted.x[1], math.exp(fitted.x[2])
    # Against the plateau as it is reported: the asymptote lies above what a mild shoulder reaches.
    reached = min(plateau + goal - height, math.log1p(-margin * _LEAST_SHARE))
    steps = -sharpness * reached
    return float(place - (steps + math.log(-math.expm1(-steps))) / sharpness)
