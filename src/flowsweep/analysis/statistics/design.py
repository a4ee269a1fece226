"""The grid that a sweep's trials lie on, as statistics see it: axes, levels, cells and units."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flowsweep import axes
from flowsweep.analysis.axes import level_of
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow
from flowsweep.analysis.statistics.sum_levels import SUMS, sum_levels
from flowsweep.analysis.summarising.trial_row import goodput_of, quantity_of
from flowsweep.axes import columns_of

AXES = columns_of((*axes.WINDOWS, *axes.HOSTS, *axes.FLOWS, *axes.OTHERS))
"""Columns of a summary that can be an axis; of those that follow from each other the first counts."""

_PER_FLOW = frozenset({"window_bytes", "window_send_bytes", "window_recv_bytes"})
"""Windows that follow from the window sum and the number of flows, where a plan asked for sums."""

FOLLOWING = frozenset({*_PER_FLOW, "flows_per_pair"})
"""Axes that follow from others as a rule: a point is named without them."""
_RATES = frozenset({"rate_bps", "rate_sum_bps", "spacing_ns"})

_ENOUGH_REPEATED = 0.5

Level = Hashable
"""A value of an axis; null where the plan left it to the host."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What is repeated: all directions of one point in one repeat, which ran next to each other.

    The directions of a point share what the minute had in store for them, so they count as one observation of
    everything but the direction itself (a split plot; Cochran and Cox, Experimental Designs, 1957).
    """

    repeat: int
    hosts: tuple[Hashable, ...]
    """The pair of hosts, in no order of source and sink."""
    levels: tuple[Level, ...]
    """One for each axis of the design."""
    rows: tuple[ObservedRow, ...]
    """One for each direction, always in the same order for the same hosts; in a design that is not paired, of
    those there are."""
    sides: tuple[int, ...]
    """On which side of the steps in goodput each of them ran, as in `Observations.sides`; else 0."""

    def alone(self) -> tuple["Unit", ...]:
        """Each direction as a unit of its own."""
        return tuple(
            replace(self, rows=(row,), sides=(side,)) for row, side in zip(self.rows, self.sides, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Design:
    """Trials of one sweep and mode, put together to units on a grid."""

    axes: tuple[str, ...]
    """Columns that span the grid: none of them follows from the others."""
    units: tuple[Unit, ...]
    """In no order."""
    unpaired: int
    """Trials left out because that of another direction is missing; 0 in a design that is not paired."""

    def levels(self, axis: str) -> tuple[Level, ...]:
        """The levels of an axis in order, null first; words in the order in which they ran first."""
        place = self.axes.index(axis)
        found = list(dict.fromkeys(unit.levels[place] for unit in self.units))
        if any(isinstance(level, (str, tuple)) for level in found):
            return tuple(found)
        return tuple(sorted(found, key=lambda level: (level is not None, level)))

    def of_one_side(self) -> "Design":
        """The same, as if goodput had not stepped."""
        return replace(self, units=tuple(replace(unit, sides=(0,) * len(unit.sides)) for unit in self.units))

    def where_known(self, axis: str) -> "Design":
        """What is left without the units of which nobody knows the level of an axis."""
        place = self.axes.index(axis)
        return replace(self, units=tuple(unit for unit in self.units if unit.levels[place] is not None))

    def where_reported(self, axis: str) -> "Design":
        """What is left without imported trials whose file does not say the level: it may have been any."""
        place = self.axes.index(axis)

        def reported(unit: Unit) -> bool:
            return unit.levels[place] is not None or not any(row.get("imported_from") for row in unit.rows)

        known = tuple(filter(reported, self.units))
        return self if len(known) == len(self.units) else replace(self, units=known)

    @property
    def logs(self) -> Floats:
        """(units,) natural logarithm of goodput in bit/s, the mean over the unit's directions."""
        return np.array([_mean_log(unit.rows) for unit in self.units])

    def codes(self, *axes: str) -> Codes:
        """(units,) a number from 0 for each combination of hosts and levels of some axes that occurs."""
        places = [self.axes.index(axis) for axis in axes]
        return coded([(unit.hosts, *(unit.levels[place] for place in places)) for unit in self.units])

    @property
    def repeats(self) -> Codes:
        """(units,) a number from 0 for each repeat."""
        return coded([unit.repeat for unit in self.units])

    @property
    def sides(self) -> Codes:
        """(units,) a number from 0 for each side of the steps in goodput."""
        return coded([unit.sides for unit in self.units])

    @property
    def trials(self) -> tuple[str, ...]:
        """trial_id of all trials in the design."""
        return tuple(row["trial_id"] for unit in self.units for row in unit.rows)


def design(observed: Observations, *, paired: bool = True) -> Design:
    """Lay trials out on the grid that their parameters span.

    Args:
        observed: Trials of one sweep and mode; goodput in bit/s.
        paired: Whether units are compared, or directions with each other. A question about one direction by
            itself, or about single trials, needs no trial of another direction.

    Returns:
        Axes and units. An axis that follows from others, such as the window per flow from window sum and
        flows, is none; of those that follow from each other the ones with the fewest levels are kept, and
        window sum and flows where the plan asked for sums. Paired, units that lack a direction, which other
        trials of the same two hosts have, are left out.
    """
    levels = {axis: levels_of(observed.rows, axis) for axis in AXES if axis in observed.factors}
    hosts = [_hosts(row) for row in observed.rows]
    sums_asked = any(row.get("window_capped") for row in observed.rows)
    axes = _independent(levels, hosts, sums_asked=sums_asked, flows_alone=flows_of_one_window(observed.rows))
    grouped: dict[tuple[int, tuple[Hashable, ...], tuple[Level, ...]], dict[str, ObservedRow]] = {}
    directions: dict[Hashable, dict[str, None]] = {}
    for index, row in enumerate(observed.rows):
        key = (row["repeat"], hosts[index], tuple(levels[axis][index] for axis in axes))
        grouped.setdefault(key, {})[row[DIRECTION]] = row
        directions.setdefault(hosts[index], {})[row[DIRECTION]] = None
    units, unpaired = [], 0
    for (repeat, pair, place), found in grouped.items():
        ways = directions[pair]
        if paired and len(found) < len(ways):
            unpaired += len(found)
        else:
            rows = tuple(found[way] for way in ways if way in found)
            sides = tuple(observed.sides.get(row["trial_id"], 0) for row in rows)
            units.append(Unit(repeat, pair, place, rows, sides))
    return Design(axes, tuple(units), unpaired)


def levels_of(rows: Sequence[ObservedRow], axis: str) -> list[Level]:
    """Each row's level of an axis; sums that were one before flows divided them are one level."""
    if axis not in SUMS:
        return [level_of(row, axis) for row in rows]
    levels = sum_levels(rows, axis)
    asked = [quantity_of(row, axis) for row in rows]
    return [None if value is None else levels[value] for value in asked]


def changed_with(axis: str, grid: Design, observed: Observations) -> tuple[str, ...]:
    """Name the axes that are none of the grid's since each of their levels goes with one of this axis.

    Nobody can tell from such trials which of them changed goodput. What a plan's arithmetic ties together,
    such as windows per flow and their sum, or rates and the spacing of datagrams, is left out.
    """
    tied = {*grid.axes, *FOLLOWING, *(_RATES if axis in _RATES else ())}
    apart = [name for name in AXES if name in observed.factors and name not in tied]
    return going_with(levels_of(observed.rows, axis), observed.rows, apart)


def going_with(own: Sequence[Level], rows: Sequence[ObservedRow], names: Iterable[str]) -> tuple[str, ...]:
    """Name the axes of which each level of another one, `own` of each row, has a single level."""
    found = []
    for name in names:
        theirs = levels_of(rows, name)
        # What a file does not say of an imported trial may have been any.
        told = all(
            level is not None or not row.get("imported_from") for row, level in zip(rows, theirs, strict=True)
        )
        if told and len(set(theirs)) > 1 and len(set(zip(own, theirs, strict=True))) == len(set(own)):
            found.append(name)
    return tuple(found)


def flows_of_one_window(rows: Sequence[ObservedRow]) -> bool:
    """Whether of imported trials the number of flows varied, and all flows have one and the same window.

    No window limits there that a file tells of. Of the engine's own trials it is known which do: their
    windows are compared, and what changed with them is named.
    """
    windows = {row["window_bytes"] for row in rows}
    pairs = {(row.get("sources"), row.get("sinks")) for row in rows}
    return (
        all(row.get("imported_from") for row in rows)
        and len(windows) == len(pairs) == 1
        and windows != {None}
        and len({row["flows"] for row in rows}) > 1
    )


def coded(values: Sequence[Hashable]) -> Codes:
    """Number distinct values from 0, in the order in which they occur first."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.intp)


def both(codes: Codes, others: Codes) -> Codes:
    """Number from 0 what two numberings tell apart."""
    return coded(list(zip(codes.tolist(), others.tolist(), strict=True)))


def mostly_repeated(points: Codes) -> bool:
    """Whether repeats of the same point can tell the noise: at least half of the points have some."""
    return bool(len(points)) and float(np.mean(np.bincount(points) > 1)) >= _ENOUGH_REPEATED


def _mean_log(rows: Sequence[ObservedRow]) -> float:
    return sum(math.log(goodput_of(row)) for row in rows) / len(rows)


def _hosts(row: ObservedRow) -> tuple[Hashable, ...]:
    return tuple(sorted((row["src"], row["dst"])))


def _independent(
    levels: dict[str, list[Level]], hosts: list[tuple[Hashable, ...]], *, sums_asked: bool, flows_alone: bool
) -> tuple[str, ...]:
    """Keep axes that tell points apart which those before them do not, the ones of few levels first.

    A cap on the window of a flow, which only plans with window sums have, adds levels to the sums: there they
    come before windows per flow, however many they are. Where flows alone varied, their window sum follows.
    """
    kept: list[str] = []
    points: list[tuple[Hashable, ...]] = hosts

    def last(name: str) -> tuple[bool, int, bool]:
        follows = name in _PER_FLOW or (flows_alone and name == "window_sum_bytes")
        return sums_asked and name in _PER_FLOW, len(set(levels[name])), follows

    for axis in sorted(levels, key=last):
        finer = [(*point, level) for point, level in zip(points, levels[axis], strict=True)]
        if len(set(levels[axis])) > 1 and len(set(finer)) > len(set(points)):
            kept.append(axis)
            points = finer
    return tuple(sorted(kept, key=AXES.index))
