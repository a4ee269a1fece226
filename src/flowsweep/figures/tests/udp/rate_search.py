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
_LATE = " A cross: the emulated path was not the plan's, and the step does not count."


def drawn_rate_searches(data: FigureData) -> list[Drawn]:
    """Draw for each sweep and direction its searches, where there are some."""
    groups = grouped(
        searched(data.trials, data.late), lambda point: (point.sweep, point.mode, point.direction)
    )
    return [_drawn(points) for points in groups.values()]


def _drawn(points: Sequence[PointSearched]) -> Drawn:
    first = points[0]
    searches = [(point, one) for point in points for one in point.repeats]
    late = frozenset(row["trial_id"] for _, one in searches for row in one.late)
    scale = rate_scale(max(rate_of(row) for _, one in searches for _, row in one.numbered))
    colours = series_colours(len(points))
    traces = [
        trace
        for index, point in enumerate(points)
        for one in point.repeats
        for trace in (
            _line(point, one, scale, colours[index], index),
            *_not_counted(point, one, scale, colours[index]),
        )
    ]
    longest = max(len(one.numbered) for _, one in searches)
    return Drawn(
        FigureKey("rate_search", first.sweep, first.mode, direction=first.direction),
        first.direction,
        _CAPTION + (_LATE if late else ""),
        file_stem(first.sweep, first.direction, "rate search"),
        framed(
            traces,
            xaxis=named_axis("step of the search", range=[0.5, longest + 0.5], dtick=1),
            yaxis=rate_axis(scale, "rate asked of all flows"),
        ),
        tuple(
            _row(point, row, number, counts=row["trial_id"] not in late)
            for point, one in searches
            for number, row in one.numbered
        ),
    )


def _line(point: PointSearched, one: RateSearched, scale: RateScale, colour: str, index: int) -> go.Scatter:
    mark, name = symbol(index), escape(point.name, quote=False)
    return go.Scatter(
        x=[number for number, row in one.numbered if row in one.steps],
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


def _not_counted(point: PointSearched, one: RateSearched, scale: RateScale, colour: str) -> list[go.Scatter]:
    """Crosses where steps ran that do not count, where there are some."""
    late = [(number, row) for number, row in one.numbered if row in one.late]
    if not late:
        return []
    name = escape(point.name, quote=False)
    return [
        go.Scatter(
            x=[number for number, _ in late],
            y=[scale.of(rate_of(row)) for _, row in late],
            mode="markers",
            name=name,
            legendgroup=name,
            showlegend=False,
            marker={"symbol": "x-thin", "size": 9, "line": {"color": colour, "width": 2}},
            text=[f"{_hover(row)}<br>not counted: the emulated path was not the plan's" for _, row in late],
            hovertemplate="%{text}<extra>%{fullData.name}</extra>",
        )
    ]


def _hover(row: TrialRow) -> str:
    verdict = "carried" if row["rate_carried"] else "not carried"
    verdict += ": the source sent less" if was_not_sent(row) else ""
    lost = "" if row["loss"] is None else f"<br>{format_share(row['loss'])} lost"
    return f"<b>{format_rate(rate_of(row))}</b> {verdict}{lost}<br>repeat {row['repeat']}"


def _row(point: PointSearched, row: TrialRow, number: int, *, counts: bool) -> dict[str, object]:
    return {
        "sweep": point.sweep,
        "direction": point.direction,
        "point": point.name,
        "repeat": row["repeat"],
        "step": number,
        RATE: row[RATE],
        "loss": row["loss"],
        "carried": row["rate_carried"],
        "counts": counts,
        "trial_id": row["trial_id"],
    }
