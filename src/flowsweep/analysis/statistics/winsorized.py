"""Values over time, a few of which are far off: brought nearer, so that one stalled trial is no step."""

from dataclasses import dataclass

import numpy as np

from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.defaults import DAY_S
from flowsweep.scatter import NORMAL_MAD

_BEYOND = 3.5
"""Standard deviations from what is usual there, beyond which a value counts as if it were as far."""
_ROUNDS = 40
_SETTLED = 0.01
"""Of a standard deviation: no point moves further in a round."""
_MEANS_IN_TURN = 60
_NEIGHBOURS = 3
"""On either side. So many more values than half of all of these are a change that lasts."""
_WINDOW = 2 * _NEIGHBOURS + 1
_FEWEST_ALIKE = 3
"""Values of one hour of the day, or one day of the week, from which on it has a level of its own: of two
nobody knows which is far off."""
_WEEKDAYS = 7


@dataclass(frozen=True, slots=True)
class Winsorized:
    """Natural logarithms of goodput over time."""

    values: Floats
    """(n,) those that are far off brought nearer."""
    recurring: Floats
    """(n,) what comes with the hour of the day and the day of the week."""


def winsorized(logs: Floats, points: Codes, began: Floats) -> Winsorized:
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
    recurring = np.zeros(len(logs))
    level = np.zeros(len(logs))
    clocks = [(began % DAY_S // 3600).astype(np.intp), (began // DAY_S % _WEEKDAYS).astype(np.intp)]
    for _ in range(_ROUNDS):
        recurring, parts = _recurring(logs - own - level, clocks)
        level = _running_median(logs - own - recurring)
        residuals = logs - own - recurring - level
        free = len(logs) - int(points.max()) - 1 - parts - len(logs) / _WINDOW
        deviation = NORMAL_MAD * float(np.median(np.abs(residuals))) * (len(logs) / max(free, 1.0)) ** 0.5
        if deviation <= 0 or free <= 0:
            break
        most = _BEYOND * deviation
        values = logs - residuals + np.clip(residuals, -most, most)
        before, own = own, _of_groups(values - level - recurring, points)
        if float(np.abs(own - before).max()) <= _SETTLED * deviation:
            break
    return Winsorized(values, recurring)


def _points_beside_time(logs: Floats, points: Codes) -> Floats:
    """(n,) least squares of points beside neighbours, by taking out the means of both in turn.

    Points that ran mostly before a step, and others mostly after it, are told apart by those that did not.
    """
    neighbours = np.arange(len(logs)) // _WINDOW
    own = _of_groups(logs, points)
    for _ in range(_MEANS_IN_TURN):
        own = _of_groups(logs - _of_groups(logs - own, neighbours), points)
    return own


def _of_groups(values: Floats, groups: Codes) -> Floats:
    """(n,) the mean of each value's group."""
    return np.asarray((np.bincount(groups, values) / np.bincount(groups))[groups])


def _recurring(values: Floats, clocks: list[Codes]) -> tuple[Floats, int]:
    """(n,) medians of hours, then of days, about 0; how many there are beyond one for each clock."""
    found, parts = np.zeros(len(values)), 0
    for clock in clocks:
        left, own = values - found, np.zeros(len(values))
        codes = np.flatnonzero(np.bincount(clock) >= _FEWEST_ALIKE)
        if len(codes) > 1 and np.isin(clock, codes).all():
            for code in codes:
                own[clock == code] = np.median(left[clock == code])
            found = found + own - np.median(own)
            parts += len(codes) - 1
    return found, parts


def _running_median(values: Floats) -> Floats:
    """(n,) the median of each value and its neighbours; at both ends of fewer."""
    padded = np.pad(values, _NEIGHBOURS, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, _WINDOW)
    return np.asarray(np.nanmedian(windows, axis=1))
