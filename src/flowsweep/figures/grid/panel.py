"""What is drawn together: points of one sweep and mode that differ only in what the figure's axes show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from flowsweep.analysis.grid_rows import CellRow
from flowsweep.axes import PART
from flowsweep.figures.axis import (
    FLOWS,
    MODE,
    OTHERS,
    RATE,
    RATE_SUM,
    SINKS,
    SOURCES,
    WINDOW_RECV,
    WINDOW_SEND,
    WINDOWS,
    DrawnAxis,
    Value,
)
from flowsweep.grouping import grouped
from flowsweep.tests import facts_of
from flowsweep.wording import direction_of, name_of_test, several_tests

MOST_SERIES = 8
_MODES = ("copy", "zerocopy", "discard", PART.default, "read", "network", "write")
_PLAIN_MODES = (_MODES[0], PART.default)
"""What applications do: where nothing else was measured, its panels need no word about it."""

TEST = DrawnAxis("test", "test", name_of_test, scaled=False)
DIRECTION = DrawnAxis("direction", "direction", str, scaled=False, as_found=True)


class PanelRow(CellRow):
    """A point of a grid, with what figures add to it."""

    direction: str
    measured_bps: float | None
    """Of a prediction, which stands in place of the median; else null."""
    failure: str | None
    """Why no trial of it ended well, where a cell says so (`flowsweep.figures.drawing.FigureData`)."""
    goodputs_before_bps: list[float] | None
    """Of repeats before goodput stepped, where it did: all other values are of those since."""
    before_only: bool
    """All of its repeats ran before goodput stepped."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One figure's share of a sweep."""

    sweep: str
    direction: str | None
    """"source → sink"; absent if the directions are the figure's series."""
    fixed: tuple[tuple[DrawnAxis, Value], ...]
    """Axes that vary in the sweep, but not in this panel, with their value; the mode, if `modes_named`; the
    test, if the sweep has several."""
    x: DrawnAxis
    y: DrawnAxis | None
    """Present: the panel is a plane, drawn as surface and heatmap. Absent: a line over `x`."""
    series: DrawnAxis | None
    """What tells the traces of a line figure apart."""
    rows: tuple[PanelRow, ...]
    top_bps: float
    """Highest goodput of the sweep in this mode: colours and heights of all its panels end there."""
    top_of_flow_bps: float
    """Highest goodput of one flow, likewise."""

    @property
    def title(self) -> str:
        """What tells this panel from the others of its sweep."""
        parts = [self.direction] if self.direction else []
        return " · ".join([*parts, *(axis.text(value) for axis, value in self.fixed)])

    @property
    def of_datagrams(self) -> bool:
        """Whether its trials sent datagrams, which no window holds back."""
        return facts_of(self.rows[0].get("test")).datagrams


def panels(
    rows: Sequence[CellRow], *, against: DrawnAxis = FLOWS, beside: Sequence[CellRow] = ()
) -> tuple[Panel, ...]:
    """Split points, as `flowsweep.analysis.grid_rows` has them, into panels, sweep by sweep, mode by mode.

    Sweeps and directions keep the order of the rows.

    A panel is a plane over window and flows where both vary, else a line over what varies. All that varies
    besides makes further panels, and so does the direction.

    `against`: what else than the flows makes the plane; there are no panels where it makes none.
    `beside`: points of another campaign with the same sweeps: scales end at the highest of both.
    """
    points: list[PanelRow] = [
        {**row, "direction": direction_of(row), "measured_bps": None, **_told(row)} for row in rows
    ]
    named = modes_named(rows)
    return tuple(
        panel
        for sweep, own in grouped(points, lambda row: row["sweep"]).items()
        for mode, group in sorted(grouped(own, MODE.value).items(), key=lambda item: mode_rank(item[1][0]))
        for panel in _panels_of_mode(
            sweep,
            mode,
            group,
            against,
            _highest([*group, *_of_mode(beside, sweep, mode)]),
            named=named,
            apart=several_tests(own),
        )
        if against is FLOWS or panel.y is against
    )


class _Told(TypedDict):
    failure: str | None
    goodputs_before_bps: list[float] | None
    before_only: bool


def _told(row: Mapping[str, Any]) -> _Told:
    return {
        "failure": row.get("failure"),
        "goodputs_before_bps": row.get("goodputs_before_bps"),
        "before_only": row.get("before_only", False),
    }


def modes_named(rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether the mode must be said: where there is another one than what applications do."""
    return any(mode not in (None, *_PLAIN_MODES) for mode in MODE.values(rows))


def mode_rank(row: Mapping[str, object]) -> int:
    """Where a row's mode stands: first what applications do, then what leaves more and more out."""
    mode = MODE.value(row)
    return _MODES.index(mode) if mode in _MODES else len(_MODES)


def is_open(axis: DrawnAxis, settled: Sequence[DrawnAxis], rows: Sequence[Mapping[str, object]]) -> bool:
    """Whether rows that are alike on some axes may differ on another one."""
    groups = grouped(rows, lambda row: tuple(one.value(row) for one in settled))
    return any(len(axis.values(group)) > 1 for group in groups.values())


def _panels_of_mode(
    sweep: str,
    mode: Value,
    rows: list[PanelRow],
    against: DrawnAxis,
    tops: tuple[float, float],
    *,
    named: bool,
    apart: bool,
) -> list[Panel]:
    window = _window_axis(rows)
    others = [axis for axis in OTHERS if axis is not _rate_that_follows(rows)]
    candidates = (window, FLOWS, *_other_windows(window, rows), *_numbers_of_hosts(rows), *others)
    varying = [axis for axis in candidates if axis and len(axis.values(rows)) > 1]
    x: DrawnAxis
    if window in varying and against in varying:
        x, y, series = window or FLOWS, against, None
    else:
        x = next((axis for axis in varying if axis.scaled and _all_set(axis, rows)), window or FLOWS)
        y, series = None, _series_axis([axis for axis in (DIRECTION, *varying) if axis is not x], rows)
    split = [axis for axis in (DIRECTION, *varying) if axis not in (x, y, series)]
    marked = [(MODE, mode)] if named and mode is not None else []
    marked += [(TEST, rows[0]["test"])] if apart else []
    return [
        Panel(sweep, where, (*marked, *fixed), x, y, series, group, *tops)
        for where, fixed, group in _split(rows, split)
    ]


def _of_mode(rows: Sequence[CellRow], sweep: str, mode: Value) -> list[CellRow]:
    return [row for row in rows if row["sweep"] == sweep and MODE.value(row) == mode]


def _highest(rows: Sequence[CellRow]) -> tuple[float, float]:
    """The highest goodput, and the highest of one flow; 0 where nothing was carried.

    Settings that are compared may differ in their number of flows: then points have none.
    """
    good = [(row, highest) for row in rows if (highest := _highest_of(row)) is not None]
    of_flow = [highest / row["flows"] for row, highest in good if row["flows"]]
    return max((highest for _, highest in good), default=0.0), max(of_flow, default=0.0)


def _highest_of(row: Mapping[str, Any]) -> float | None:
    """The highest goodput of a point, on both sides of a step."""
    found = [row["goodput_highest_bps"], *(row.get("goodputs_before_bps") or ())]
    return max((one for one in found if one is not None), default=None)


def _window_axis(rows: Sequence[PanelRow]) -> DrawnAxis | None:
    """Choose the window whose grid with the flows has fewest holes: plans ask for sums, or for each flow."""
    candidates = [axis for axis in WINDOWS if _all_set(axis, rows)]
    return max(candidates, key=lambda axis: (_filled(axis, rows), len(axis.values(rows)) > 1), default=None)


def _other_windows(window: DrawnAxis | None, rows: Sequence[PanelRow]) -> list[DrawnAxis]:
    """Windows of one end that the chosen one and the flows do not settle, as where both ends have lists."""
    settled = [axis for axis in (window, FLOWS) if axis is not None]
    return [
        axis for axis in (WINDOW_SEND, WINDOW_RECV) if axis is not window and is_open(axis, settled, rows)
    ]


def _numbers_of_hosts(rows: Sequence[PanelRow]) -> list[DrawnAxis]:
    """The hosts at one side, if direction and flows do not settle them, as where flows of a pair vary too.

    How many pairs of a sweep take part settles both sides, so that one is enough.
    """
    return [axis for axis in (SOURCES, SINKS) if is_open(axis, (DIRECTION, FLOWS), rows)][:1]


def _rate_that_follows(rows: Sequence[PanelRow]) -> DrawnAxis:
    """The rate of a flow, or that of all flows: each follows from the other, or from spacing, and the flows.

    The rate of all flows stays where it has fewer values: then the plan has set it.
    """
    return RATE if 1 < len(RATE_SUM.values(rows)) < len(RATE.values(rows)) else RATE_SUM


def _filled(axis: DrawnAxis, rows: Sequence[PanelRow]) -> float:
    points = {(axis.value(row), FLOWS.value(row)) for row in rows}
    return len(points) / (len(axis.values(rows)) * len(FLOWS.values(rows)))


def _all_set(axis: DrawnAxis, rows: Sequence[PanelRow]) -> bool:
    return None not in axis.values(rows)


def _series_axis(candidates: Sequence[DrawnAxis], rows: Sequence[PanelRow]) -> DrawnAxis | None:
    """The last one that a legend can hold; the direction, which stands first, only if nothing else varies."""
    return next((axis for axis in reversed(candidates) if len(axis.values(rows)) <= MOST_SERIES), None)


_Split = tuple[str | None, tuple[tuple[DrawnAxis, Value], ...], tuple[PanelRow, ...]]


def _split(rows: Sequence[PanelRow], axes: Sequence[DrawnAxis]) -> list[_Split]:
    """Group rows by their values on some axes: direction, the other axes with their value, rows."""
    groups = grouped(rows, lambda row: tuple(axis.value(row) for axis in axes))
    found = []
    for values, group in sorted(groups.items(), key=lambda item: _order(axes, item[0], rows)):
        by_axis = list(zip(axes, values, strict=True))
        where = next((value for axis, value in by_axis if axis is DIRECTION), None)
        fixed = tuple((axis, value) for axis, value in by_axis if axis is not DIRECTION)
        found.append((where, fixed, tuple(group)))
    return found


def _order(axes: Sequence[DrawnAxis], values: Sequence[Value], rows: Sequence[PanelRow]) -> tuple[int, ...]:
    """The directions of a point stand beside each other: the direction, which comes first, varies fastest."""
    ranks = [axis.values(rows).index(value) for axis, value in zip(axes, values, strict=True)]
    return (*ranks[1:], *ranks[:1])
