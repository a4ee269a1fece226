"""CPU load of both ends: against goodput, and against the number of flows."""

from collections.abc import Callable, Iterator, Sequence
from statistics import median

import plotly.graph_objects as go

from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of, known, quantity_of
from flowsweep.figures.axis import FLOWS, LENGTH, DrawnAxis, position
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import (
    HEADROOM,
    heading,
    legend_of,
    percent_axis,
    rate_scale,
    scaled_axis,
    series_name,
)
from flowsweep.figures.theme import figure, series_colours, symbol
from flowsweep.figures.trials import TrialGroup, facts, trial_groups
from flowsweep.wording import counted, format_number

_LOADS = (("cpu_send", "cpu_recv"), ("cores_busy_send", "cores_busy_recv"))
"""Columns of sender and receiver: of the busiest thread, and of all cores of the host."""
_ENDS = ("sender", "receiver")
_WHOSE = ("thread", "host")
_SIDES = ((0.0, 0.48), (0.52, 1.0))
_LINES = ((0.56, 1.0), (0.0, 0.44))
_MEANING = "Thread: the busiest one that moved bytes of a flow; 100 % is a whole core."
_MEANING_OF_HOST = " Host: all its cores together, whoever used them."

_Points = list[tuple[float, float, str]]
"""Place on the x axis, load in percent, what hovering says."""


def drawn_cpu(data: FigureData) -> list[Drawn]:
    """Draw both figures of each direction whose CPU load is known."""
    found = []
    for group in trial_groups(data.trials, data.cells):
        rows = [row for row in group.good if _known([row])]
        if len(rows) > 1:
            found.append(_against_goodput(group, rows))
        if len(FLOWS.values(rows)) > 1:
            found.append(_against_flows(group, rows))
    return found


def _against_goodput(group: TrialGroup, rows: Sequence[TrialRow]) -> Drawn:
    scale = rate_scale(max(map(goodput_of, rows)))
    x_axis = {
        "title": {"text": f"goodput, {scale.unit}", "standoff": 8},
        "range": [0, scale.top * HEADROOM],
        "nticks": 5,
        "zeroline": False,
    }

    def points(chosen: Sequence[TrialRow], column: str) -> _Points:
        return [
            (scale.of(row["goodput_bps"]) or 0.0, _percent(row, column), group.describe(row))
            for row in chosen
        ]

    return Drawn(
        group.key("cpu", "goodput_bps"),
        f"{group.title} · against goodput",
        f"Each mark is a trial. {_meaning(rows)}",
        file_stem(group.sweep, group.title, "cpu against goodput"),
        _figure(rows, FLOWS, x_axis, points, mode="markers"),
        _rows(group, rows),
    )


def _against_flows(group: TrialGroup, rows: Sequence[TrialRow]) -> Drawn:
    series = LENGTH if group.x is FLOWS else group.x

    def points(chosen: Sequence[TrialRow], column: str) -> _Points:
        found = []
        for flows in FLOWS.values(chosen):
            loads = [_percent(row, column) for row in chosen if row["flows"] == flows]
            said = f"{FLOWS.text(flows)}<br>median of {counted(len(loads), 'trial')}"
            found.append((position(flows), median(loads), said))
        return found

    return Drawn(
        group.key("cpu", "flows"),
        f"{group.title} · against flows",
        f"Median over the trials of each number of flows. {_meaning(rows)}",
        file_stem(group.sweep, group.title, "cpu against flows"),
        _figure(rows, series, scaled_axis(FLOWS, FLOWS.values(rows)), points, mode="lines+markers"),
        _rows(group, rows),
    )


def _figure(
    rows: Sequence[TrialRow],
    series: DrawnAxis,
    x_axis: dict[str, object],
    points: Callable[[Sequence[TrialRow], str], _Points],
    *,
    mode: str,
) -> go.Figure:
    shown = _known(rows)
    traces = [
        trace
        for line, columns in enumerate(shown)
        for side, column in enumerate(columns)
        for trace in _traces(rows, series, points, column, (line, side), mode)
    ]
    layout: dict[str, object] = {}
    for line, columns in enumerate(shown):
        loads = [load for row in rows for column in columns if (load := quantity_of(row, column)) is not None]
        for side in range(len(_ENDS)):
            x, y = _axes(line, side)
            last = line == len(shown) - 1
            title = x_axis["title"] if last else {"text": ""}
            layout[f"xaxis{x[1:]}"] = {
                **x_axis,
                "title": title,
                "domain": _SIDES[side],
                "anchor": y,
                "showticklabels": last,
            }
            layout[f"yaxis{y[1:]}"] = {
                **percent_axis("CPU load", highest=max(*loads, 0.01) * 100),
                "domain": _LINES[line] if len(shown) > 1 else (0.0, 1.0),
                "anchor": x,
                **({"title": {"text": ""}, "showticklabels": False} if side else {}),
            }
    return figure(
        traces,
        hovermode="closest",
        showlegend=len(series.values(rows)) > 1,
        legend={**legend_of(series, len(series.values(rows))), "y": 1.1},
        margin={"l": 58, "r": 12, "t": 58, "b": 48},
        annotations=[
            heading(f"{end}, {_WHOSE[line]}", *_axes(line, side))
            for line in range(len(shown))
            for side, end in enumerate(_ENDS)
        ],
        **layout,
    )


def _meaning(rows: Sequence[TrialRow]) -> str:
    return _MEANING + (_MEANING_OF_HOST if _LOADS[1] in _known(rows) else "")


def _known(rows: Sequence[TrialRow]) -> list[tuple[str, str]]:
    return [
        columns
        for columns in _LOADS
        if any(row.get(column) is not None for row in rows for column in columns)
    ]


def _percent(row: TrialRow, column: str) -> float:
    return known(quantity_of(row, column)) * 100


def _axes(line: int, side: int) -> tuple[str, str]:
    number = 2 * line + side + 1
    suffix = "" if number == 1 else str(number)
    return f"x{suffix}", f"y{suffix}"


def _traces(  # one pair of axes
    rows: Sequence[TrialRow],
    series: DrawnAxis,
    points: Callable[[Sequence[TrialRow], str], _Points],
    column: str,
    place: tuple[int, int],
    mode: str,
) -> Iterator[go.Scatter]:
    line, side = place
    x, y = _axes(line, side)
    values = series.values(rows)
    colours = series_colours(len(values))
    for index, value in enumerate(values):
        chosen = [row for row in rows if row.get(column) is not None and series.value(row) == value]
        yield go.Scatter(
            **_marks(points(chosen, column), f"{_ENDS[side]}, {_WHOSE[line]}"),
            mode=mode,
            name=series_name(series, value),
            legendgroup=str(index),
            showlegend=place == (0, 0),
            marker={"color": colours[index], "size": 6, "symbol": symbol(index)},
            line={"color": colours[index], "width": 2},
            xaxis=x,
            yaxis=y,
            hovertemplate="%{text}<extra></extra>",
        )


def _marks(points: _Points, whose: str) -> dict[str, list[object]]:
    return {
        "x": [x for x, _, _ in points],
        "y": [float(f"{load:.4g}") for _, load, _ in points],
        "text": [f"<b>{whose} {format_number(load)} %</b><br>{said}" for _, load, said in points],
    }


def _rows(group: TrialGroup, rows: Sequence[TrialRow]) -> tuple[dict[str, object], ...]:
    names = ("goodput_bps", *(column for columns in _LOADS for column in columns))
    return tuple({**facts(group, row), **{name: row.get(name) for name in names}} for row in rows)
