"""Words for the axes of a grid and their levels, as sentences and tables use them."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import Any

from flowsweep.analysis.statistics.observations import Row
from flowsweep.defaults import SECOND_NS
from flowsweep.units import write_duration, write_rate, write_size
from flowsweep.wording import format_duration, format_rate, format_size

AXIS_NAMES = {
    "window_sum_bytes": "window sum", "window_bytes": "window per flow",
    "window_send_bytes": "send window per flow", "window_recv_bytes": "receive window per flow",
    "flows": "number of flows", "flows_per_pair": "flows per pair of hosts", "sources": "number of sources",
    "sinks": "number of sinks", "length_bytes": "length", "congestion_asked": "congestion control",
    "duration_s": "duration", "rate_bps": "application rate per flow",
    "rate_sum_bps": "rate of all flows", "spacing_ns": "spacing", "gso": "GSO", "gro": "GRO",
    "pacing_rate_bps": "pacing rate per flow", "mss_bytes": "MSS", "dscp": "DSCP", "no_delay": "no delay",
    "affinity": "choice of CPUs", "family": "IP version",
}  # fmt: skip
"""Every column of a summary that a list in a plan can make vary, but for path, mode and kind of echo."""

UNORDERED = frozenset({"congestion_asked", "affinity", "family", "dscp", "no_delay", "gso", "gro"})
"""Axes whose levels are only told apart."""


_UNLIMITED = frozenset({"rate_bps", "rate_sum_bps", "pacing_rate_bps"})


def level_words(axis: str, level: object) -> str:
    """Write a level of an axis with its unit: "512 KiB", "16"; "the host's default" where none was set."""
    if level is None or level == ():
        return "unlimited" if axis in _UNLIMITED else "the host's default"
    write = _WRITE.get(axis)
    return write(level) if write else str(level)


def axes_untold(
    rows: Sequence[Row], told: Callable[[Row], Hashable], axes: Iterable[str] = AXIS_NAMES
) -> tuple[str, ...]:
    """Find the axes by which trials differ that look alike so far: those that a table or a name still needs.

    Args:
        rows: Of a summary.
        told: What is told of a row already.
        axes: Which to look at; of those that follow from each other the first counts.
    """
    groups: list[Sequence[Row]] = [rows]
    groups = _split(groups, told)
    needed = []
    for axis in axes:
        parts = _split(groups, partial(level_of, axis=axis))
        if len(parts) > len(groups):
            needed.append(axis)
        groups = parts
    return tuple(needed)


def levels_apart(axis: str, rows: Iterable[Row]) -> Callable[[Row], str]:
    """Make what writes a row's level of an axis: in few digits, in all where few make levels look alike."""
    levels = {level_of(row, axis) for row in rows}
    rounded = len({level_words(axis, level) for level in levels}) < len(levels)
    exact = _EXACT.get(axis)

    def write(row: Row) -> str:
        level = level_of(row, axis)
        return exact(level) if rounded and exact and level is not None else level_words(axis, level)

    return write


def level_of(row: Row, axis: str) -> Hashable:
    """A trial's level of an axis, to be compared with others'; null where its archive knows no such axis."""
    level = row.get(axis)
    return tuple(level) if isinstance(level, list) else level


def _split(groups: Sequence[Sequence[Row]], key: Callable[[Row], Hashable]) -> list[Sequence[Row]]:
    parts: dict[Hashable, list[Row]] = {}
    for number, group in enumerate(groups):
        for row in group:
            parts.setdefault((number, key(row)), []).append(row)
    return list(parts.values())


_WRITE: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(
        (
            "window_sum_bytes", "window_bytes", "window_send_bytes", "window_recv_bytes", "length_bytes",
        ),
        format_size,
    ),
    "duration_s": lambda seconds: format_duration(seconds * SECOND_NS),
    "rate_bps": format_rate,
    "rate_sum_bps": format_rate,
    "spacing_ns": format_duration,
    "pacing_rate_bps": format_rate,
    "mss_bytes": lambda size: f"{size} B",
    **dict.fromkeys(("no_delay", "gso", "gro"), lambda value: "on" if value else "off"),
    "affinity": lambda cpus: "CPU " + ", ".join(map(str, cpus)),
    "family": lambda version: f"IPv{version}",
}  # fmt: skip

_EXACT: dict[str, Callable[[Any], str]] = {
    axis: {format_size: write_size, format_rate: write_rate, format_duration: write_duration}[write]
    for axis, write in _WRITE.items()
    if write in (format_size, format_rate, format_duration)
} | {"duration_s": lambda seconds: write_duration(round(seconds * SECOND_NS))}
"""Levels as a plan has them, without loss."""
