"""Where goodput is lower again beyond what is enough: what is known of it, and what is tried for that."""

import math
from collections.abc import Sequence
from itertools import pairwise, starmap

import numpy as np
from numpy.typing import NDArray

from flowsweep.schedule.search.belief import Lower
from flowsweep.schedule.search.design import rounded
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
        none is, those that look so and are surely lower at all, or far lower while little is known of the
        noise, if no larger one is shown to be enough.
    """
    values, means = np.array(levels.values), levels.means
    top, logs = int(means.argmax()), np.log(values)
    beyond = logs > min(response.enough, float(logs[top])) + _SAME
    below = float(means[list(reference)].mean()) - means
    sure = beyond & _lower(levels, reference, 1 - (1 - confidence) / len(values), ALLOWED)
    looks = beyond & _lower(levels, reference, confidence, 0.0) & (below > ALLOWED)
    if levels.freedom < _TELLING_FREEDOM:
        looks |= beyond & (below > _LOOKS_FALLEN)
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
"""By how much a level looks lower while little is known of the noise: natural logarithm."""
_TELLING_FREEDOM = 3
"""Degrees of freedom from which on Student's t is narrow enough to tell what looks lower."""


def _lower(levels: Levels, reference: Sequence[int], confidence: float, by: float) -> _Mask:
    """(levels,) which are surely lower than the plateau, by more than so much, and than a smaller level."""
    at_least, _ = levels.below(reference, confidence)
    linked = levels.linked[:, list(reference)].all(axis=1)
    return np.asarray(levels.lower_than_before(confidence) & (at_least > by) & linked)


def _largest(values: NDArray[np.int_]) -> int | None:
    return int(values[-1]) if len(values) else None


def fall_of(levels: Levels, reference: Sequence[int], confidence: float) -> int | None:
    """Say from which level on goodput surely falls, by more than the margin, if the best is not far below.

    Args:
        levels: That were tried.
        reference: Numbers of those on the plateau: the best is the last of them, or none is told.
        confidence: By Student's t with Bonferroni's bound over the levels.
    """
    top = int(levels.means.argmax())
    if top != max(reference):
        return None
    at_least, _ = levels.below([top], 1 - (1 - confidence) / len(levels.values))
    lower = (at_least > ALLOWED) & levels.linked[top]
    return next((levels.values[number] for number in np.flatnonzero(lower) if number > top), None)


FEW = math.floor(1 / math.expm1(ALLOWED))
"""From such a number to the next one goodput may rise by more than the margin: all between are tried."""


def ended_by_fall(levels: Levels, fallen: int | None, enough: _Mask) -> float | None:
    """Say which number the least that is enough does not exceed, since goodput falls from a larger one on.

    It takes for granted that goodput does not rise again from there on.

    Args:
        levels: That were tried.
        fallen: From where on goodput falls (`fall_of`).
        enough: (levels,) which are shown to be enough.

    Returns:
        The best level itself, if the next one is enough as well and close, and of a few all up to the fall
        are; else the last whole one before the fall. A natural logarithm; None where goodput does not fall.
    """
    if fallen is None:
        return None
    top, (best, *beyond) = _from_best(levels, fallen)
    flat = (
        len(beyond) > 1
        and enough[top + 1]
        and _between((best, *(beyond[:1] if best > FEW else beyond))) is None
    )
    return math.log(best if flat else fallen - 1)


def toward_fall(levels: Levels, fallen: int, enough: _Mask) -> int | None:
    """Choose a level between the best and the fall: goodput may be higher there.

    Returns:
        The middle of the first two that are not close; where all are, the one beyond the best if it is not
        known to be enough, nor the one from which goodput falls; else None.
    """
    top, (best, *beyond) = _from_best(levels, fallen)
    if (between := _between((best, *beyond))) is not None:
        return between
    return beyond[0] if len(beyond) > 1 and not enough[top + 1] else None


def before_fall(levels: Levels, reference: Sequence[int], fallen: int | None, reach: float) -> int | None:
    """Choose a level between the best and the fall, where the smallest of all would be enough without it.

    Args:
        levels: That were tried.
        reference: Numbers of those on the plateau. If only the smallest is, the next one looks lower.
        fallen: From where on goodput falls (`fall_of`).
        reach: The precision: the natural logarithm up to which others are as good an answer as the smallest.
    """
    least, above = levels.values[:2]
    if max(reference) == 0:
        fallen = above
    if fallen is None or levels.values[max(reference)] > FEW or math.log((fallen - 1) / least) <= reach:
        return None
    return _between(_from_best(levels, fallen)[1])


def below_best(levels: Levels, wanted: int, least: int) -> int:
    """What is tried beside the best and a level between it and the fall: something smaller.

    The best and a new level tell nothing of the noise by themselves; and goodput may be higher below.

    Args:
        levels: That were tried.
        wanted: What would be tried anyway.
        least: The smallest that may be.
    """
    best = levels.values[int(levels.means.argmax())]
    return wanted if least <= wanted != best else best - 1


def _between(levels: Sequence[int]) -> int | None:
    """The middle of the first two that are not close."""
    return next((one for one in starmap(middle, pairwise(levels)) if one is not None), None)


def middle(low: int, high: int) -> int | None:
    """A level between two, if goodput may rise by more than the margin with the level."""
    if high - low == 1 or math.log(high / low) <= ALLOWED:
        return None
    return min(max(rounded(math.sqrt(low * high)), low + 1), high - 1)


def _from_best(levels: Levels, fallen: int) -> tuple[int, list[int]]:
    """The number of the best level, and the levels from it up to the fall."""
    top = int(levels.means.argmax())
    return top, [level for level in levels.values[top:] if level <= fallen]
