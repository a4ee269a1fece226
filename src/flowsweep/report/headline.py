"""The first thing a reader sees: how much was measured, and the highest goodput in each direction."""

from collections.abc import Sequence
from dataclasses import dataclass

from flowsweep.figures.axis import FLOWS, OTHERS, WINDOWS_PER_FLOW, Axis, Row, Value
from flowsweep.figures.cells import Cell, cell, format_range
from flowsweep.figures.panel import direction
from flowsweep.wording import format_rate, format_size

STATUSES = ("ok", "incomplete", "failed")


@dataclass(frozen=True, slots=True)
class StatusCount:
    """How many trials ended in a status."""

    status: str
    count: int


@dataclass(frozen=True, slots=True)
class Highest:
    """The point of the campaign with the highest goodput in one direction."""

    direction: str
    number: str
    unit: str
    spread: str
    place: str
    """Where it was found: the parameters, in words."""


def status_counts(trials: Sequence[Row]) -> tuple[StatusCount, ...]:
    """Count the trials by status; a status that nothing has is left out."""
    counts = {status: sum(row["status"] == status for row in trials) for status in STATUSES}
    return tuple(StatusCount(status, count) for status, count in counts.items() if count)


def highest_goodputs(trials: Sequence[Row]) -> tuple[Highest, ...]:
    """Find the highest median over repeats in each direction; none for one without an `ok` trial."""
    told = [axis for axis in OTHERS if len(axis.values(trials)) > 1]
    by_direction: dict[str, list[Row]] = {}
    for row in trials:
        by_direction.setdefault(direction(row), []).append(row)
    found = []
    for name, rows in by_direction.items():
        medians = [(one.median_bps, one, group[0]) for one, group in _points(rows) if one.median_bps]
        if medians:
            median, one, row = max(medians, key=lambda item: item[0])
            number, unit = format_rate(median).split(" ")
            found.append(Highest(name, number, unit, _spread(one), _place(row, told)))
    return tuple(found)


def _points(rows: Sequence[Row]) -> list[tuple[Cell, list[Row]]]:
    """Trials that differ in their repeat only, put together."""
    axes = (FLOWS, *WINDOWS_PER_FLOW, *OTHERS)
    groups: dict[tuple[Value, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["sweep"], *(axis.value(row) for axis in axes)), []).append(row)
    return [(cell(group), group) for group in groups.values()]


def _spread(one: Cell) -> str:
    if len(one.goodputs_bps) == 1:
        return "1 repeat"
    return f"{len(one.goodputs_bps)} repeats, {format_range(one.goodputs_bps[0], one.goodputs_bps[-1])}"


def _place(row: Row, told: Sequence[Axis]) -> str:
    flows = row["flows"]
    window_sum = row.get("window_sum_bytes")
    parts = [f"{flows} flow{'s' if flows > 1 else ''}"]
    parts.append(f"window sum {format_size(window_sum)}" if window_sum else _windows(row))
    return ", ".join([*parts, *(axis.text(axis.value(row)) for axis in told)])


def _windows(row: Row) -> str:
    parts = [axis.text(axis.value(row)) for axis in WINDOWS_PER_FLOW if axis.value(row) is not None]
    return ", ".join(parts) or "window left to autotuning"
