"""The trials of one path as compact rows: some 80 bytes each, so that a million of them fit in memory."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from flowsweep.serve.quantities import QUANTITIES, triple

STATUSES = ("ok", "failed", "incomplete", "gone")
"""What may have become of a trial; `gone`: its data have changed since and do not count."""
OK, _INCOMPLETE, GONE = map(STATUSES.index, ("ok", "incomplete", "gone"))
_IMPORTED_IS_OK = "ok"

ROW = np.dtype(
    [
        ("began", "f8"),  # Unix seconds
        ("trial", "u8"),  # the 12 hexadecimal digits of its id
        ("offset", "i8"),  # of its record in the journal
        ("payload", "i4"),  # bytes of that record
        ("attempt", "i2"),
        ("point", "i2"),
        ("repeat", "i4"),  # the number of the time that its sweep was due
        ("status", "i1"),
        ("verdict", "i1"),  # -1: none
        ("summed", "?"),
        *((quantity.key, "f4", 3) for quantity in QUANTITIES),
    ]
)
Rows: TypeAlias = NDArray[Any]


class PathRows:
    """Rows in the order in which the trials began."""

    def __init__(self, rows: Rows | None = None) -> None:
        self._rows = np.zeros(16, ROW) if rows is None else rows
        self._count = 0 if rows is None else len(rows)
        self.told = _told(self.rows)
        """How many trials that went well have a value, by point and quantity."""

    @property
    def recent(self) -> Rows:
        """The last rows, among which the last one of each point is looked for."""
        return self.rows[-LOOKED_BACK:]

    @property
    def rows(self) -> Rows:
        """All rows; a view that the next trial may move away from."""
        return self._rows[: self._count]

    def add(self, row: Rows) -> None:
        """Add a trial, or put a later attempt of it in the place of the one before."""
        if row["attempt"] > 1:
            self._forget(int(row["trial"]))
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros(max(16, self._count), ROW)])
        at = self._count
        if at and self._rows["began"][at - 1] > row["began"]:
            at = int(np.searchsorted(self.rows["began"], row["began"], side="right"))
            self._rows[at + 1 : self._count + 1] = self._rows[at : self._count].copy()
        self._rows[at] = row
        self._count += 1

    def drop(self, trial: int, attempt: int) -> None:
        """Let a trial not count any more."""
        rows = self.rows
        dropped = (rows["trial"] == trial) & (rows["attempt"] == attempt)
        self.told -= _told(rows[dropped])
        rows["status"][dropped] = GONE

    def places(self, trials: Iterable[int]) -> dict[int, int]:
        """Where some trials stand, by trial."""
        rows = self.rows
        found = np.flatnonzero(np.isin(rows["trial"], np.fromiter(trials, "u8")))
        return {int(rows["trial"][place]): int(place) for place in found}

    def sum_up(self, place: int, row: Mapping[str, Any], verdict: int) -> None:
        """Fill in what a summary says of the trial that stands there."""
        rows = self._rows
        self._count_told(place, -1)
        for quantity in QUANTITIES:
            rows[quantity.key][place] = triple(quantity, row)
        rows["verdict"][place] = verdict
        # A summary alone sees that what was recorded as ok does not hold together, or does again.
        said = row.get("status")
        if rows["status"][place] in (OK, _INCOMPLETE) and said is not None:
            rows["status"][place] = OK if said == "ok" else _INCOMPLETE
        rows["summed"][place] = True
        self._count_told(place, 1)

    def spoil(self, place: int) -> None:
        """Let the trial that stands there be incomplete: its data cannot be summed up, as far as they go."""
        if self._rows["status"][place] == OK:
            self._rows["status"][place] = _INCOMPLETE

    def last(self, *, point: int | None = None, with_value_of: str | None = None) -> Rows | None:
        """The last trial that counts: of a point, with a value of a quantity."""
        if with_value_of is not None and all(quantity != with_value_of for _, quantity in self.told):
            return None
        for behind in range(self._count, 0, -LOOKED_BACK):
            rows = self._rows[max(0, behind - LOOKED_BACK) : behind]
            counts = rows["status"] != GONE
            if point is not None:
                counts &= rows["point"] == point
            if with_value_of is not None:
                counts &= (rows["status"] == OK) & ~np.isnan(rows[with_value_of][:, 0])
            if counts.any():
                return cast("Rows", rows[np.flatnonzero(counts)[-1]])
        return None

    def last_good(self, until: float = math.inf) -> float | None:
        """When the last trial began that went well, of those that began no later than a moment."""
        rows = self.rows
        for place in range(len(rows) - 1, -1, -1):
            if rows["status"][place] == OK and rows["began"][place] <= until:
                return float(rows["began"][place])
        return None

    def between(self, begin: float, end: float) -> Rows:
        """Trials that began in a span of time and count."""
        rows = self.rows
        first, behind = np.searchsorted(rows["began"], [begin, end])
        found = rows[first:behind]
        return cast("Rows", found[found["status"] != GONE])

    def _count_told(self, place: int, change: int) -> None:
        row = self._rows[place]
        if row["status"] == OK:
            for quantity in QUANTITIES:
                if not np.isnan(row[quantity.key][0]):
                    key = int(row["point"]), quantity.key
                    self.told[key] += change
                    if not self.told[key]:
                        del self.told[key]

    def _forget(self, trial: int) -> None:
        rows = self.rows
        kept = rows[rows["trial"] != trial]
        if len(kept) < self._count:
            self.told -= _told(rows[rows["trial"] == trial])
            self._rows[: len(kept)] = kept
            self._count = len(kept)


LOOKED_BACK = 2_000
"""Trials among which the last one of a point is looked for first."""


def _told(rows: Rows) -> Counter[tuple[int, str]]:
    """How many of some rows went well and have a value, by point and quantity."""
    found: Counter[tuple[int, str]] = Counter()
    good = rows[rows["status"] == OK]
    for quantity in QUANTITIES:
        points = good["point"][~np.isnan(good[quantity.key][:, 0])]
        for point, count in zip(*np.unique(points, return_counts=True), strict=True):
            found[int(point), quantity.key] = int(count)
    return found


def make_row(
    *,
    began: float,
    trial_id: str,
    offset: int,
    payload_bytes: int,
    attempt: int,
    point: int,
    status: str = _IMPORTED_IS_OK,
    repeat: int = 1,
) -> Rows:
    """Make the row of a trial that is not summed up yet."""
    row = np.zeros((), ROW)
    row["began"], row["trial"], row["offset"] = began, trial_number(trial_id), offset
    row["payload"], row["attempt"], row["point"] = payload_bytes, attempt, point
    row["status"], row["verdict"] = STATUSES.index(status), -1
    row["repeat"] = min(repeat, np.iinfo("i4").max)
    for quantity in QUANTITIES:
        row[quantity.key] = np.nan
    return row


def trial_number(trial_id: str) -> int:
    """The number that a trial's id is."""
    return int(trial_id, 16)


def trial_id_of(number: int) -> str:
    """The id of a trial whose number that is."""
    return f"{number:012x}"
