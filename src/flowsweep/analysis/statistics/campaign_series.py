"""Goodput over the time of a campaign, with what was varied taken out."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from flowsweep.analysis.statistics.design import Design, coded
from flowsweep.analysis.statistics.least_squares import Codes, Fit, Floats
from flowsweep.analysis.statistics.observations import DIRECTION
from flowsweep.analysis.summarising.trial_row import known
from flowsweep.defaults import DAY_S
from flowsweep.scatter import NORMAL_MAD

LONGEST_SERIES = 120
"""Values; of more trials neighbours are averaged, since likelihoods take time with the third power."""
FEWEST_VALUES = 5
"""Degrees of freedom, once the points are taken out."""
_CLIPPED_BEYOND = 3.5
"""Standard deviations from its point beyond which a value counts as if it were as far: one stalled trial is
no step."""
_CLIPS = 3
_DAYS_OF_A_WEEK = 7


@dataclass(frozen=True, slots=True)
class CampaignSeries:
    """Values over time that are alike but for noise, if nothing changes."""

    starts_s: Floats
    """(n,) since the first trial, in order."""
    began_s: float
    """Of the first trial, in seconds since 1970, UTC."""
    values: Floats
    """(n,) natural logarithm of goodput, with a mean for each point, those far out clipped."""
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

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the values."""
        return int(self.contrasts.shape[1])

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

    def averaged(self, courses: Floats) -> Floats:
        """(n, k) what values are of (units, k) courses that units follow."""
        return np.column_stack([_means(course, self.bins) for course in courses.T])


def campaign_series(grid: Design) -> CampaignSeries | None:
    """Take out of log goodput what the plan varied.

    Args:
        grid: Of trials of one sweep and mode; goodput in bit/s.

    Returns:
        One value for each unit, or the mean of a few neighbours of the same repeat where there are more than
        120. None where too few degrees of freedom are left beside the means of the points, where it is not
        known when trials began, or where nothing differs.
    """
    starts = [[row["started_at"] for row in unit.rows] for unit in grid.units]
    if not starts or any(start is None for unit in starts for start in unit):
        return None
    began = np.array([np.mean([seconds(known(start)) for start in unit]) for unit in starts])
    order = np.argsort(began, kind="stable")
    began, logs = began[order], grid.logs[order]
    points, repeats = coded(_points(grid)[order].tolist()), coded(grid.repeats[order].tolist())
    starts_s = began - began[0]
    if np.ptp(starts_s) <= 0 or len(logs) - int(points.max()) - 1 < FEWEST_VALUES:
        return None
    clipped, units_s, bins = _clipped(logs, points), starts_s, np.arange(len(logs))
    if len(logs) > LONGEST_SERIES:
        bins = _bins(repeats)
        clipped = clipped - (np.bincount(points, clipped) / np.bincount(points))[points]
        clipped, starts_s = _means(clipped, bins), _means(starts_s, bins)
        began = began[0] + starts_s
        repeats = repeats[np.unique(bins, return_index=True)[1]]
        points = np.zeros(len(clipped), dtype=np.intp)
    contrasts = _contrasts(points)
    left = contrasts.T @ clipped
    if contrasts.shape[1] < FEWEST_VALUES or left @ left <= np.finfo(np.float64).eps * (clipped @ clipped):
        return None
    return CampaignSeries(
        starts_s=starts_s, began_s=float(began[0] - starts_s[0]), values=clipped, contrasts=contrasts,
        groups=_groups(repeats, began), span_s=float(np.ptp(units_s)), trials=grid.trials,
        units_s=units_s, bins=bins,
    )  # fmt: skip


def seconds(started_at: str) -> float:
    """Turn the time at which a trial began, as in a summary, into seconds since 1970."""
    return datetime.fromisoformat(started_at).timestamp()


def _points(grid: Design) -> Codes:
    """(units,) number of the point and of the directions that a unit has: each of them has its own level."""
    ways = [tuple(row[DIRECTION] for row in unit.rows) for unit in grid.units]
    return coded(list(zip(grid.codes(*grid.axes).tolist(), ways, strict=True)))


def _clipped(logs: Floats, points: Codes) -> Floats:
    """Bring values that are far from their point nearer, as Huber's psi does (Robust Statistics, 1981)."""
    everything = np.zeros(len(logs), dtype=np.intp)
    values = logs
    for _ in range(_CLIPS):
        residuals = Fit(values, points, everything).residuals
        free = len(logs) - int(points.max()) - 1
        deviation = NORMAL_MAD * float(np.median(np.abs(residuals))) * (len(logs) / free) ** 0.5
        if deviation <= 0:
            return values
        most = _CLIPPED_BEYOND * deviation
        values = values - residuals + np.clip(residuals, -most, most)
    return values


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
