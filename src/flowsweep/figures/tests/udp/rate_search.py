"""Searches for the highest rate, step by step: what was tried, and whether it was carried."""

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.udp.rate_search import (
    RATE,
    PointSearched,
    RateSearched,
    rate_of,
    searched,
    was_not_sent,
)
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import RateScale, named_axis, rate_axis, rate_scale
from flowsweep.figures.framed import framed
from flowsweep.figures.theme import series_colours, symbol
from flowsweep.grouping import grouped
from flowsweep.wording import format_rate, format_share

_CAPTION = (
    "The rates of each search in the order in which they were tried, a line for each repeat. A full mark: "
    "the rate was sent, and lost and delayed no more than the limits; an open one: it was not carried."
)


def drawn_rate_searches(data: FigureData) -> list[Drawn]:
    """Draw for each sweep and direction its searches, where there are some."""
    groups = grouped(searched(data.trials), lambda point: (point.sweep, point.mode, point.direction))
    return [_drawn(points) for points in groups.values()]


def _drawn(points: Sequence[PointSearched]) -> Drawn:
    first = points[0]
    searches = [(point, one) for point in points for one in point.repeats]
    scale = rate_scale(max(rate_of(row) for _, one in searches for row in one.steps))
    colours = series_colours(len(points))
    traces = [
        _line(point, one, scale, colours[index], index)
        for index, point in enumerate(points)
        for one in point.repeats
    ]
    longest = max(len(one.steps) for _, one in searches)
    return Drawn(
        FigureKey("rate_search", first.sweep, first.mode, direction=first.direction),
        first.direction,
        _CAPTION,
        file_stem(first.sweep, first.direction, "rate search"),
        framed(
            traces,
            xaxis=named_axis("step of the search", range=[0.5, longest + 0.5], dtick=1),
            yaxis=rate_axis(scale, "rate asked of all flows"),
        ),
        tuple(_row(point, row, number) for point, one in searches for number, row in _numbered(one)),
    )


def _line(point: PointSearched, one: RateSearched, scale: RateScale, colour: str, index: int) -> go.Scatter:
    mark, name = symbol(index), escape(point.name, quote=False)
    return go.Scatter(
        x=[number for number, _ in _numbered(one)],
        y=[scale.of(rate_of(row)) for row in one.steps],
        mode="lines+markers",
        name=name,
        legendgroup=name,
        showlegend=one is point.repeats[0],
        line={"color": colour, "width": 1},
        marker={
            "color": colour,
            "size": 9,
            "symbol": [mark if row["rate_carried"] else f"{mark}-open" for row in one.steps],
        },
        text=[_hover(row) for row in one.steps],
        hovertemplate="%{text}<extra>%{fullData.name}</extra>",
    )


def _hover(row: TrialRow) -> str:
    verdict = "carried" if row["rate_carried"] else "not carried"
    verdict += ": the source sent less" if was_not_sent(row) else ""
    lost = "" if row["loss"] is None else f"<br>{format_share(row['loss'])} lost"
    return f"<b>{format_rate(rate_of(row))}</b> {verdict}{lost}<br>repeat {row['repeat']}"


def _numbered(one: RateSearched) -> list[tuple[int, TrialRow]]:
    return list(enumerate(one.steps, start=1))


def _row(point: PointSearched, row: TrialRow, number: int) -> dict[str, object]:
    return {
        "sweep": point.sweep,
        "direction": point.direction,
        "point": point.name,
        "repeat": row["repeat"],
        "step": number,
        RATE: row[RATE],
        "loss": row["loss"],
        "carried": row["rate_carried"],
        "trial_id": row["trial_id"],
    }
