"""What statistics over repeats start from: the trials of one sweep and mode that ended well."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from flowsweep import wording
from flowsweep.analysis.axes import level_of, told_apart
from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.analysis.mean_goodput import mean_goodput_of
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.grouping import grouped

DIRECTION: Final = "direction"
"""Source and sink of a trial in one factor."""
_OFTEN = 20
"""Trials of each point of a direction, on average, from which on the direction is asked by itself."""
_MOST_APART = 24
"""Directions that are asked one by one: each takes a third of a second."""
_NOT_FACTORS = frozenset({"sweep", "src", "dst", "test", "mode", "simultaneous", "window_sum_asked_bytes"})


class ObservedRow(TrialRow):
    """A row of a summary, with what statistics add to it."""

    direction: str


class Scope(NamedTuple):
    """Which trials of a campaign something is about."""

    sweep: str
    mode: str | None
    """How TCP's bytes got into and out of the kernel; null for other tests."""
    direction: str | None = None
    """ "source → sink", "source ⇄ sink" where both ways ran at once; null: all directions of the sweep."""


@dataclass(frozen=True, slots=True)
class Observations:
    """Trials that may be compared with each other."""

    sweep: str
    mode: str | None
    rows: tuple[ObservedRow, ...]
    """As they ran; all are `ok` and have a goodput above 0."""
    factors: tuple[str, ...]
    """Columns that vary among the rows, `direction` included."""
    direction: str | None = None
    """Of all of them, where they are those of one direction of several."""
    failed: tuple[ObservedRow, ...] = ()
    """Trials of the same sweep and mode that did not end well, or carried nothing."""
    sides: Mapping[str, int] = field(default_factory=dict)
    """By trial_id, after which step in goodput a trial ran: a number from 1, none of those before any. What
    differs between sides is no effect of what was varied."""

    def scope(self, direction: str | None = None) -> Scope:
        """What is about all of these trials, or about those of one direction."""
        return Scope(self.sweep, self.mode, direction or self.direction)

    def in_the_mean(self) -> "Observations":
        """The same trials; `goodput_bps` is the mean over the time that counts, where that is known."""

        def mean(row: ObservedRow) -> ObservedRow:
            return {**row, "goodput_bps": mean_goodput_of(row) or row["goodput_bps"]}

        return replace(self, rows=tuple(map(mean, self.rows)))

    def apart(self) -> tuple["Observations", ...]:
        """Those of each direction by themselves, where there are several, with repeats enough to ask each.

        Paths change one by one: what one of them does would be halved, or hidden, in a mean of all.
        """
        parts = tuple(
            Observations(self.sweep, self.mode, tuple(rows), _factors(rows), direction)
            for direction, rows in self.by_direction()
        )
        return parts if 1 < len(parts) <= _MOST_APART and all(map(_repeated_often, parts)) else (self,)

    def by_direction(
        self, takes_part: Callable[[ObservedRow], object] = lambda _: True
    ) -> Iterator[tuple[str, list[ObservedRow]]]:
        """Each direction with its rows that take part, if there are any; that comes first which ran first."""
        for direction in dict.fromkeys(row[DIRECTION] for row in self.rows):
            if rows := [row for row in self.rows if row[DIRECTION] == direction and takes_part(row)]:
                yield direction, rows


def trial_ids(rows: Iterable[TrialRow]) -> tuple[str, ...]:
    """Name the trials of some rows of a summary."""
    return tuple(row["trial_id"] for row in rows)


def by_sweep(rows: Iterable[TrialRow], *, directions: bool = False) -> dict[Scope, list[TrialRow]]:
    """Split rows of a summary by sweep and mode, and by direction if asked to, in the order of the rows."""

    def scope(row: TrialRow) -> Scope:
        direction = wording.direction_of(row) if directions else None
        return Scope(row["sweep"], row["mode"], direction)

    return grouped(rows, scope)


def carried(row: TrialRow) -> bool:
    """Whether a trial ended well with a goodput above 0."""
    return bool(row["status"] == "ok" and (row["goodput_bps"] or 0) > 0)


def observations(summary: Sequence[TrialRow]) -> tuple[Observations, ...]:
    """Split the rows of a summary by sweep and mode, in the order in which they ran first."""
    failed = grouped(
        (_observed(row) for row in summary if not carried(row)), lambda row: (row["sweep"], row["mode"])
    )
    return tuple(
        replace(one, failed=tuple(failed.get((one.sweep, one.mode), ())))
        for one in all_observations([row for row in summary if carried(row)])
    )


def all_observations(rows: Sequence[TrialRow]) -> tuple[Observations, ...]:
    """Split rows in the same way, whatever became of their trials: their goodput is not to be asked for."""
    ordered = sorted(rows, key=lambda row: row["order_index"])
    groups = grouped(map(_observed, ordered), lambda row: (row["sweep"], row["mode"]))
    return tuple(
        Observations(sweep, mode, tuple(rows), _factors(rows)) for (sweep, mode), rows in groups.items()
    )


def _observed(row: TrialRow) -> ObservedRow:
    return {**row, DIRECTION: wording.direction_of(row)}


def _repeated_often(observed: Observations) -> bool:
    points = {tuple(level_of(row, name) for name in observed.factors) for row in observed.rows}
    return len(observed.rows) >= _OFTEN * len(points)


def _factors(rows: Sequence[ObservedRow]) -> tuple[str, ...]:
    names = [name for name in POINT_COLUMNS if name not in _NOT_FACTORS and name in rows[0]]
    return tuple(name for name in (DIRECTION, *names) if told_apart(rows, name))
