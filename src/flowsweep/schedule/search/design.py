"""Which windows tell most about where goodput ceases to rise."""

import math
from collections.abc import Sequence

import numpy as np

from flowsweep.plan.searching.model import OfPlateau, first_windows
from flowsweep.schedule.search.levels import Blocks, Floats, Levels
from flowsweep.schedule.search.response import Response, gradient
from flowsweep.schedule.search.tried import Tried

_SPREAD = 0.7
"""Of the logarithm of the sharpness beforehand, its standard deviation."""
_NOISE = 0.005
"""Of a trial, natural logarithm, against which that is weighed."""
_LEAST = 1e-9
"""Of information on the estimate: where trials tell nothing of it."""
_APART = 0.3
"""Windows closer than this share of the precision are one."""
_CANDIDATES = np.arange(-6, 7) * 0.35
"""Windows that may be tried, in parts of the precision from the estimate."""


def spread_out(search: OfPlateau) -> tuple[int, ...]:
    """Windows over the whole range, evenly spaced on a logarithmic scale."""
    range_ = math.log(search.high / search.low)
    count = first_windows(search)
    between = [rounded(search.low * math.exp(range_ * step / (count - 1))) for step in range(1, count - 1)]
    return tuple(sorted({search.low, *between, search.high}))


def most_telling(
    tried: Sequence[Tried],
    response: Response,
    of_reference: int,
    *,
    count: int,
    reach: float,
    bounds: tuple[int, int],
) -> list[int]:
    """Choose windows for the next round.

    Args:
        tried: Trials that count.
        response: What is believed.
        of_reference: A window on the plateau that is in the round anyway.
        count: How many to choose.
        reach: The precision wanted: natural logarithm.
        bounds: The smallest and the largest window that may be chosen.

    Returns:
        Windows in bytes, one after the other those that reduce most the variance of `enough`, by
        linearisation (c-optimal design; Atkinson, Donev and Tobias 2007, Optimum Experimental Designs, with
        SAS, 17.4).
    """
    known = {one.level for one in tried}
    near = {rounded(math.exp(response.enough + step * reach)) for step in _CANDIDATES}
    candidates = sorted(window for window in known | near if bounds[0] <= window <= bounds[1])
    so_far = _information(_slopes([one.level for one in tried], response), [one.round for one in tried])
    so_far += np.diag([_LEAST, (_NOISE / _SPREAD) ** 2])
    chosen: list[int] = []

    def variance(one: int) -> float:
        """Of the estimate, with one window more in the round."""
        windows = [*chosen, one, of_reference]
        more = _information(_slopes(windows, response), [0] * len(windows))
        return float(np.linalg.inv(so_far + more)[0, 0])

    for _ in range(min(count, len(candidates) - 1)):
        left = [one for one in candidates if one not in (*chosen, of_reference)]
        chosen.append(min(left, key=variance))
    return chosen


def _slopes(windows: Sequence[int], response: Response) -> Floats:
    """(windows, 2) derivatives of log goodput."""
    sizes: Floats = np.log(windows)
    return gradient(sizes, response.enough, response.sharpness)


def rounded(window: float) -> int:
    """Round a window to 7 significant bits: no further than 0.8 %."""
    step = 1 << max(0, int(window).bit_length() - 7)
    return max(1, round(window / step)) * step


def near(levels: Levels, window: float, reach: float) -> int:
    """Take a window that was tried already, if there is one so close that nothing tells them apart."""
    close = [one for one in levels.values if abs(math.log(one / window)) < _APART * reach]
    return min(close, key=lambda one: abs(math.log(one / window))) if close else rounded(window)


def _information(slopes: Floats, rounds: Sequence[int]) -> Floats:
    """(2, 2) of trials, once each round has an effect of its own, in units of a trial's variance."""
    slopes = Blocks.of(rounds).within(slopes)
    return np.asarray(slopes.T @ slopes)
