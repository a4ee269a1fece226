"""Goodput over the time of a campaign, with what was varied taken out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np

from flowsweep.analysis.statistics.design import Design, coded
from flowsweep.analysis.statistics.few_digits import dithered
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.observations import DIRECTION
from flowsweep.analysis.statistics.waves import days_and_weeks
from flowsweep.analysis.statistics.winsorized import group_means, winsorized
from flowsweep.analysis.summarising.trial_row import known
from flowsweep.defaults import DAY_S

LONGEST_SERIES = 120
"""Values; of more trials neighbours are averaged, since likelihoods take time with the third power."""
FEWEST_VALUES = 5
"""Degrees of freedom, once the points are taken out."""
_SHORTEST_SEGMENT = 3
"""Units before and after a step, and of averages half of what one of them has."""
_CUTS = 2
"""Moments between which averages are made: a step and its end, or a second one."""
_DAYS_OF_A_WEEK = 7


@dataclass(frozen=True, slots=True)
class CampaignSeries:
    """Values over time that are alike but for noise, if nothing changes."""

    starts_s: Floats
    """(n,) since the first trial, in order."""
    began_s: float
    """Of the first trial, in seconds since 1970, UTC."""
    values: Floats
    """(n,) natural logarithm of goodput, with a mean for each point, those far out brought nearer; means of
    several are without it."""
    contrasts: Floats
    """(n, freedom) orthonormal; what values say beyond the means of points: `contrasts.T @ values`."""
    groups: tuple[Codes, ...]
    """(n,) each: values of which groups may share a deviation: a repeat, a day."""
    span_s: float
    """From the first trial's start to the last's."""
    trials: tuple[str, ...]
    units_s: Floats
    """(units,) when each unit began, since the first trial, in order."""
    bins: Codes
    """(units,) number of the value that a unit has a part in."""
    logs: Floats
    """(units,) natural logarithm of goodput, those far out brought nearer."""
    points: Codes
    """(units,) number of the point that each is of."""
    folded_s: float | None = None
    """The period of which values are means of the same parts; absent: of neighbours, if of several units."""

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the values."""
        return int(self.contrasts.shape[1])

    @property
    def averages(self) -> bool:
        """Whether values are means of several units."""
        return len(self.units_s) > len(self.starts_s)

    @property
    def shortest_segment(self) -> int:
        """Units before and after a step."""
        return _shortest_segment(len(self.units_s), len(self.starts_s))

    def moment(self, start_s: float) -> datetime:
        """Turn seconds since the first trial into a time, UTC."""
        return datetime.fromtimestamp(self.began_s + start_s, UTC)

    @property
    def hours(self) -> Codes:
        """(units,) hour of the day, UTC, in which each unit began: 0 to 23."""
        return ((self.began_s + self.units_s) % DAY_S // 3600).astype(np.intp)

    @property
    def weekdays(self) -> Codes:
        """(units,) day of the week, UTC, on which each unit began: 0 to 6."""
        return ((self.began_s + self.units_s) // DAY_S % _DAYS_OF_A_WEEK).astype(np.intp)

    @property
    def beyond_points(self) -> Floats:
        """(units,) logarithm of goodput less what points and waves of the day and the week explain."""
        return _beyond_waves(self.logs, self.points, self.began_s + self.units_s)

    @property
    def likely_cuts(self) -> list[int]:
        """Numbers of the units from which on goodput may most likely be another."""
        return _cuts(self.beyond_points, self.shortest_segment)

    def averaged(self, courses: Floats) -> Floats:
        """(n, k) what values are of (units, k) courses that units follow."""
        return np.column_stack([_means(course, self.bins) for course in courses.T])

    def contrasted(self, courses: Floats) -> Floats:
        """(freedom, k) contrasts of (units, k) courses; points are taken out as they are of the values."""
        if not courses.shape[1]:
            return np.empty((self.freedom, 0))
        if self.averages:
            courses = np.column_stack([_beyond_points(course, self.points) for course in courses.T])
        return np.asarray(self.contrasts.T @ self.averaged(courses))

    def folded(self, period_s: float, parts: int, *, widest_s: float) -> "CampaignSeries | None":
        """Average the same parts of a few successive periods each.

        Where neighbours are averaged over too long, a cycle of the period is gone from their means, or looks
        like one of another period. Returns itself where they are not, none where too few values are left.

        Args:
            period_s: Of the cycle.
            parts: Of a period, all of one length.
            widest_s: Over which averages of neighbours serve.
        """
        if not self.averages or np.median(np.diff(self.starts_s)) <= widest_s:
            return self
        clock = self.units_s + self.began_s % period_s
        turns = (clock // period_s).astype(np.intp)
        width = -(-(int(turns.max()) + 1) * parts // LONGEST_SERIES)
        of_period = (clock % period_s * parts // period_s).astype(np.intp)
        blocks = turns // width
        found = _ordered(coded(list(zip(blocks.tolist(), of_period.tolist(), strict=True))), self.units_s)
        series = _series(self.began_s + self.units_s, self.logs, self.points, blocks, found, self.trials)
        return None if series is None else replace(series, folded_s=period_s)

    def without_hours(self) -> "CampaignSeries":
        """The same units, less what trials of an hour of the day differ by from those of the same day."""
        days = coded(((self.began_s + self.units_s) // DAY_S).tolist())
        left = _beyond_points(self.logs, self.points)
        left = left - group_means(left, days)
        return replace(self, logs=self.logs - group_means(left, coded(self.hours.tolist())))


def campaign_series(grid: Design) -> CampaignSeries | None:
    """Take out of log goodput what the plan varied.

    Args:
        grid: Of trials of one sweep and mode; goodput in bit/s.

    Returns:
        One value for each unit, or the mean of a few neighbours of the same repeat where there are more than
        120: none of both sides of the two moments at which goodput may have changed most. None where too few
        degrees of freedom are left beside the means of the points, where it is not known when trials began,
        or where nothing differs.
    """
    starts = [[row["started_at"] for row in unit.rows] for unit in grid.units]
    if not starts or any(start is None for unit in starts for start in unit):
        return None
    began = np.array([np.mean([seconds(known(start)) for start in unit]) for unit in starts])
    order = np.argsort(began, kind="stable")
    began, logs = began[order], dithered(grid, _points(grid))[order]
    points, repeats = coded(_points(grid)[order].tolist()), coded(grid.repeats[order].tolist())
    if np.ptp(began) <= 0 or len(logs) - int(points.max()) - 1 < FEWEST_VALUES:
        return None
    logs = winsorized(logs, points, began)
    bins = np.arange(len(logs))
    if len(logs) > LONGEST_SERIES:
        bins = _bins(repeats)
        shortest = _shortest_segment(len(bins), int(bins.max()) + 1)
        cuts = _cuts(_beyond_waves(logs, points, began), shortest)
        bins = _ordered(_cut(bins, cuts), began)
    return _series(began, logs, points, repeats, bins, grid.trials)


def _series(
    began: Floats, logs: Floats, points: Codes, repeats: Codes, bins: Codes, trials: tuple[str, ...]
) -> CampaignSeries | None:
    """Put units into values; none where too few degrees of freedom are left, or nothing differs."""
    units_s = began - began[0]
    values, starts_s, of_values = logs, units_s, points
    if len(np.unique(bins)) < len(bins):
        values, starts_s = _means(_beyond_points(values, points), bins), _means(units_s, bins)
        began = began[0] + starts_s
        repeats = repeats[np.unique(bins, return_index=True)[1]]
        of_values = np.zeros(len(values), dtype=np.intp)
    contrasts = _contrasts(of_values)
    left = contrasts.T @ values
    # Of means points are taken out: where nothing differs, all of them are rounding of arithmetic.
    if contrasts.shape[1] < FEWEST_VALUES or left @ left <= np.finfo(np.float64).eps * (logs @ logs):
        return None
    return CampaignSeries(
        starts_s=starts_s, began_s=float(began[0] - starts_s[0]), values=values, contrasts=contrasts,
        groups=_groups(repeats, began), span_s=float(np.ptp(units_s)), trials=trials,
        units_s=units_s, bins=bins, logs=logs, points=points,
    )  # fmt: skip


def seconds(started_at: str) -> float:
    """Turn the time at which a trial began, as in a summary, into seconds since 1970."""
    return datetime.fromisoformat(started_at).timestamp()


def _points(grid: Design) -> Codes:
    """(units,) number of the point and of the directions that a unit has: each of them has its own level."""
    ways = [tuple(row[DIRECTION] for row in unit.rows) for unit in grid.units]
    return coded(list(zip(grid.codes(*grid.axes).tolist(), ways, strict=True)))


def _beyond_points(values: Floats, points: Codes) -> Floats:
    """(units,) values less the means of their points."""
    return np.asarray(values - group_means(values, points))


def _shortest_segment(units: int, values: int) -> int:
    return max(_SHORTEST_SEGMENT, round(units / values / 2))


def _beyond_waves(values: Floats, points: Codes, began: Floats) -> Floats:
    left = _beyond_points(values, points)
    return left - days_and_weeks(left, began)


def _cuts(values: Floats, shortest: int) -> list[int]:
    """Units from which on goodput may be another: one after the other those that tell most.

    Least squares (binary segmentation: Scott and Knott 1974, A cluster analysis method, Biometrics 30).
    """
    ends = [0, len(values)]
    for _ in range(_CUTS):
        found = [(*_most_telling(values[low:high], shortest), low) for low, high in pairwise(ends)]
        gain, place, low = max(found)
        if gain > 0:
            ends = sorted({*ends, low + place})
    return ends[1:-1]


def _most_telling(values: Floats, shortest: int) -> tuple[float, int]:
    """By how much two means in place of one lower the sum of squares, and where the second one begins."""
    count = len(values)
    places = np.arange(shortest, count - shortest + 1)
    if not len(places):
        return 0.0, 0
    sums = np.cumsum(values - values.mean())[places - 1]
    gains = np.square(sums) * count / (places * (count - places))
    return float(gains.max()), int(places[gains.argmax()])


def _cut(bins: Codes, cuts: Sequence[int]) -> Codes:
    """Let no value be of units on both sides of a cut."""
    sides = np.searchsorted(np.array(cuts), np.arange(len(bins)), side="right")
    return coded(list(zip(bins.tolist(), sides.tolist(), strict=True)))


def _ordered(bins: Codes, times_s: Floats) -> Codes:
    """Number values in the order of the means of their times."""
    places = np.empty(int(bins.max()) + 1, dtype=np.intp)
    places[np.argsort(_means(times_s, bins), kind="stable")] = np.arange(len(places))
    return np.asarray(places[bins])


def _bins(repeats: Codes) -> Codes:
    """Number neighbours of one repeat together, so many that few enough values are left."""
    width = -(-len(repeats) // LONGEST_SERIES)
    if int(repeats.max()) + 1 > LONGEST_SERIES // 2:
        return np.arange(len(repeats)) // width
    place = np.zeros(len(repeats), dtype=np.intp)
    for repeat in np.unique(repeats):
        own = np.flatnonzero(repeats == repeat)
        place[own] = np.arange(len(own)) // width
    return coded(list(zip(repeats.tolist(), place.tolist(), strict=True)))


def _means(values: Floats, bins: Codes) -> Floats:
    return np.asarray(np.bincount(bins, values) / np.bincount(bins))


def _contrasts(points: Codes) -> Floats:
    """(n, n − points) an orthonormal basis of what the means of points do not tell."""
    indicators = np.eye(int(points.max()) + 1)[points]
    return np.asarray(np.linalg.qr(indicators, mode="complete")[0][:, indicators.shape[1] :])


def _groups(repeats: Codes, began: Floats) -> tuple[Codes, ...]:
    days = coded((began // DAY_S).tolist())
    days_since = coded(((began - began[0]) // DAY_S).tolist())
    found: list[Codes] = []
    for codes in (repeats, days, days_since):
        if _tells(codes) and not any(np.array_equal(codes, other) for other in found):
            found.append(codes)
    return tuple(found)


def _tells(codes: Sequence[int] | Codes) -> bool:
    """Whether there are several groups, and most values share theirs with another."""
    sizes = np.bincount(codes)
    return len(sizes) > 1 and float(np.mean(sizes > 1)) > 1 / 2
