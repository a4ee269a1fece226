"""Which windows tell most about where goodput ceases to rise."""

import math
from collections.abc import Sequence

import numpy as np

from flowsweep.schedule.search.levels import Floats, orthonormal
from flowsweep.schedule.search.response import Response, gradient
from flowsweep.schedule.search.tried import Tried

_SPREAD = 0.7
"""Of the logarithm of the sharpness beforehand, its standard deviation."""
_NOISE = 0.005
"""Of a trial, natural logarithm, against which that is weighed."""
_CANDIDATES = np.arange(-6, 7) * 0.35
"""Windows that may be tried, in parts of the precision from the estimate."""


def most_telling(
    tried: Sequence[Tried],
    response: Response,
    reference_bytes: int,
    *,
    count: int,
    reach: float,
    bounds: tuple[int, int],
) -> list[int]:
    """Choose windows for the next round.

    Args:
        tried: Trials that count.
        response: What is believed.
        reference_bytes: A window on the plateau that is in the round anyway.
        count: How many to choose.
        reach: The precision wanted: natural logarithm.
        bounds: The smallest and the largest window that may be chosen.

    Returns:
        Windows in bytes, one after the other those that reduce most the variance of `enough`, by
        linearisation (c-optimal design; Atkinson, Donev and Tobias 2007, Optimum Experimental Designs, with
        SAS, 17.4).
    """
    known = {one.window_bytes for one in tried}
    near = {rounded(math.exp(response.enough + step * reach)) for step in _CANDIDATES}
    candidates = sorted(window for window in known | near if bounds[0] <= window <= bounds[1])
    chosen: list[int] = []
    for _ in range(min(count, len(candidates) - 1)):
        left = [one for one in candidates if one not in (*chosen, reference_bytes)]
        chosen.append(min(left, key=lambda one: _variance(tried, response, [*chosen, one, reference_bytes])))
    return chosen


def rounded(window: float) -> int:
    """Round a window to 7 significant bits: no further than 0.8 %."""
    step = 1 << max(0, int(window).bit_length() - 7)
    return max(1, round(window / step)) * step


def _variance(tried: Sequence[Tried], response: Response, more: Sequence[int]) -> float:
    """Of the estimate, in units of a trial's, with a further round of some windows."""
    rounds = [one.round for one in tried]
    basis = orthonormal([*rounds, *[max(rounds) + 1] * len(more)])
    sizes: Floats = np.log([*(one.window_bytes for one in tried), *more])
    slopes = gradient(sizes, response.enough, response.sharpness)
    slopes = slopes - basis @ (basis.T @ slopes)
    information = slopes.T @ slopes
    information[1, 1] += (_NOISE / _SPREAD) ** 2
    return float(np.linalg.inv(information + 1e-9 * np.eye(2))[0, 0])
