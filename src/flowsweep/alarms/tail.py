"""How long the tails of a series' noise are, where it was as usual."""

import math
from collections.abc import Sequence

import numpy as np

from flowsweep.alarms.level import Level, Whitened
from flowsweep.alarms.shift import lasting, scores

_LENGTHS = (3, 4, 5)
TAIL_FROM = 2.4
"""Scores beyond it are the tail."""
_USUAL = 0.9
"""Mean of half the square of scores beyond 2.4, less that of 2.4, of normal noise: by simulation."""
_STEEPER = 2.0
"""Tails that are longer grow longer still beyond what has been seen; chosen by simulation of Student's t."""
_AS_MANY = 20
"""Scores of normal noise that count as if they had been seen, too: a few say nothing of a tail."""


def tail_of(white: Whitened, level: Level, brief: Sequence[float]) -> float:
    """Tell how much longer tails are than those of normal noise.

    Args:
        white: Values that the level was learned from.
        level: That level.
        brief: Scores of shifts that were soon over, which it was not learned from.

    Returns:
        1 for normal noise, or shorter tails. From the mean excess of squares of scores beyond 2.4, less its
        standard error: for normal scores it is nearly the same from wherever one counts, as that of the
        exponential distribution is. A heuristic: no test is optimal for noise of an unknown kind.
    """
    found, changes = scores(white, level, _LENGTHS)
    tail = np.zeros(found.shape[1])
    for row, length in enumerate(_LENGTHS):
        places = np.flatnonzero(np.abs(found[row]) > TAIL_FROM)
        places = places[lasting(white, level, length, places, changes[row, places])]
        tail[places] = np.maximum(tail[places], np.abs(found[row, places]))
    seen = np.concatenate([tail[tail > 0], np.abs(np.array(brief, dtype=np.float64))])
    excess = float((np.square(seen) - TAIL_FROM**2).clip(min=0).sum()) / 2
    count = len(seen) + _AS_MANY
    mean = (excess / _USUAL + _AS_MANY) / count
    return math.pow(max(1.0, mean / (1 + 1 / math.sqrt(count))), _STEEPER)
