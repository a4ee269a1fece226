"""CPU load of both ends: against goodput, and against the number of flows."""

from collections.abc import Callable, Sequence
from html import escape
from statistics import median

import plotly.graph_objects as go

from flowsweep.figures.axis import FLOWS, LENGTH, Axis, Row, position
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import HEADROOM, LEGEND_ABOVE, heading, percent_axis, scaled_axis
from flowsweep.figures.scale import rate_scale
from flowsweep.figures.theme import figure, series_colours, symbol
from flowsweep.figures.trials import TrialGroup, facts, trial_groups
from flowsweep.wording import counted, format_number

_ENDS = (("cpu_send", "sender"), ("cpu_recv", "receiver"))
_LEFT, _RIGHT = (0.0, 0.48), (0.52, 1.0)
_MEANING = "The load is that of the busiest thread that moved bytes of a flow; 100 % is a whole core."

_Points = list[tuple[float, float, str]]
"""Place on the x axis, load in percent, what hovering says."""


def drawn_cpu(data: FigureData) -> list[Drawn]:
    """Draw both figures of each direction whose CPU load is known."""
    found = []
    for group in trial_groups(data.trials, data.cells):
        rows = [row for row in group.good if row["cpu_send"] is not None or row["cpu_recv"] is not None]
        if len(rows) > 1:
            found.append(_against_goodput(group, rows))
        if len(FLOWS.values(rows)) > 1:
            found.append(_against_flows(group, rows))
    return found


def _against_goodput(group: TrialGroup, rows: Sequence[Row]) -> Drawn:
    scale = rate_scale(max(row["goodput_bps"] for row in rows))
    x_axis = {
        "title": {"text": f"goodput, {scale.unit}", "standoff": 8},
        "range": [0, scale.top * HEADROOM],
        "nticks": 5,
        "zeroline": False,
    }

    def points(chosen: Sequence[Row], column: str) -> _Points:
        return [
            (scale.of(row["goodput_bps"]) or 0.0, row[column] * 100, group.describe(row)) for row in chosen
        ]

    return Drawn(
        group.key("cpu", "goodput_bps"),
        f"{group.title} · against goodput",
        f"Each mark is a trial. {_MEANING}",
        file_stem(group.sweep, group.title, "cpu against goodput"),
        _figure(rows, FLOWS, x_axis, points, mode="markers"),
        _rows(group, rows),
    )


def _against_flows(group: TrialGroup, rows: Sequence[Row]) -> Drawn:
    told_apart = LENGTH if group.x is FLOWS else group.x

    def points(chosen: Sequence[Row], column: str) -> _Points:
        found = []
        for flows in FLOWS.values(chosen):
            loads = [row[column] * 100 for row in chosen if row["flows"] == flows]
            said = f"{FLOWS.text(flows)}<br>median of {counted(len(loads), 'trial')}"
            found.append((position(flows), median(loads), said))
        return found

    return Drawn(
        group.key("cpu", "flows"),
        f"{group.title} · against flows",
        f"Median over the trials of each number of flows. {_MEANING}",
        file_stem(group.sweep, group.title, "cpu against flows"),
        _figure(rows, told_apart, scaled_axis(FLOWS, FLOWS.values(rows)), points, mode="lines+markers"),
        _rows(group, rows),
    )


def _figure(
    rows: Sequence[Row],
    told_apart: Axis,
    x_axis: dict[str, object],
    points: Callable[[Sequence[Row], str], _Points],
    *,
    mode: str,
) -> go.Figure:
    values = told_apart.values(rows)
    colours = series_colours(len(values))
    traces = []
    for side, (column, end) in enumerate(_ENDS):
        for index, value in enumerate(values):
            chosen = [row for row in rows if row[column] is not None and told_apart.value(row) == value]
            traces.append(
                go.Scatter(
                    **_marks(points(chosen, column), end),
                    mode=mode,
                    name=escape(told_apart.text(value), quote=False),
                    legendgroup=str(index),
                    showlegend=side == 0,
                    marker={"color": colours[index], "size": 7, "symbol": symbol(index)},
                    line={"color": colours[index], "width": 2},
                    xaxis="x2" if side else "x",
                    yaxis="y2" if side else "y",
                    hovertemplate="%{text}<extra></extra>",
                )
            )
    highest = max(row[column] for row in rows for column, _ in _ENDS if row[column] is not None) * 100
    load = percent_axis("CPU load", highest=max(highest, 1.0))
    return figure(
        traces,
        hovermode="closest",
        showlegend=len(values) > 1,
        legend={**LEGEND_ABOVE, "y": 1.1},
        margin={"l": 58, "r": 12, "t": 58, "b": 48},
        xaxis={**x_axis, "domain": _LEFT},
        xaxis2={**x_axis, "domain": _RIGHT, "anchor": "y2"},
        yaxis=load,
        yaxis2={**load, "title": {"text": ""}, "anchor": "x2", "showticklabels": False},
        annotations=[heading("sender", "x", "y"), heading("receiver", "x2", "y2")],
    )


def _marks(points: _Points, end: str) -> dict[str, list[object]]:
    return {
        "x": [x for x, _, _ in points],
        "y": [float(f"{load:.4g}") for _, load, _ in points],
        "text": [f"<b>{end} {format_number(load)} %</b><br>{said}" for _, load, said in points],
    }


def _rows(group: TrialGroup, rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple(
        {**facts(group, row), **{name: row[name] for name in ("goodput_bps", "cpu_send", "cpu_recv")}}
        for row in rows
    )
