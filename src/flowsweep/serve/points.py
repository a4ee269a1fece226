"""The points of a path: what tells the trials of one from those of another, and what they are called."""

from collections.abc import Mapping, Sequence
from typing import Any

from flowsweep.analysis.axes import AXIS_NAMES, axes_needed, level_of, level_words
from flowsweep.axes import AXES, ECHO, MODE
from flowsweep.plan.searching.model import RateSearch, Search

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
"""Levels of all axes; then, of a search for a rate, the largest loss with which one counts as carried."""
_TRIED = frozenset({"rate_bps", "rate_sum_bps", "spacing_ns"})
"""What steps of a search for a rate differ in."""


def point_of(asked: Mapping[str, Any], search: Search | None = None) -> Point:
    """What a trial was asked for, as far as it may vary in a sweep.

    All steps of a search for a rate are of one point. Those of a search in rounds, which runs once, are of
    the points among which it chooses.
    """
    if isinstance(search, RateSearch):
        levels = (None if column in _TRIED else level_of(asked, column) for column in _COLUMNS)
        return (*levels, search.loss_max)
    return (*(level_of(asked, column) for column in _COLUMNS), None)


def loss_of_search(point: Point) -> float | None:
    """The largest loss with which a rate counts as carried; None of a point that is no search for one."""
    return point[-1]  # type: ignore[no-any-return]


def point_names(points: Sequence[Point]) -> list[str]:
    """Call points by what they differ in; one alone needs no name."""
    rows = [dict(zip(_COLUMNS, point[:-1], strict=True)) for point in points]
    needed = axes_needed(rows, lambda _: None, _COLUMNS)
    return [
        ", ".join(f"{_NAMES[column]} {level_words(column, row[column])}" for column in needed) for row in rows
    ]
