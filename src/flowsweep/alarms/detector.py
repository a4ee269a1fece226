"""Finds shifts of a series as its values come: what it says of a time depends on no value after it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from flowsweep.alarms.level import Floats, Level, Whitened, learned
from flowsweep.alarms.outcome import (
    Course,
    End,
    Outcome,
    going_on,
    known_with,
    likeliest,
    new_level,
    old_level_back,
)
from flowsweep.alarms.shift import LENGTHS, change, lasting, scores
from flowsweep.alarms.tail import tail_of
from flowsweep.alarms.threshold import threshold
from flowsweep.defaults import DAY_S

FEWEST_S = 2.9 * DAY_S
"""Nothing is found sooner after the first value of a series."""
_LEARN_S = 28 * DAY_S
_LEARN_VALUES = 2016
"""Most values that are learned from, unless they are of less than a week: they tell the noise to 2 %."""
_LEARN_S_LEAST = 7 * DAY_S
_FEWEST_VALUES = 24
_HELD_BACK = 20
"""Most values that are not learned from yet: a shift may be among them."""
_PER_REFIT = 5
"""What is usual is learned again after a fifth as many values as it was learned from."""
_FARTHEST = LENGTHS[-1] - 1
"""How many values before the one that shows it a shift may have begun."""
_NEW_LEVEL_S = 2 * DAY_S
_NEW_LEVEL_VALUES = 10
NORMAL_95 = 1.959964


@dataclass(frozen=True, slots=True)
class Watching:
    """How a series is watched."""

    false_alarms_per_100_days: float
    """Of this series, in the direction that matters."""
    change_min: float
    """A change by less is none, however sure."""
    sigma_min: float
    """Least standard deviation that values are taken to have."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A change of level that was found, in units of the values."""

    found_s: float
    """Time of the value with which it was found."""
    since_s: float
    """Time of the value with which it probably began."""
    before: float
    """What was usual at that time."""
    change: float
    low: float
    high: float
    """Ends of its 95 % interval, by all values until it was over; until now, if it is not."""
    first_change: float
    first_low: float
    first_high: float
    """The same, when it was found."""
    score: float
    """Normal score with which it was found."""
    over_s: float | None
    """Time of the value with which it was over."""
    end: End | None


def shifts(times_s: Floats, values: Floats, watching: Watching) -> list[Shift]:
    """Find the shifts of a series.

    Args:
        times_s: (n,) Ascending, in Unix seconds: the waves of a day begin at midnight UTC.
        values: (n,) Finite; what was not measured is not there.
        watching: How.

    Returns:
        In the order of time, upward and downward ones; only the last may go on. Nothing is found before there
        are 24 values of three days. Each shift is compared with a level learned before it. It is over when
        the old level is back; after two days and ten values it is the new level.
    """
    return list(_Series(times_s, values, watching).run())


class _Series:
    """Values in their order; those of shifts that are over are left out of what is learned."""

    def __init__(self, times_s: Floats, values: Floats, watching: Watching) -> None:
        self._times_s = times_s
        self._values = values.astype(np.float64, copy=True)
        self._watching = watching
        self._usual = np.zeros(len(values), dtype=bool)
        """Of values that were looked at: whether they are learned from."""
        self._brief: list[tuple[float, float]] = []
        """When shifts were found that were soon over, and their scores."""
        self._tail = 1.0

    def run(self) -> Iterator[Shift]:
        at, count = self._begin(), len(self._values)
        self._usual[:at] = True
        while at < count:
            level, before = self._learned(at)
            until = min(count, at + max(1, int(level.freedom) // _PER_REFIT))
            found = self._first(level, before, at, until)
            if found is None:
                self._usual[at:until] = True
                at = until
                continue
            shift, at = self._followed(level, before, at, *found)
            yield shift

    def _begin(self) -> int:
        """The first value that can be judged."""
        if len(self._values) <= _FEWEST_VALUES:
            return len(self._values)
        enough = int(np.searchsorted(self._times_s, self._times_s[0] + FEWEST_S))
        return max(enough, _FEWEST_VALUES)

    def _learned(self, at: int) -> tuple[Level, np.ndarray]:
        """The level before a value, and the numbers of the last usual values before it."""
        usual = np.flatnonzero(self._usual[:at])
        held_back = min(_HELD_BACK, len(usual) // 10)
        learn = usual[: len(usual) - held_back]
        times_s = self._times_s[learn]
        first = np.searchsorted(times_s, times_s[-1] - _LEARN_S)
        few = np.searchsorted(times_s, times_s[-1] - _LEARN_S_LEAST)
        first = max(first, min(few, max(0, len(learn) - _LEARN_VALUES)))
        first = min(first, max(0, len(learn) - 2 * _FEWEST_VALUES))
        level = learned(times_s[first:], self._values[learn[first:]], sigma_min=self._watching.sigma_min)
        white = self._white(level, learn[first:])
        brief = [score for when_s, score in self._brief if when_s >= times_s[first]]
        self._tail = tail_of(white, level, brief)
        return level, usual[-(LENGTHS[-1] - 1) :]

    def _white(self, level: Level, numbers: np.ndarray) -> Whitened:
        return level.whitened(self._times_s[numbers], self._values[numbers])

    def _usual_at(self, level: Level, number: int) -> float:
        return float(level.usual(self._times_s[number : number + 1])[0])

    def _first(self, level: Level, before: np.ndarray, at: int, until: int) -> tuple[int, int, float] | None:
        """The first shift: the number of the value that shows it, of the one it began with, and its score."""
        numbers = np.concatenate([before, np.arange(at, until)])
        white = self._white(level, numbers)
        found, changes = scores(white, level)
        least = self._threshold(level)
        surely = (np.abs(found) > least) & (np.abs(changes) >= self._watching.change_min)
        surely[:, : len(before)] = False
        for row, length in enumerate(LENGTHS):
            places = np.flatnonzero(surely[row])
            surely[row, places] = lasting(white, level, length, places, changes[row, places])
        places = np.flatnonzero(surely.any(axis=0))
        if not len(places):
            return None
        place = int(places[0])
        row = int(np.argmax(np.where(surely[:, place], np.abs(found[:, place]), 0)))
        begin = likeliest(known_with(white, place), level, range(max(0, place - _FARTHEST), place))
        return int(numbers[place]), int(numbers[begin]), float(found[row, place])

    def _threshold(self, level: Level) -> float:
        return threshold(level.step_s, level.freedom, self._watching.false_alarms_per_100_days, self._tail)

    def _followed(
        self, level: Level, before: np.ndarray, at: int, found: int, begin: int, score: float
    ) -> tuple[Shift, int]:
        """What becomes of a shift; returns the number of the first value that is to be judged again."""
        long_enough = max(
            int(np.searchsorted(self._times_s, self._times_s[begin] + _NEW_LEVEL_S)),
            begin + _NEW_LEVEL_VALUES,
            found + 1,
        )
        course = self._course(level, before, at, begin, found, long_enough)
        outcome = old_level_back(course)
        if outcome is None and long_enough < len(self._values):
            outcome = new_level(course, long_enough)
        if outcome is None:
            outcome = going_on(course, len(self._values) - 1)
        self._take_in(outcome, at, begin)
        found_s, since_s = float(self._times_s[found]), float(self._times_s[begin])
        if outcome.brief:
            self._brief.append((found_s, score))
        shift = Shift(
            found_s, since_s, self._usual_at(level, begin),
            outcome.estimate[0], *_interval(*outcome.estimate),
            course.first[0], *_interval(*course.first), score,
            None if outcome.end is None else float(self._times_s[outcome.last]), outcome.end,
        )  # fmt: skip
        return shift, outcome.last + 1

    def _course(
        self, level: Level, before: np.ndarray, at: int, begin: int, found: int, long_enough: int
    ) -> Course:
        """A shift with all values that may tell what became of it."""
        before = before[before < begin]
        between = np.arange(begin, min(long_enough + 1, len(self._values)))
        between = between[(between >= at) | self._usual[between]]
        numbers = np.concatenate([before, between])
        white, place = self._white(level, numbers), int(np.searchsorted(numbers, found))
        first = change(known_with(white, place), level, len(before))
        return Course(level, numbers, white, len(before), place, first)

    def _take_in(self, outcome: Outcome, at: int, begin: int) -> None:
        """Learn from the values of a shift that is over; those before a new level count as shifted, too."""
        if outcome.end is not None:
            self._usual[at : outcome.last + 1] = True
            self._usual[outcome.apart] = False
        if outcome.end == "new level":
            self._values[:begin] += outcome.estimate[0]


def _interval(estimate: float, error: float) -> tuple[float, float]:
    return estimate - NORMAL_95 * error, estimate + NORMAL_95 * error
