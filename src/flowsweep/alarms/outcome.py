"""What becomes of a shift that was found: the old level comes back, the new one stays, or it goes on."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flowsweep.alarms.level import Level, Whitened
from flowsweep.alarms.shift import change

End = Literal["back", "new level"]
Estimate = tuple[float, float]
"""A change of level and its standard error, in units of the values."""

_BRIEF_VALUES = 50
"""What is over within so many values may be noise with long tails, and counts as that, too."""
_BACK = 5.0
"""Logarithm of how much likelier it must be that the level is back than that it is not: 150 times."""
_BACK_VALUES = 2
_NEAR = 3


class Course(NamedTuple):
    """A shift among the usual values before it and those since."""

    level: Level
    """What was usual before it."""
    numbers: NDArray[np.intp]
    """Of the values, among all of the series."""
    white: Whitened
    """The values."""
    begin: int
    """Place of the one that the shift began with."""
    found: int
    """Place of the one that showed it."""

    first: Estimate
    """Its size when it was found."""

    def estimated(self, white: Whitened) -> Estimate:
        """Its size by these of the values; later ones may tell better when it began."""
        around = range(max(0, self.begin - _NEAR), min(self.begin + _NEAR, self.found) + 1)
        return change(white, self.level, likeliest(white, self.level, around))


class Outcome(NamedTuple):
    """What became of it."""

    end: End | None
    last: int
    """Number of the last value that tells it."""
    estimate: Estimate
    apart: NDArray[np.intp]
    """Numbers of values that are never usual, though it is over."""
    brief: bool = False
    """Whether it was so soon over that chance may have been it."""


def old_level_back(course: Course) -> Outcome | None:
    """The end of a shift after which the old level came back; None if it did not."""
    back = _back(course)
    if back is None:
        return None
    since, shows = back
    return Outcome(
        "back",
        int(course.numbers[shows]),
        course.estimated(known_with(course.white, since - 1)),
        course.numbers[course.begin : since],
        brief=shows - course.begin <= _BRIEF_VALUES,
    )


def new_level(course: Course, last: int) -> Outcome:
    """The end of a shift which has lasted long enough with a value to be usual."""
    return Outcome("new level", last, course.estimated(course.white), course.numbers[:0])


def going_on(course: Course, last: int) -> Outcome:
    """A shift that is not over with the last value there is."""
    return Outcome(None, last, course.estimated(course.white), course.numbers[:0])


def likeliest(white: Whitened, level: Level, begins: range) -> int:
    """With which value a change began: the one for which it stands out most from chance."""

    def score(begin: int) -> float:
        estimate, error = change(white, level, begin)
        return abs(estimate) / error

    return max(begins, key=score)


def known_with(white: Whitened, last: int) -> Whitened:
    """What was known with a value."""
    end = last + 1
    return Whitened(
        white.residuals[:end], white.innovations[:end], white.own[:end], white.later[:end], white.design[:end]
    )


def _back(course: Course) -> tuple[int, int] | None:
    """When the old level came back: with which value, and which one shows it.

    The likelihood ratio of a change back by as much, at any time after it was found (Page 1954, Continuous
    inspection schemes, Biometrika 41).
    """
    white, begin, found = course.white, course.begin, course.found
    effect = white.later.copy()
    effect[begin] = white.own[begin]
    size = -course.first[0] / course.level.sigma
    innovations = (white.innovations + size * effect)[found + 1 :]
    own, later = white.own[found + 1 :], white.later[found + 1 :]
    total = np.cumsum(size * later * innovations - size**2 * later**2 / 2)
    head = size * own * innovations - size**2 * own**2 / 2 - total
    best = np.maximum.accumulate(head)
    wait = _BACK_VALUES - 1
    shown = np.flatnonzero(best[: len(best) - wait] + total[wait:] > _BACK)
    if not len(shown):
        return None
    since = int(np.argmax(head[: shown[0] + 1]))
    return found + 1 + since, found + 1 + int(shown[0]) + wait
