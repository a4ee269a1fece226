"""Which trials share what their time had in store: the blocks of comparisons between levels."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from flowsweep.analysis.statistics.design import Design, Unit, both, coded
from flowsweep.analysis.statistics.least_squares import Codes
from flowsweep.analysis.statistics.observations import DIRECTION
from flowsweep.occasions import Occasions

_Pass = tuple[int | None, int, tuple[str, ...]]
"""Occasion, repeat and directions."""


def blocks(grid: Design) -> Codes:
    """Number the blocks of a grid.

    Args:
        grid: Of one sweep and mode.

    Returns:
        (units,) a number from 0. Repeats of a plan are blocks as they are. The repeat of an imported trial is
        a count, so repeats of one occasion are one block where their trials between two hosts, in the same
        directions, overlap in time, and a trial that is the only one of its repeat belongs to the block
        before it, or after it where it is the first. A pass over all points is a block of its own then, and
        ten tests of one level after ten of another are one together. No block has trials of both sides of a
        step in goodput.
    """
    return both(_in_time(grid), grid.sides)


def is_imported(grid: Design) -> bool:
    """Whether trials of a grid came from another tool: nobody planned their repeats."""
    return any(row.get("imported_from") for unit in grid.units for row in unit.rows)


def _in_time(grid: Design) -> Codes:
    """As `blocks`, of both sides of a step together."""
    if not is_imported(grid) or any(start is None for start in map(_started_at, grid.units)):
        return grid.repeats
    starts = [datetime.fromisoformat(str(_started_at(unit))) for unit in grid.units]
    occasions = Occasions(starts)
    passes = [
        (occasions.of(start), unit.repeat, tuple(row[DIRECTION] for row in unit.rows))
        for unit, start in zip(grid.units, starts, strict=True)
    ]
    in_order = list(
        dict.fromkeys(passes[place] for place in sorted(range(len(starts)), key=starts.__getitem__))
    )
    joined = dict(zip(in_order, range(len(in_order)), strict=True))
    for first, second in (*_overlapping(grid, passes, starts), *_lone(in_order, Counter(passes))):
        kept, gone = joined[first], joined[second]
        joined |= {one: kept for one, number in joined.items() if number == gone}
    return coded([joined[one] for one in passes])


def _overlapping(
    grid: Design, passes: Sequence[_Pass], starts: Sequence[datetime]
) -> Iterator[tuple[_Pass, _Pass]]:
    """Passes of one occasion of which one between the same hosts began before the other ended."""
    spans: dict[tuple[Hashable, _Pass], list[datetime]] = {}
    for unit, own, start in zip(grid.units, passes, starts, strict=True):
        spans.setdefault((unit.hosts, own), []).append(start)
    latest: dict[Hashable, tuple[_Pass, datetime]] = {}
    for (hosts, own), times in sorted(spans.items(), key=lambda span: min(span[1])):
        ways = hosts, own[-1]
        before = latest.get(ways)
        if before is not None and before[0][0] == own[0] and min(times) <= before[1]:
            yield before[0], own
        if before is None or max(times) > before[1]:
            latest[ways] = own, max(times)


def _lone(in_order: Sequence[_Pass], sizes: Counter[_Pass]) -> Iterator[tuple[_Pass, _Pass]]:
    """Passes that follow each other on one occasion, of which one is of a single unit."""
    for place, (before, own) in enumerate(pairwise(in_order)):
        begins = place == 0 or in_order[place - 1][0] != before[0]
        if before[0] == own[0] and (sizes[own] == 1 or (begins and sizes[before] == 1)):
            yield before, own


def _started_at(unit: Unit) -> str | None:
    times = [row["started_at"] for row in unit.rows]
    return None if None in times else min(time for time in times if time is not None)
