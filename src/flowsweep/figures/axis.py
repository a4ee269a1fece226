"""The parameters a figure can be drawn over: their column, their name and how their values are written."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from flowsweep.wording import format_duration, format_mode, format_rate, format_size

Row = Mapping[str, Any]
"""One row of a table: a trial, or a point of a grid."""

Value: TypeAlias = Any
"""A value of a parameter: a number, a text, a flag or a tuple of numbers."""

MOST_TICK_LABELS = 8


@dataclass(frozen=True, slots=True)
class Axis:
    """One parameter of a sweep."""

    column: str
    name: str
    write: Callable[[Value], str]
    """A value with its unit, for people."""
    scaled: bool = True
    """Its values are quantities that are drawn on a log2 axis; else they are only told apart."""
    as_found: bool = False
    """Its values stay in the order of the rows instead of their own."""

    def value(self, row: Row) -> Value:
        """What a row has on this axis; `None`: not set. A list becomes a tuple, to be comparable."""
        value = row.get(self.column)
        return tuple(value) if isinstance(value, list) else value

    def values(self, rows: Sequence[Row]) -> tuple[Value, ...]:
        """The different values of some rows, in order, "not set" first."""
        distinct = dict.fromkeys(self.value(row) for row in rows)
        if self.as_found:
            return tuple(distinct)
        return tuple(sorted(distinct, key=lambda value: (value is not None, _sortable(value))))

    def text(self, value: object) -> str:
        """Name and value, as in a title: "length 8 KiB"."""
        return f"{self.name} {self.write(value) if value is not None else NOT_SET}"

    def ticks(self, values: Sequence[float]) -> tuple[list[float], list[str]]:
        """Positions on a log2 axis and labels in engineering units; some of them, where they stand close."""
        kept = _apart(sorted(set(values)))
        return [position(value) for value in kept], [self.write(value) for value in kept]


NOT_SET = "not set"

FLOWS = Axis("flows", "flows", str)
WINDOW_SUM = Axis("window_sum_asked_bytes", "window sum", format_size)
WINDOW_SUM_OF_TRIAL = Axis("window_sum_bytes", "window sum", format_size)
"""A trial has one window sum, also where it answers several that were asked for."""
WINDOW = Axis("window_bytes", "window per flow", format_size)
WINDOW_SEND = Axis("window_send_bytes", "send window per flow", format_size)
WINDOW_RECV = Axis("window_recv_bytes", "receive window per flow", format_size)
LENGTH = Axis("length_bytes", "length", format_size)

SOURCES = Axis("sources", "sources", str)
SINKS = Axis("sinks", "sinks", str)
RATE = Axis("rate_bps", "application rate per flow", format_rate)
RATE_SUM = Axis("rate_sum_bps", "rate of all flows", format_rate)
MODE = Axis("mode", "mode", format_mode, scaled=False)
"""Never mixed in a figure: panels of different modes are apart, and say so."""

WINDOWS_PER_FLOW = (WINDOW, WINDOW_SEND, WINDOW_RECV)
WINDOWS = (WINDOW_SUM, *WINDOWS_PER_FLOW)


def _switch(value: Value) -> str:
    return "on" if value else "off"


OTHERS = (
    LENGTH,
    Axis("duration_s", "duration", lambda seconds: format_duration(seconds * 1e9)),
    RATE,
    RATE_SUM,
    Axis("spacing_ns", "spacing", format_duration),
    Axis("gso", "GSO", _switch, scaled=False),
    Axis("gro", "GRO", _switch, scaled=False),
    Axis("pacing_rate_bps", "pacing rate per flow", format_rate),
    Axis("mss_bytes", "MSS", lambda size: f"{size} B"),
    Axis("congestion_asked", "congestion control", str, scaled=False),
    Axis("dscp", "DSCP", str, scaled=False),
    Axis("no_delay", "no delay", _switch, scaled=False),
    Axis("affinity", "CPUs", lambda cpus: ", ".join(map(str, cpus)) or "any", scaled=False),
    Axis("family", "IPv", str, scaled=False),
)
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
