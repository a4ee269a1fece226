"""What levels show themselves of where the plateau begins, whatever the response: ends of its interval."""

import math
from collections.abc import Sequence
from dataclasses import replace

from flowsweep.schedule.search.falls import ended_by_fall, fall_of
from flowsweep.schedule.search.levels import Floats, Levels
from flowsweep.schedule.search.response import ALLOWED, Response, shortfall


def below_plateau(
    levels: Levels, response: Response, reference: Sequence[int], confidence: float
) -> tuple[Floats, Floats]:
    """How far each window is below the plateau, at least and at most: natural logarithms.

    A window of reference is itself a little below it, where the response bends softly.
    """
    lacking = shortfall(response, [levels.values[number] for number in reference])
    at_least, at_most = levels.below(reference, 1 - (1 - confidence) / 2)
    return at_least + lacking, at_most + lacking


def shown_ends(
    levels: Levels, response: Response, reference: Sequence[int], confidence: float
) -> tuple[float | None, float | None]:
    """What windows show themselves, whatever the response: natural logarithms, None where nothing is shown.

    These are the largest window that is shown not to be enough, and the smallest that is shown to be. One at
    which goodput is surely lower than at a smaller window says nothing of where the plateau begins.
    """
    at_least, at_most = below_plateau(levels, response, reference, confidence)
    # Beyond the largest of all goodput may rise, unless it surely falls.
    enough = [number for number in range(max(reference)) if at_most[number] <= ALLOWED]
    high = None if not enough else math.log(levels.values[enough[0]])
    if not enough:
        high = ended_by_fall(levels, fall_of(levels, reference, confidence), at_most <= ALLOWED)
    before = range(enough[0] if enough else min(reference))
    dips = levels.lower_than_before(1 - (1 - confidence) / 2)
    missing = [number for number in before if at_least[number] > ALLOWED and not dips[number]]
    return None if not missing else math.log(levels.values[missing[-1]]), high


def contradicted(response: Response, ends: tuple[float | None, float | None]) -> bool:
    """Whether windows show themselves that its estimate is wrong."""
    low, high = ends
    return (low is not None and low > response.enough) or (high is not None and high < response.enough)


def narrowed(response: Response, ends: tuple[float | None, float | None]) -> Response:
    """Narrow the interval to what the windows themselves show."""
    low = max((end for end in (response.low, ends[0]) if end is not None), default=None)
    high = min((end for end in (response.high, ends[1]) if end is not None), default=None)
    if low is not None and high is not None and low >= high:
        return response
    at = response.enough if low is None else max(response.enough, low)
    return replace(response, low=low, high=high, enough=at if high is None else min(at, high))
