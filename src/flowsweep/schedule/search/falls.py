"""Where goodput is lower again beyond what is enough: what is known of it."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from flowsweep.schedule.search.belief import Lower
from flowsweep.schedule.search.levels import Levels
from flowsweep.schedule.search.response import ALLOWED, Response

_Mask = NDArray[np.bool_]


def lower_of(
    levels: Levels, response: Response, reference: Sequence[int], enough: _Mask, confidence: float
) -> Lower | None:
    """Say at which levels beyond what is enough goodput is lower again.

    Args:
        levels: That were tried.
        response: What is believed; goodput may be highest below its estimate.
        reference: Numbers of the levels on the plateau.
        enough: (levels,) which are shown to be enough.
        confidence: That a level is lower, by Student's t; with Bonferroni's bound over all of them for what
            is said to be sure.

    Returns:
        Those that are surely lower than the plateau by more than the margin, and than a smaller level. Where
        none is, those that look so and are surely lower at all, if no larger one is shown to be enough.
    """
    values, means = np.array(levels.values), levels.means
    top, logs = int(means.argmax()), np.log(values)
    beyond = logs > min(response.enough, float(logs[top])) + _SAME
    below = float(means[list(reference)].mean()) - means
    if levels.freedom < 1:
        sure, looks = np.zeros(len(values), dtype=bool), beyond & (below > _LOOKS_FALLEN)
    else:
        sure = beyond & _lower(levels, reference, 1 - (1 - confidence) / len(values), ALLOWED)
        looks = beyond & _lower(levels, reference, confidence, 0.0) & (below > ALLOWED)
    numbers = np.arange(len(values))
    looks &= numbers > max(np.flatnonzero(enough), default=-1)
    told = sure if sure.any() else looks
    if not told.any():
        return None
    before, after = numbers < np.flatnonzero(told)[0], numbers > np.flatnonzero(told)[-1]
    rates_bps = [(level, math.exp(mean)) for level, mean in zip(levels.values, means.tolist(), strict=True)]
    return Lower(
        tuple(one for one, is_told in zip(rates_bps, told, strict=True) if is_told),
        bool(sure.any()),
        up_to=_largest(values[enough & before & (logs > response.enough - _SAME)]),
        again=_largest(values[enough & after]),
        highest=rates_bps[top],
    )


_SAME = 1e-9
"""Two levels that are closer, natural logarithms, are one."""
_LOOKS_FALLEN = 0.12
"""By how much a level looks lower while nothing is known of the noise: natural logarithm."""


def _lower(levels: Levels, reference: Sequence[int], confidence: float, by: float) -> _Mask:
    """(levels,) which are surely lower than the plateau, by more than so much, and than a smaller level."""
    at_least, _ = levels.below(reference, confidence)
    return np.asarray(levels.lower_than_before(confidence) & (at_least > by))


def _largest(values: NDArray[np.int_]) -> int | None:
    return int(values[-1]) if len(values) else None
