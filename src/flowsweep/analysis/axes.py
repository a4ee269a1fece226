"""Words for the axes of a grid and their levels, as sentences and tables use them."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from flowsweep.axes import AXES, AXIS_OF
from flowsweep.grouping import grouped
from flowsweep.wording import counted

Row = TypeVar("Row", bound=Mapping[str, object])
"""A row of any table that has columns of axes: of a summary, or of points."""

AXIS_NAMES = {axis.column: axis.name for axis in AXES}
"""Every column of a summary that a list in a plan can make vary, but for path, mode and kind of echo."""

UNORDERED = frozenset(axis.column for axis in AXES if not axis.quantity)
"""Axes whose levels are only distinguished."""

_ALWAYS_SET = frozenset({"congestion_asked"})
"""Axes of which nothing told is not "not asked for"."""


def level_words(axis: str, level: object) -> str:
    """Write a level of an axis with its unit: "512 KiB", "16"; "the host's default" where none was set."""
    found = AXIS_OF.get(axis)
    if level is None or level == ():
        return found.unset if found else "the host's default"
    return found.write(level) if found else str(level)


def axes_needed(
    rows: Sequence[Row], shown: Callable[[Row], Hashable], axes: Iterable[str] = AXIS_NAMES
) -> tuple[str, ...]:
    """Find the axes by which trials differ that look alike so far: those that a table or a name still needs.

    Args:
        rows: Of a summary.
        shown: What is shown of a row already.
        axes: Which to look at; of those that follow from each other the first counts.
    """
    groups: list[Sequence[Row]] = [rows]
    groups = _split(groups, shown)
    needed = []
    for axis in filter(partial(varies, rows), axes):
        parts = _split(groups, partial(level_of, axis=axis))
        if len(parts) > len(groups):
            needed.append(axis)
        groups = parts
    return tuple(needed)


def levels_apart(axis: str, rows: Iterable[Row]) -> Callable[[Row], str]:
    """Make what writes a row's level of an axis: in few digits, in all where few make levels look alike."""
    levels = {level_of(row, axis) for row in rows}
    rounded = len({level_words(axis, level) for level in levels}) < len(levels)
    exact = AXIS_OF[axis].exact if axis in AXIS_OF else None

    def write(row: Row) -> str:
        level = level_of(row, axis)
        return exact(level) if rounded and exact and level is not None else level_words(axis, level)

    return write


def level_of(row: Mapping[str, object], axis: str) -> Hashable:
    """A trial's level of an axis, to be compared with others'; null where its archive knows no such axis."""
    level = row.get(axis)
    return tuple(level) if isinstance(level, list) else level


def setting_axes(rows: Sequence[Row]) -> tuple[str, ...]:
    """Find the axes that tell settings apart, flows first."""
    return axes_needed(rows, lambda _: None, ("flows", *(axis for axis in AXIS_NAMES if axis != "flows")))


def setting_words(row: Mapping[str, object], axes: Iterable[str]) -> str:
    """Name a trial's setting by its levels of some axes: "8 flows, bbr"."""
    return ", ".join(_level_named(axis, level_of(row, axis)) for axis in axes)


def _level_named(axis: str, level: Hashable) -> str:
    if axis == "flows" and isinstance(level, int):
        return counted(level, "flow")
    if axis == "congestion_asked" and level is not None:
        return str(level)  # names that stand for themselves
    return f"{AXIS_NAMES[axis]} {level_words(axis, level)}"


def varies(rows: Iterable[Mapping[str, object]], axis: str) -> bool:
    """Whether rows have more than one level of an axis."""
    levels = [row.get(axis) for row in rows]
    return bool(levels) and levels.count(levels[0]) < len(levels)


def told_apart(rows: Sequence[Mapping[str, object]], axis: str) -> bool:
    """Whether rows have more than one level of an axis that somebody told.

    Whatever a file of another tool does not say that every trial has, as a congestion control, may have been
    the same as in the others.
    """
    if axis not in _ALWAYS_SET:
        return varies(rows, axis)
    return varies([row for row in rows if row.get(axis) is not None or not row.get("imported_from")], axis)


def _split(groups: Sequence[Sequence[Row]], key: Callable[[Row], Hashable]) -> list[Sequence[Row]]:
    return [part for group in groups for part in grouped(group, key).values()]
