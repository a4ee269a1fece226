"""Values over time, a few of which are far off: brought nearer, so that one stalled trial is no step."""

import math

import numpy as np

from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.waves import days_and_weeks
from flowsweep.defaults import DAY_S
from flowsweep.scatter import NORMAL_MAD

_BEYOND = 4.5
"""Standard deviations from what is usual there, beyond which a value counts as if it were as far."""
_EXACT = 1e-10
"""Residuals of logarithms that are rounding of arithmetic."""
_ROUNDS = 40
_SETTLED = 0.01
"""Of a standard deviation: no point moves further in a round."""
_MEANS_IN_TURN = 200
_WINDOWS = ((30, 7), (120, 9), (math.inf, 11))
"""Values below which so many neighbours are the level, by their median: more than half of them are a change
that lasts. If one of 20 trials stalls, more than half of 7 neighbours do so in one of 200 series of 30, of 9
in one of 250 of 120, and of 11 in one of 1000."""
_NARROWEST = 5
"""Values of which the median is the level next to an end: three of them are a change that lasts, as they may
be a step (`CampaignSeries.shortest_segment`), and two are far off."""
_FEWEST_ALIKE = 3
"""Days with trials of one hour of the day, or one day of the week, from which on these have levels of their
own: of two nobody knows which is far off."""
_WEEKDAYS = 7


def winsorized(logs: Floats, points: Codes, began: Floats) -> Floats:
    """Bring values that are far from what is usual at their time nearer, as Huber's psi does.

    What is usual is the mean of the point, the median of the neighbours, and the medians of the hour of the
    day and of the day of the week: a step that lasts, a cycle, and what comes at the same hour of each day
    stay as they are (Huber 1981, Robust Statistics; running medians: Tukey 1977, Exploratory Data Analysis).

    Args:
        logs: (n,) natural logarithms of goodput, in the order of time.
        points: (n,) numbers of points, from 0.
        began: (n,) seconds since 1970, UTC, in order.
    """
    values, own = logs, _points_beside_time(logs, points)
    hours = level = np.zeros(len(logs))
    clocks = [(began % DAY_S // 3600).astype(np.intp), (began // DAY_S % _WEEKDAYS).astype(np.intp)]
    for _ in range(_ROUNDS):
        waves = days_and_weeks(values - own - level, began)
        level = _running_median(logs - own - waves - hours)
        hours, parts = _recurring(logs - own - level - waves, clocks, (began // DAY_S).astype(np.intp))
        recurring = waves + hours
        residuals = logs - own - recurring - level
        free = len(logs) - int(points.max()) - 1 - parts - len(logs) / _window(len(logs))
        # A value that is the median itself is off by nothing, whatever the noise.
        apart = np.abs(residuals[np.abs(residuals) > _EXACT])
        spread = float(np.median(apart)) if len(apart) else 0.0
        deviation = NORMAL_MAD * spread * (len(logs) / max(free, 1.0)) ** 0.5
        if deviation <= 0 or free <= 0:
            break
        most = _BEYOND * deviation
        values = logs - residuals + np.clip(residuals, -most, most)
        before, own = own, group_means(values - level - recurring, points)
        if float(np.abs(own - before).max()) <= _SETTLED * deviation:
            break
    return values


def _points_beside_time(logs: Floats, points: Codes) -> Floats:
    """(n,) least squares of points beside neighbours, by taking out the means of both in turn.

    Points that ran mostly before a step, and others mostly after it, are told apart by those that did not.
    """
    neighbours = np.arange(len(logs)) // _window(len(logs))
    own = group_means(logs, points)
    for _ in range(_MEANS_IN_TURN):
        own = group_means(logs - group_means(logs - own, neighbours), points)
    return own


def group_means(values: Floats, groups: Codes) -> Floats:
    """(n,) the mean of each value's group."""
    return np.asarray((np.bincount(groups, values) / np.bincount(groups))[groups])


def _recurring(values: Floats, clocks: list[Codes], days: Codes) -> tuple[Floats, int]:
    """(n,) medians of hours, then of weekdays, about 0; how many there are beyond one for each clock."""
    found, parts = np.zeros(len(values)), 0
    for clock in clocks:
        codes = np.unique(clock)
        if len(codes) < 2 or any(len(np.unique(days[clock == code])) < _FEWEST_ALIKE for code in codes):
            continue
        left, own = values - found, np.zeros(len(values))
        for code in codes:
            own[clock == code] = np.median(left[clock == code])
        found, parts = found + own - np.median(own), parts + len(codes) - 1
    return found, parts


def _running_median(values: Floats) -> Floats:
    """(n,) the median of each value and its neighbours.

    Nearer to an end it is that of as many on either side as there are, so that a step after three values or
    more stays one. The last two are the middle of the value, the last median, and a line through the last
    ones (Tukey).
    """
    window = _window(len(values))
    if len(values) < window:
        return np.full(len(values), np.median(values))
    inner = np.median(np.lib.stride_tricks.sliding_window_view(values, window), axis=1)
    narrower = range(_NARROWEST, window, 2)
    first = [np.median(values[:count]) for count in narrower]
    last = [np.median(values[-count:]) for count in reversed(narrower)]
    medians = np.concatenate([first, inner, last])
    half = _NARROWEST // 2
    beyond = np.arange(1, half + 1)
    ends = []
    for own, near in ((values[:half][::-1], medians), (values[-half:], medians[::-1])):
        slope = (near[0] - near[half]) / half
        ends.append(np.median([own, np.full(half, near[0]), near[0] + slope * beyond], axis=0))
    return np.concatenate([ends[0][::-1], medians, ends[1]])


def _window(count: int) -> int:
    return next(window for below, window in _WINDOWS if count < below)
