"""Goodput of A and of B over the points of a grid, on the same axes."""

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from flowsweep.analysis.comparing.words import change
from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.summarising.trial_row import known
from flowsweep.figures.axis import DrawnAxis, Value, position
from flowsweep.figures.comparing.points import ComparedPoints, compared_of, compared_row, in_both
from flowsweep.figures.drawing import Drawn, file_stem
from flowsweep.figures.frame import RateScale, rate_axis, rate_scale, scaled_axis
from flowsweep.figures.framed import framed
from flowsweep.figures.grid.cells import format_range
from flowsweep.figures.grid.line import trace_name
from flowsweep.figures.grid.panel import DIRECTION, Panel, PanelRow, panels
from flowsweep.figures.grid.repeats import is_one_place
from flowsweep.figures.theme import BLUE, VERMILION
from flowsweep.wording import counted, format_rate

STYLES = ((BLUE, "circle", "solid"), (VERMILION, "diamond-open", "dash"))
"""Colour, mark and line of A and of B: whoever sees no colours tells them apart by the others."""

_CAPTION = (
    "Marks are geometric means over the trials that took part, as in the table; bars reach from the lowest "
    "trial that ended well to the highest. A and B stand a little to either side of their place."
)
_ASIDE = 0.008
"""Of the axis's length: how far A and B are moved, so that bars do not hide each other."""
_ASIDE_IN_ROW = 0.15
"""Of the distance of two rows, likewise."""


def drawn_overlays(points: ComparedPoints) -> list[Drawn]:
    """Draw both campaigns over the x axis of each panel, one figure for each line of its grid."""
    found = []
    for panel in panels(points.rows):
        if panel.top_bps == 0:
            continue
        if is_one_place(panel):
            axes = [panel.series] if panel.series else []
            found.append(_drawn(panel, panel.title, _rows(panel, points.names), panel.rows, axes))
            continue
        apart = panel.y or panel.series
        for value in apart.values(panel.rows) if apart else (None,):
            rows = [row for row in panel.rows if apart is None or apart.value(row) == value]
            axes = [axis for axis in (apart, panel.x) if axis is not None]
            lines = _lines(panel, rows, points.names)
            found.append(_drawn(panel, _title(panel, apart, value), lines, rows, axes))
    return found


def _title(panel: Panel, apart: DrawnAxis | None, value: Value) -> str:
    if apart is None:
        return panel.title
    level = str(value) if apart is DIRECTION else apart.text(value)
    return " · ".join(part for part in (panel.title, level) if part)


def _drawn(
    panel: Panel, title: str, drawn: go.Figure, rows: Sequence[PanelRow], axes: Sequence[DrawnAxis]
) -> Drawn:
    return Drawn(
        FigureKey("overlay", panel.sweep, panel.rows[0]["mode"], panel.direction, panel.x.column),
        title or panel.sweep,
        _CAPTION,
        file_stem(panel.sweep, title, "a and b"),
        drawn,
        tuple(compared_row(panel, axes, row) for row in rows),
    )


def _lines(panel: Panel, rows: Sequence[PanelRow], names: tuple[str, str]) -> go.Figure:
    """Over a parameter with a scale."""
    scale, x = rate_scale(panel.top_bps), panel.x
    ordered = sorted(rows, key=lambda row: float(x.value(row)))
    places = [position(x.value(row)) for row in ordered]
    span = max(position(value) for value in x.values(panel.rows)) - min(places) or 1.0
    traces = [
        go.Scatter(
            x=[place + (2 * side - 1) * _ASIDE * span for place in places],
            y=[scale.of(_mean(row, side)) for row in ordered],
            error_y=_bars(ordered, side, scale),
            mode="lines+markers",
            **_look(side, names),
            text=[_hover(row, side, x.text(x.value(row))) for row in ordered],
        )
        for side in (0, 1)
    ]
    return framed(
        traces,
        showlegend=True,
        xaxis=scaled_axis(x, [x.value(row) for row in ordered]),
        yaxis=rate_axis(scale, "sum goodput"),
    )


def _rows(panel: Panel, names: tuple[str, str]) -> go.Figure:
    """Where no parameter has a scale: each point on a row of its own."""
    scale, count = rate_scale(panel.top_bps), len(panel.rows)
    labels = [_label(panel, row) for row in panel.rows]
    traces = [
        go.Scatter(
            x=[scale.of(_mean(row, side)) for row in panel.rows],
            y=[count - 1 - place + (1 - 2 * side) * _ASIDE_IN_ROW for place in range(count)],
            error_x=_bars(panel.rows, side, scale),
            mode="markers",
            **_look(side, names),
            text=[_hover(row, side, label) for row, label in zip(panel.rows, labels, strict=True)],
        )
        for side in (0, 1)
    ]
    return framed(
        traces,
        showlegend=True,
        xaxis=rate_axis(scale, "sum goodput") | {"zeroline": True},
        yaxis={
            "automargin": True,
            "tickvals": [count - 1 - place for place in range(count)],
            "ticktext": labels,
            "range": [-0.6, count - 0.4],
            "zeroline": False,
        },
    )


def _label(panel: Panel, row: PanelRow) -> str:
    if panel.series is None:
        return escape(panel.title or panel.sweep, quote=False)
    return trace_name(panel.series, panel.series.value(row))


def _look(side: int, names: tuple[str, str]) -> dict[str, object]:
    colour, mark, dash = STYLES[side]
    return {
        "name": escape(names[side], quote=False),
        "line": {"color": colour, "width": 2, "dash": dash},
        "marker": {"color": colour, "size": 9, "symbol": mark, "line": {"width": 2, "color": colour}},
        "hovertemplate": "%{text}<extra>%{fullData.name}</extra>",
    }


def _mean(row: PanelRow, side: int) -> float:
    found = compared_of(row)
    return (found.goodput_a_bps, found.goodput_b_bps)[side]


def _goodputs(row: PanelRow, side: int) -> list[float]:
    """Of the trials that ended well and carried something: what carried nothing has no logarithm."""
    both = in_both(row)
    found = (both["goodputs_bps"], both["goodputs_of_b_bps"])[side]
    return sorted(goodput for goodput in known(found) if goodput > 0)


def _bars(rows: Sequence[PanelRow], side: int, scale: RateScale) -> dict[str, object]:
    """From the lowest trial to the highest."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [scale.of(max(0.0, _goodputs(row, side)[-1] - _mean(row, side))) for row in rows],
        "arrayminus": [scale.of(max(0.0, _mean(row, side) - _goodputs(row, side)[0])) for row in rows],
        "color": STYLES[side][0],
        "thickness": 1.5,
        "width": 4,
    }


def _hover(row: PanelRow, side: int, place: str) -> str:
    goodputs, shift = _goodputs(row, side), compared_of(row).shift
    trials = (shift.repeats_a, shift.repeats_b)[side]
    return "<br>".join(
        (
            f"<b>{format_rate(_mean(row, side))}</b>",
            f"mean of {counted(trials, 'trial')}, {format_range(goodputs[0], goodputs[-1])}",
            place,
            f"B is {shift.outcome}, {change(shift)}",
        )
    )
