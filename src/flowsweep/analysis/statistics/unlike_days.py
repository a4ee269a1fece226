"""Days of a campaign on which all points carried less, or more, than on the others."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flowsweep.analysis.axes import level_of
from flowsweep.analysis.statistics.design import coded
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, carried
from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.defaults import EQUIVALENCE_MARGIN
from flowsweep.scatter import NORMAL_MAD

MOST_NAMED = 3
"""Days that are called unlike the others, at most: more are no exceptions."""
_TIMES_RANGE = 2.0
"""By how many times what days of one kind differ by they must be away from the others."""
_DEVIATIONS = 4.0
"""Standard deviations of single trials that they must be away, too."""
_FEWEST_TRIALS = 3
"""On each of these days, and on the others together."""
_FEWEST_FREEDOM = 4
_ON_THEIR_SIDE = 0.95
"""Share of the trials, of these days and of the others, that are nearer to their own median."""
_ROUNDS = 5
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class UnlikeDays:
    """Days that differ from the others, and by how much. Natural logarithms."""

    days: tuple[str, ...]
    """UTC, such as 2026-03-05, in order."""
    others: tuple[str, ...]
    """On which the same points ran, too."""
    trials: tuple[str, ...]
    """trial_id of those of these days, at points that ran on others, too."""
    like_these: int
    """How many of them are nearer to the median of these days."""
    compared: int
    """Trials at these points on all days."""
    left: int
    """Trials of these days at points that ran on no other day."""
    changes: tuple[float, ...]
    """Of these days against the others, one for each point and direction, ascending: all of one sign."""

    @property
    def change(self) -> float:
        """The median over points."""
        return float(np.median(self.changes))


def day_of(row: ObservedRow) -> str:
    """The day on which a trial began, UTC; "" where that is not known."""
    return str(row["started_at"] or "")[:10]


def unlike_days_of_each(
    observed: Observations, *, margin: float = EQUIVALENCE_MARGIN
) -> dict[str | None, UnlikeDays]:
    """Tell the days of all directions together (null), if they stand apart there; else of each direction."""
    if (found := unlike_days(observed, margin=margin)) is not None:
        return {None: found}
    ways = list(observed.by_direction())
    if len(ways) == 1:
        return {}
    return {
        direction: found
        for direction, rows in ways
        if (found := unlike_days(replace(observed, rows=tuple(rows), direction=direction), margin=margin))
    }


def unlike_days(observed: Observations, *, margin: float = EQUIVALENCE_MARGIN) -> UnlikeDays | None:
    """Find days that differ from all others, at every point, by more than days and trials do otherwise.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s. Those without one take no part.
        margin: Of practical equivalence, relative.

    Returns:
        Up to three days, no more than the others are; of two days the slower one. None where there are none.

    Method:
        Medians of points and of days, in turn (median polish: Tukey, Exploratory Data Analysis, 1977). Days
        are split where their levels are farthest apart. The gap must be twice as wide as the range of the
        levels on either side, four standard deviations of single trials, and the margin. At each point that
        ran on both sides the medians must differ by more than the margin, the same way, and 95 % of the
        trials be nearer to the median of their own side. That is no test: how days differ by chance, two or
        three of them cannot tell.
    """
    rows = [row for row in observed.rows if carried(row) and day_of(row)]
    if len({day_of(row) for row in rows}) == 1:
        return None
    kept = _on_several_days(rows, observed.factors)
    if not kept:
        return None
    compared = [rows[place] for place in kept]
    days = sorted({day_of(row) for row in compared})
    of_day = np.array([days.index(day_of(row)) for row in compared], dtype=np.intp)
    cells = _cells(compared, observed.factors)
    logs = np.log([goodput_of(row) for row in compared])
    named = _apart(logs, cells, of_day, margin)
    if named is None:
        return None
    here = np.isin(of_day, named)
    medians = [
        (places, float(np.median(logs[places[here[places]]])), float(np.median(logs[places[~here[places]]])))
        for places in (np.flatnonzero(cells == cell) for cell in range(int(cells.max()) + 1))
        if 0 < here[places].sum() < len(places)
    ]
    both = np.concatenate([places for places, _, _ in medians]) if medians else np.zeros(0, dtype=np.intp)
    changes = sorted(of_these - of_others for _, of_these, of_others in medians)
    on_days = np.bincount(of_day[both[here[both]]], minlength=len(days))[named]
    if not len(both) or on_days.min() < _FEWEST_TRIALS or (~here[both]).sum() < _FEWEST_TRIALS:
        return None
    if min(changes) * max(changes) < 0 or min(map(abs, changes)) <= math.log1p(margin):
        return None
    like = np.concatenate(
        [np.abs(logs[places] - these) < np.abs(logs[places] - others) for places, these, others in medians]
    )
    if min(like[here[both]].mean(), (~like[~here[both]]).mean()) < _ON_THEIR_SIDE:
        return None
    names = tuple(days[day] for day in named)
    return UnlikeDays(
        names,
        tuple(days[day] for day in np.unique(of_day[both[~here[both]]])),
        tuple(compared[place]["trial_id"] for place in np.sort(both[here[both]])),
        int(like[here[both]].sum()),
        len(both),
        sum(day_of(row) in names for row in rows) - int(here[both].sum()),
        tuple(changes),
    )


def _cells(rows: Sequence[ObservedRow], factors: Sequence[str]) -> Codes:
    return coded([tuple(level_of(row, name) for name in factors) for row in rows])


def _on_several_days(rows: Sequence[ObservedRow], factors: Sequence[str]) -> list[int]:
    """Places of the trials of points and directions that ran on two days or more."""
    days: dict[int, set[str]] = {}
    cells = _cells(rows, factors).tolist()
    for row, cell in zip(rows, cells, strict=True):
        days.setdefault(cell, set()).add(day_of(row))
    return [place for place, cell in enumerate(cells) if len(days[cell]) > 1]


def _apart(logs: Floats, cells: Codes, of_day: Codes, margin: float) -> list[int] | None:
    """Numbers of the days that are apart from the others in the medians over all points; in order."""
    count = int(of_day.max()) + 1
    levels, left = np.zeros(count), logs.astype(np.float64)
    groups = [
        [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)] for codes in (cells, of_day)
    ]
    for _ in range(_ROUNDS):
        for places in groups[0]:
            left[places] -= np.median(left[places])
        for day, places in enumerate(groups[1]):
            shift = float(np.median(left[places]))
            left[places] -= shift
            levels[day] += shift
    freedom = len(logs) - len(groups[0]) - count + 1
    if freedom < _FEWEST_FREEDOM:
        return None
    sizes = np.abs(left)[np.abs(left) > _ROUNDING]
    deviation = NORMAL_MAD * float(np.median(sizes)) if len(sizes) else 0.0
    order = np.argsort(levels, kind="stable")
    gaps = np.diff(levels[order])
    cut = 1 + int(np.argmax(gaps))
    low, high = order[:cut], order[cut:]
    widest = max(float(np.ptp(levels[side])) for side in (low, high))
    if gaps[cut - 1] <= max(_TIMES_RANGE * widest, _DEVIATIONS * deviation, math.log1p(margin)):
        return None
    few = low if len(low) <= len(high) else high
    return sorted(few.tolist()) if len(few) <= MOST_NAMED else None
