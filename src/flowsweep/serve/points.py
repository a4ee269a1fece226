"""The points of a path: what tells the trials of one from those of another, and what they are called."""

from collections.abc import Mapping, Sequence
from typing import Any

from flowsweep.analysis.axes import AXIS_NAMES, axes_needed, level_of, level_words
from flowsweep.axes import AXES, ECHO, MODE

_FIRST, _LAST = "flows", "window_sum_bytes"
"""What people name points by, and what follows from windows and flows where these already tell."""
_COLUMNS = (
    _FIRST,
    *(column for column in AXIS_NAMES if column not in (_FIRST, _LAST)),
    _LAST,
    MODE.column,
    ECHO.column,
)
_NAMES = {axis.column: axis.label or axis.name for axis in (*AXES, MODE, ECHO)}
POINTS_MAX = 10_000
"""Of a path; trials of more of them count as of the last one."""
Point = tuple[Any, ...]
"""Levels of all axes."""


def point_of(asked: Mapping[str, Any]) -> Point:
    """What a trial was asked for, as far as it may vary in a sweep."""
    return tuple(level_of(asked, column) for column in _COLUMNS)


def point_names(points: Sequence[Point]) -> list[str]:
    """Call points by what they differ in; one alone needs no name."""
    rows = [dict(zip(_COLUMNS, point, strict=True)) for point in points]
    needed = axes_needed(rows, lambda _: None, _COLUMNS)
    return [
        ", ".join(f"{_NAMES[column]} {level_words(column, row[column])}" for column in needed) for row in rows
    ]
