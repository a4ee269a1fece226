"""The points of a path: what tells the trials of one from those of another, and what they are called."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flowsweep.analysis.axes import AXIS_NAMES, axes_needed, level_of, levels_apart
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
"""Levels of all axes; then, of a search for a rate, what is to be known of it."""
_TRIED = frozenset({"rate_bps", "rate_sum_bps", "spacing_ns"})
"""What steps of a search for a rate differ in."""


class OfSearch(NamedTuple):
    """A search for a rate."""

    loss_max: float
    """The largest loss with which a rate counts as carried."""
    steps: int
    """How many trials one takes, whatever they tell."""


def point_of(asked: Mapping[str, Any], search: Search | None = None) -> Point:
    """What a trial was asked for, as far as it may vary in a sweep.

    All steps of a search for a rate are of one point. Those of a search in rounds, which runs once, are of
    the points among which it chooses.
    """
    if isinstance(search, RateSearch):
        levels = (None if column in _TRIED else level_of(asked, column) for column in _COLUMNS)
        return (*levels, OfSearch(search.loss_max, search.trials))
    return (*(level_of(asked, column) for column in _COLUMNS), None)


def search_of(point: Point) -> OfSearch | None:
    """The search for a rate whose steps a point has; None of other points."""
    return None if point[-1] is None else OfSearch(*point[-1])


def point_ranks(points: Sequence[Point]) -> list[int]:
    """The place of each point where they are in order of their levels; those without a level come first."""

    def order(number: int) -> list[tuple[bool, bool, Any]]:
        levels = points[number][:-1]
        return [
            (level is not None, isinstance(level, str), 0 if level is None else level) for level in levels
        ]

    ranks = [0] * len(points)
    for rank, number in enumerate(sorted(range(len(points)), key=order)):
        ranks[number] = rank
    return ranks


def point_names(points: Sequence[Point]) -> list[str]:
    """Call points by what they differ in, each by another name; one alone needs none."""
    rows = [dict(zip(_COLUMNS, point[:-1], strict=True)) for point in points]
    needed = axes_needed(rows, lambda _: None, _COLUMNS)
    words = {column: levels_apart(column, rows) for column in needed}
    return [", ".join(f"{_NAMES[column]} {write(row)}" for column, write in words.items()) for row in rows]
