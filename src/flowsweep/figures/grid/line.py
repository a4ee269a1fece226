"""Goodput over one parameter, for a sweep without a plane: the median line, and every repeat faintly."""

from collections.abc import Iterable
from html import escape

import plotly.graph_objects as go

from flowsweep.figures.axis import DrawnAxis, position
from flowsweep.figures.frame import RateScale, rate_axis, rate_scale, scaled_axis
from flowsweep.figures.framed import framed
from flowsweep.figures.grid.cells import Cell, cell, placed
from flowsweep.figures.grid.panel import DIRECTION, Panel, PanelRow
from flowsweep.figures.theme import FAILED_MARK, series_colours, symbol


def line(panel: Panel) -> go.Figure:
    """Draw the sum goodput of a panel over its x axis, one trace for each value of its series axis."""
    values = panel.series.values(panel.rows) if panel.series else (None,)
    groups = [
        (
            trace_name(panel.series, value) if panel.series else "",
            [row for row in panel.rows if _belongs(panel.series, value, row)],
        )
        for value in values
    ]
    return lines(groups, panel.x, rate_scale(panel.top_bps), "sum goodput")


def lines(
    groups: Iterable[tuple[str, list[PanelRow]]],
    x: DrawnAxis,
    scale: RateScale,
    title: str,
    *,
    share: bool = False,
) -> go.Figure:
    """Draw goodput over an axis, a trace for each named group of points.

    `share`: goodput of one flow, that is the sum divided by the flows, instead of the sum.
    """
    drawn = [(name, _cells(rows, x, share=share)) for name, rows in groups]
    drawn = [(name, found) for name, found in drawn if found]
    colours = series_colours(len(drawn))
    traces: list[go.Scatter] = []
    for index, (name, found) in enumerate(drawn):
        traces += [
            _repeats(name, found, scale, colours[index]),
            _median(name, found, x, scale, colours[index], index),
            *_failed(name, found, x, colours[index]),
        ]
    return framed(
        traces,
        showlegend=len(drawn) > 1 or bool(drawn and drawn[0][0]),
        xaxis=scaled_axis(x, [value for _, found in drawn for value in found]),
        yaxis=rate_axis(scale, title),
    )


def trace_name(axis: DrawnAxis, value: object) -> str:
    """Name of a trace. Plotly reads tags in it, and what a plan or a host is called may look like one."""
    return escape(axis.text(value) if axis is not DIRECTION else str(value), quote=False)


def _cells(rows: list[PanelRow], x: DrawnAxis, *, share: bool) -> dict[float, Cell]:
    return {
        place: cell(row, divisor=row["flows"] if share else 1) for (place,), row in placed(rows, (x,)).items()
    }


def _repeats(name: str, found: dict[float, Cell], scale: RateScale, colour: str) -> go.Scatter:
    since = [(value, goodput) for value, one in found.items() for goodput in one.goodputs_bps]
    before = [(value, goodput) for value, one in found.items() for goodput in one.before_bps or ()]
    points = [*since, *before]
    # Without a step figures are as they were.
    apart = {"symbol": [*["circle"] * len(since), *["circle-open"] * len(before)]} if before else {}
    return go.Scatter(
        x=[position(value) for value, _ in points],
        y=[scale.of(goodput) for _, goodput in points],
        mode="markers",
        name=name,
        legendgroup=name,
        showlegend=False,
        marker={"color": colour, "size": 5, "opacity": 0.35, **apart},
        hoverinfo="skip",
    )


def _median(
    name: str, found: dict[float, Cell], x: DrawnAxis, scale: RateScale, colour: str, index: int
) -> go.Scatter:
    """The line has a gap where no trial ended well."""
    return go.Scatter(
        x=[position(value) for value in found],
        y=[scale.of(one.median_bps) if one.goodputs_bps else None for one in found.values()],
        mode="lines+markers",
        name=name,
        legendgroup=name,
        line={"color": colour, "width": 2},
        marker={"color": colour, "size": 8, "symbol": symbol(index)},
        text=["<br>".join([*one.describe(), x.text(value)]) for value, one in found.items()],
        hovertemplate="%{text}<extra>%{fullData.name}</extra>",
    )


def _failed(name: str, found: dict[float, Cell], x: DrawnAxis, colour: str) -> list[go.Scatter]:
    """Mark points that were tried and gave nothing, at the foot."""
    failed = {value: one for value, one in found.items() if not one.goodputs_bps}
    if not failed:
        return []
    return [
        go.Scatter(
            x=[position(value) for value in failed],
            y=[0] * len(failed),
            mode="text",
            name=f"{name}, failed" if name else "failed",
            legendgroup=name,
            showlegend=False,
            cliponaxis=False,
            text=[FAILED_MARK] * len(failed),
            textfont={"size": 14, "color": colour},
            hovertext=["<br>".join([*one.describe(), x.text(value)]) for value, one in failed.items()],
            hovertemplate="%{hovertext}<extra>%{fullData.name}</extra>",
        )
    ]


def _belongs(series: DrawnAxis | None, value: object, row: PanelRow) -> bool:
    return series is None or series.value(row) == value
