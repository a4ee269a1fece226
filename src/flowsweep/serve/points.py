"""The points of a path: what tells the trials of one from those of another, and what they are called."""

from collections.abc import Mapping, Sequence
from typing import Any

from flowsweep.analysis.axes import AXIS_NAMES, axes_needed, level_of, level_words
from flowsweep.axes import ECHO, MODE

_COLUMNS = (*AXIS_NAMES, MODE.column, ECHO.column)
_NAMES = {**AXIS_NAMES, MODE.column: MODE.name, ECHO.column: ECHO.name}
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
