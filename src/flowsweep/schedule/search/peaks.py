"""Where goodput may be higher between two levels than at all that were tried, since it falls beyond."""

import math
from itertools import pairwise

from flowsweep.schedule.search.falls import middle
from flowsweep.schedule.search.levels import Levels
from flowsweep.schedule.search.response import ALLOWED

_HIGHER = ALLOWED / 2
"""By how much a peak may be higher than all that was tried, natural logarithm."""


def hidden_peak(levels: Levels, enough: float, plateau: float) -> int | None:
    """Choose a level between the best and a neighbour, if a peak that matters may be there.

    Up to the peak goodput rises no faster than the level, nor, from the estimate on, than it does from there;
    beyond, it falls no faster than from the neighbour to the next level.

    Args:
        levels: That were tried.
        enough: The estimate: natural logarithm of a level.
        plateau: Goodput there is a margin below this natural logarithm.
    """
    top = int(levels.means.argmax())
    tried = list(zip(levels.values, levels.means.tolist(), strict=True))
    best_mean = tried[top][1]
    for (low, low_mean), (high, high_mean) in pairwise(tried[max(top - 1, 0) : top + 2]):
        beyond = math.log(low) - enough
        rise = 1.0 if beyond <= 0 else min(1.0, max(0.0, (low_mean - plateau + ALLOWED) / beyond))
        following = next((one for one in tried if one[0] > high), None)
        gap = math.log(high / low)
        at = gap
        if following is not None:
            fall = max(0.0, (high_mean - following[1]) / math.log(following[0] / high))
            at = min(gap, max(0.0, (high_mean - low_mean + fall * gap) / max(rise + fall, 1e-9)))
        if low_mean + rise * at - best_mean > _HIGHER and (between := middle(low, high)) is not None:
            return between
    return None
