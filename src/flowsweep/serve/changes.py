"""Where the level of a series changes, to be marked in a picture: what the alarms' detector finds.

Nothing is judged anew here: a mark is a shift as `flowsweep alarms` finds it, of any quantity that a page
shows and in either direction. A path of less than three days has none.
"""

import threading
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from flowsweep.alarms.detector import shifts
from flowsweep.alarms.quantities import QUANTITIES as WATCHED
from flowsweep.alarms.quantities import WatchedQuantity
from flowsweep.defaults import FALSE_ALARMS_PER_100_DAYS
from flowsweep.serve.asked import Span
from flowsweep.serve.campaign import CampaignModel, PathKey, PathState
from flowsweep.serve.quantities import QUANTITIES, ShownQuantity
from flowsweep.serve.results import results
from flowsweep.serve.rows import OK, Rows
from flowsweep.serve.series import rounded

_MARKS_MAX = 20
_KEPT_MAX = 256
_WAITING_MAX = 32
"""Looks that wait for others; whoever asks for more asks again."""
_WAIT_S = 0.05
_BY_COLUMN = {one.column: one for one in WATCHED}
Mark = dict[str, Any]


class Changes:
    """Of all campaigns; what has not changed is not looked for again."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, PathKey, str], tuple[int, Future[list[Mark]]]] = {}
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="changes")

    def within(self, of: "SeriesLookedAt", span: Span, *, wait_s: float = _WAIT_S) -> list[Mark] | None:
        """The marks of a span of time: when, of which point, from which level to which, whether better.

        None if they are still looked for after `wait_s`: a long series takes some tenths of a second, for
        which no picture should wait.
        """
        with self._lock:
            key = (of.campaign, of.key, of.quantity.key)
            known = self._known.get(key)
            if known is None or known[0] != of.version:
                if not self._has_room(key):
                    return None
                known = self._known[key] = of.version, self._pool.submit(_found, of)
        try:
            found = known[1].result(wait_s)
        except (TimeoutError, CancelledError):
            return None
        return [mark for mark in found if span.begin <= mark["at"] < span.end][-_MARKS_MAX:]

    def _has_room(self, key: tuple[int, PathKey, str]) -> bool:
        """Let go of what was known of a series, and of the oldest one that is; False if too many wait."""
        if (former := self._known.pop(key, None)) is not None:
            former[1].cancel()
        over = [one for one, (_, looking) in self._known.items() if looking.done()]
        if len(self._known) - len(over) >= _WAITING_MAX:
            return False
        if len(self._known) >= _KEPT_MAX:
            del self._known[over[0]]
        return True


@dataclass(frozen=True, slots=True)
class SeriesLookedAt:
    """A quantity of a path, copied: nobody need wait while changes are looked for."""

    campaign: int
    key: PathKey
    quantity: ShownQuantity
    version: int
    """Of the path's state."""
    points: int
    rows: Rows
    """What all trials of the path told so far."""
    false_alarms_per_100_days: float
    """Of each series."""

    @classmethod
    def of(
        cls, campaign: int, model: CampaignModel, key: PathKey, quantity: ShownQuantity
    ) -> "SeriesLookedAt":
        """Copy it; the caller sees to it that nothing changes meanwhile."""
        state = model.paths[key]
        rows = results(state, state.rows.rows)
        return cls(campaign, key, quantity, state.version, len(state.points), rows, rate_of(model, key))


def _found(of: SeriesLookedAt) -> list[Mark]:
    """The marks of a series; none where looking for them fails: nothing else of a page needs them."""
    try:
        return changes(of.rows, of.points, of.quantity, of.false_alarms_per_100_days)
    except Exception:  # noqa: BLE001 - an archive may come from a stranger: numbers that no clock has shown
        return []


def changes(rows: Rows, points: int, quantity: ShownQuantity, false_alarms_per_100_days: float) -> list[Mark]:
    """Find all changes of a path; of each point by itself.

    Args:
        rows: Its trials, in the order of time.
        points: How many points it has.
        quantity: In which a change is looked for.
        false_alarms_per_100_days: Of one series.
    """
    watched = _watched(quantity)
    good = rows[(rows["status"] == OK) & np.isfinite(rows[quantity.key][:, 0])]
    found: list[Mark] = []
    for point in range(max(1, points)):
        own = good[good["point"] == point] if points > 1 else good
        values = own[quantity.key][:, 0].astype(np.float64) / quantity.factor
        scaled = np.array([watched.scaled(value) for value in values.tolist()])
        for shift in shifts(own["began"], scaled, watched.watching(false_alarms_per_100_days)):
            was, now = (watched.unscaled(shift.before + by) * quantity.factor for by in (0.0, shift.change))
            found.append(
                {
                    "at": round(shift.since_s, 3),
                    "point": point,
                    "was": rounded(was),
                    "now": rounded(now),
                    "better": shift.score * watched.worse < 0,
                    "until": None if shift.end != "back" or shift.over_s is None else round(shift.over_s, 3),
                }
            )
    return sorted(found, key=lambda one: one["at"])


def rate_of(model: CampaignModel, key: PathKey) -> float:
    """How many false marks there may be of one series of a path: all of a direction have the plan's rate."""
    alarms = None if model.plan is None else model.plan.alarms
    rate = FALSE_ALARMS_PER_100_DAYS if alarms is None else alarms.false_alarms_per_100_days
    return rate / max(1, sum(_series(state) for way, state in _same_way(model.paths, key)))


def _same_way(paths: Mapping[PathKey, PathState], key: PathKey) -> list[tuple[PathKey, PathState]]:
    return [(one, state) for one, state in paths.items() if (one.src, one.dst) == (key.src, key.dst)]


def _series(state: PathState) -> int:
    """How many series a path has: a quantity at a point each."""
    there = sum(state.rows.last(with_value_of=quantity.key) is not None for quantity in QUANTITIES)
    return there * max(1, len(state.points))


def _watched(quantity: ShownQuantity) -> WatchedQuantity:
    """On which scale the detector looks at what is shown; that of the column which alarms watch."""
    return next(_BY_COLUMN[column] for column in quantity.columns if column in _BY_COLUMN)
