"""What a page shows first: each campaign, and of each path what was measured last."""

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from flowsweep.defaults import SECOND_NS
from flowsweep.schedule.overdue import was_due_twice
from flowsweep.serve.campaign import CampaignModel, PathKey, PathState
from flowsweep.serve.points import point_names, search_of
from flowsweep.serve.quantities import QUANTITIES, ShownQuantity
from flowsweep.serve.results import last_results
from flowsweep.serve.rows import GONE, STATUSES, Rows, trial_id_of
from flowsweep.serve.series import rounded
from flowsweep.serve.upcoming import Upcoming

_SPARK = 32
"""Values of the small curve beside a path."""


class Overview:
    """Of one campaign; what has not changed is not looked up again."""

    def __init__(self, model: CampaignModel) -> None:
        self._model = model
        self._known: dict[PathKey, tuple[int, dict[str, Any]]] = {}
        self._upcoming = Upcoming(model)

    def campaign(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        model = self._model
        paths = list(self.paths())
        return self.without_paths() | {
            "trials": sum((Counter(path["statuses"]) for path in paths), Counter[str]()),
            "waiting": len(model.pending),
            "missed": sum(one.count for one in model.missed),
            "running": self.running(),
            "paths": paths,
        }

    def without_paths(self) -> dict[str, Any]:
        """The same of one whose trials cannot be shown."""
        model = self._model
        return {
            "name": model.name,
            "address": model.address,
            "runs": model.has_writer,
            "succeeded": model.is_succeeded,
            "trials": {},
            "waiting": 0,
            "missed": 0,
            "running": [],
            "paths": [],
        }

    def refresh(self) -> None:
        """Work out what has changed since, so that whoever asks next need not wait for it."""
        for key, state in self._model.paths.items():
            self._known_path(key, state)

    def running(self) -> list[dict[str, Any]]:
        """Trials that run now, and where, if that is known."""
        found = []
        for one in self._model.running.values() if self._model.has_writer else ():
            trial = self._upcoming.find(one)
            found.append(
                {
                    "trial": one.trial_id,
                    "began": round(one.at.timestamp(), 3),
                    "sweep": trial and trial.sweep,
                    "src": trial and trial.src,
                    "dst": trial and trial.dst,
                    "seconds": trial and trial.parameters.duration_ns / SECOND_NS,
                }
            )
        return found

    def paths(self) -> Iterator[dict[str, Any]]:
        """Each path with its last values, in the order of the plan."""
        now_ns = time.time_ns()
        for key, state in self._model.paths.items():
            known = self._known_path(key, state)
            good = known["good"]
            if good is not None and good * SECOND_NS > now_ns:
                # The clock was set back since: until it is there again, that trial would look like a new one.
                good = state.rows.last_good(until=now_ns / SECOND_NS)
            yield known | {"good": good, "overdue": self._overdue(key, good, now_ns)}

    def _known_path(self, key: PathKey, state: PathState) -> dict[str, Any]:
        known = self._known.get(key)
        if known is None or known[0] != state.version:
            known = self._known[key] = (state.version, self._path(key, state))
        return known[1]

    def _overdue(self, key: PathKey, good: float | None, now_ns: int) -> bool:
        model = self._model
        since_ns = None if good is None else round(good * SECOND_NS)
        return (
            model.plan is not None
            and not model.is_succeeded
            and was_due_twice(
                model.plan, model.begun_ns, model.campaign.seed, key.sweep, since_ns=since_ns, now_ns=now_ns
            )
        )

    def _path(self, key: PathKey, state: PathState) -> dict[str, Any]:
        last = state.rows.last()
        good = last_results(state)
        shown = {quantity.key: _shown(good, quantity) for quantity in QUANTITIES}
        values = {key: None if row is None else _value(row, key) for key, row in shown.items()}
        spark = next((quantity for quantity in QUANTITIES if values[quantity.key] is not None), None)
        return {
            "sweep": key.sweep,
            "src": key.src,
            "dst": key.dst,
            "test": state.test,
            "trials": len(state.rows.rows),
            "statuses": _statuses(state.rows.rows),
            "points": len(state.points),
            "last": None if last is None else round(float(last["began"]), 3),
            "status": None if last is None else _worst(state),
            "trial": None if last is None else trial_id_of(int(last["trial"])),
            # Of the trial whose goodput stands beside it.
            "verdict": self._verdict(last if shown["goodput"] is None else shown["goodput"]),
            "good": state.rows.last_good(),
            "spark": None if spark is None else _spark(good, spark),
            "measured": {
                key: None if row is None else round(float(row["began"]), 3) for key, row in shown.items()
            },
            **values,
        }

    def _verdict(self, last: Rows | None) -> str | None:
        if last is None or last["verdict"] < 0:
            return None
        return self._model.verdicts[last["verdict"]]


def last_of_points(good: Rows, quantity: ShownQuantity) -> dict[int, Rows]:
    """The last trial of each point that has a value, among trials that went well."""
    known = good[~np.isnan(good[quantity.key][:, 0])]
    if len(known) == 0:
        return {}
    if (known["point"] == known["point"][-1]).all():
        return {int(known["point"][-1]): known[-1]}
    points, places = np.unique(known["point"][::-1], return_index=True)
    return {int(point): known[len(known) - 1 - place] for point, place in zip(points, places, strict=True)}


def names_of_points(state: PathState) -> list[str]:
    """What its points are called."""
    return point_names(list(state.points)) if state.points else []


def _statuses(rows: Rows) -> dict[str, int]:
    """How many trials became what, by their last attempts and what summaries say of them."""
    counts = np.bincount(rows["status"], minlength=len(STATUSES)).tolist()
    return {name: count for name, count in zip(STATUSES, counts, strict=True) if count and name != "gone"}


def _shown(good: Rows, quantity: ShownQuantity) -> Rows | None:
    """The trial that speaks for a path: of several points the highest goodput, the lowest RTT, most loss."""
    values = {float(row[quantity.key][0]): row for row in last_of_points(good, quantity).values()}
    return values[quantity.chosen(values)] if values else None


def _value(row: Rows, key: str) -> list[float | None]:
    """Value and interval."""
    return [rounded(float(part)) for part in row[key]]


def _worst(state: PathState) -> str:
    """What came of each point's last trial, of a search of all its steps: the first that is not well."""
    recent = state.rows.recent
    counts = recent[recent["status"] != GONE]
    points, places = np.unique(counts["point"][::-1], return_index=True)
    is_asked = np.zeros(len(counts), bool)
    is_asked[len(counts) - 1 - places] = True
    searches = [number for point, number in state.points.items() if search_of(point) is not None]
    if searches:
        newest = counts["repeat"][len(counts) - 1 - places]
        is_newest = counts["repeat"] == newest[np.searchsorted(points, counts["point"])]
        is_asked |= is_newest & np.isin(counts["point"], searches)
    last = counts["status"][is_asked]
    return next((name for number, name in enumerate(STATUSES) if name != "ok" and number in last), "ok")


def _spark(good: Rows, quantity: ShownQuantity) -> list[float | None]:
    """The last values of the point of which there is the newest one."""
    known = good[~np.isnan(good[quantity.key][:, 0])]
    own = known[known["point"] == known["point"][-1]][-_SPARK:]
    return [rounded(float(value)) for value in own[quantity.key][:, 0]]
