"""The parameters a figure can be drawn over: their column, their name and how their values are written."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from flowsweep import axes
from flowsweep.analysis.axes import level_of

Value: TypeAlias = Any
"""A value of a parameter: a number, a text, a flag or a tuple of numbers."""

MOST_TICK_LABELS = 8


@dataclass(frozen=True, slots=True)
class DrawnAxis:
    """One parameter of a sweep."""

    column: str
    name: str
    write: Callable[[Value], str]
    """A value with its unit, for people."""
    scaled: bool = True
    """Its values are quantities that are drawn on a log2 axis; else they are only distinguished."""
    as_found: bool = False
    """Its values stay in the order of the rows instead of their own."""
    levels: Mapping[Value, Value] = field(default_factory=dict, compare=False)
    """What values stand for that are not levels of their own."""

    def value(self, row: Mapping[str, object]) -> Value:
        """What a row has on this axis; `None`: not set. A list becomes a tuple, to be comparable."""
        value = level_of(row, self.column)
        return self.levels.get(value, value) if self.levels else value

    def values(self, rows: Sequence[Mapping[str, object]]) -> tuple[Value, ...]:
        """The different values of some rows, in order, "not set" first."""
        distinct = dict.fromkeys(self.value(row) for row in rows)
        if self.as_found:
            return tuple(distinct)
        return tuple(sorted(distinct, key=lambda value: (value is not None, _sortable(value))))

    def text(self, value: object) -> str:
        """Name and value, as in a title: "length 8 KiB"."""
        return f"{self.name} {self.level(value)}"

    def level(self, value: object) -> str:
        """A value with its unit; also one that is not set."""
        return self.write(value) if value is not None else NOT_SET

    def ticks(self, values: Sequence[float]) -> tuple[list[float], list[str]]:
        """Positions on a log2 axis and labels in engineering units; some of them, where they stand close."""
        kept = _apart(sorted(set(values)))
        return [position(value) for value in kept], [self.write(value) for value in kept]


NOT_SET = "not set"

_DRAWN = {
    axis.column: DrawnAxis(
        axis.column, axis.label or axis.name, axis.tick or axis.write, scaled=axis.quantity
    )
    for axis in (*axes.AXES, axes.MODE)
}

FLOWS = _DRAWN["flows"]
WINDOW_SUM_OF_TRIAL = _DRAWN["window_sum_bytes"]
"""A trial has one window sum, also where it answers several that were asked for."""
WINDOW_SUM = replace(WINDOW_SUM_OF_TRIAL, column="window_sum_asked_bytes")
WINDOW = _DRAWN["window_bytes"]
WINDOW_SEND = _DRAWN["window_send_bytes"]
WINDOW_RECV = _DRAWN["window_recv_bytes"]
LENGTH = _DRAWN["length_bytes"]

SOURCES = _DRAWN["sources"]
SINKS = _DRAWN["sinks"]
RATE = _DRAWN["rate_bps"]
RATE_SUM = _DRAWN["rate_sum_bps"]
MODE = _DRAWN["mode"]
"""Never mixed in a figure: panels of different modes are apart, and say so."""

WINDOWS_PER_FLOW = (WINDOW, WINDOW_SEND, WINDOW_RECV)
WINDOWS = (WINDOW_SUM, *WINDOWS_PER_FLOW)


OTHERS = tuple(_DRAWN[axis.column] for axis in sorted(axes.OTHERS, key=lambda axis: not axis.quantity))
"""What may vary besides windows and flows, in the order in which figures prefer them as an axis."""


AXES = (*WINDOWS, WINDOW_SUM_OF_TRIAL, FLOWS, SOURCES, SINKS, *OTHERS)
"""All of them."""


def position(value: float) -> float:
    """Where a positive value lies on a log2 axis."""
    return math.log2(value)


def _apart(ascending: Sequence[float]) -> list[float]:
    """Leave out values that stand too close to the next one that is kept; the highest is."""
    least = (position(ascending[-1]) - position(ascending[0])) / MOST_TICK_LABELS if ascending else 0.0
    kept: list[float] = []
    for value in reversed(ascending):
        if not kept or position(kept[-1]) - position(value) >= least:
            kept.append(value)
    return kept[::-1]


def _sortable(value: object) -> tuple[float, str]:
    if value is None:
        return 0.0, ""
    return (float(value), "") if isinstance(value, (int, float)) else (0.0, str(value))
