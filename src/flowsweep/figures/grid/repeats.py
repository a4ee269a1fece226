"""Goodput of the repeats of a few points, where no parameter has a scale to draw it over."""

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from flowsweep.analysis.statistics.means import GeometricMean, geometric_mean
from flowsweep.defaults import FEWEST_FOR_INTERVAL
from flowsweep.figures.frame import HEADROOM, MARGIN, RateScale, rate_axis, rate_scale
from flowsweep.figures.grid.cells import Cell, cell
from flowsweep.figures.grid.line import trace_name
from flowsweep.figures.grid.panel import Panel, PanelRow
from flowsweep.figures.stepped import BEFORE, OPEN_MARKS, words_of
from flowsweep.figures.theme import CATEGORIES, FAILED_MARK, figure
from flowsweep.wording import format_number, format_rate

_STUDENT = "Student's t over the repeats"
_FARTHEST = 1.5
"""How far beyond the highest goodput the axis follows an interval: of three repeats it may be very long."""


def is_one_place(panel: Panel) -> bool:
    """Whether all points of a panel have the same place on its axis, so that no line leads anywhere."""
    return panel.y is None and len(panel.x.values(panel.rows)) == 1


def repeats(panel: Panel) -> go.Figure:
    """Draw every repeat of each point on a row of its own, and their mean with its interval."""
    scale = rate_scale(panel.top_bps)
    found = [(_name(panel, row), cell(row)) for row in panel.rows]
    means = [_mean(point) for _, point in found]
    names = [name for name, _ in found]
    highest = max([scale.top, *(scale.of(mean.high) or 0.0 for mean in means if mean is not None)])
    axis = rate_axis(scale, "sum goodput")
    return figure(
        [_marks(found, scale), _means(found, means, scale), *_failed(found)],
        showlegend=False,
        margin=MARGIN | {"t": 16},
        xaxis=axis | {"range": [0, min(highest, scale.top * _FARTHEST) * HEADROOM], "zeroline": True},
        yaxis={
            "automargin": True,
            "categoryorder": "array",
            "categoryarray": names[::-1],
            "range": [-0.6, len(names) - 0.4],
        },
    )


def repeats_words(panel: Panel) -> str:
    """Say what the marks of a panel's figure are, and why some points have no mean or interval."""
    points = [cell(row) for row in panel.rows]
    means = [mean for point in points if (mean := _mean(point)) is not None]
    whole = [mean.low is not None for mean in means]
    said = "Each mark is a repeat: the sum over all flows."
    if any(whole):
        few = "" if all(whole) else f", of {FEWEST_FOR_INTERVAL} or more"
        said += f" Diamond, line and numbers: their geometric mean and its 95 % interval ({_STUDENT}{few})."
    elif means:
        said += " Diamond and number: their geometric mean; "
        said += f"{FEWEST_FOR_INTERVAL} repeats would tell an interval."
    said += words_of(panel.rows, OPEN_MARKS if means else f" Open marks ran {BEFORE}.")
    if any(0 in point.goodputs_bps for point in points):
        said += " There is no mean where a repeat carried nothing: a geometric mean is of values above 0."
    return said


def _name(panel: Panel, row: PanelRow) -> str:
    if panel.series is None:
        return escape(panel.title or panel.sweep, quote=False)
    return trace_name(panel.series, panel.series.value(row))


def _mean(point: Cell) -> GeometricMean | None:
    """None where a repeat carried nothing: values that vary by factors are above 0."""
    goodputs = point.goodputs_bps
    return geometric_mean(goodputs) if goodputs and goodputs[0] > 0 else None


def _marks(found: Sequence[tuple[str, Cell]], scale: RateScale) -> go.Scatter:
    since = [
        (name, goodput, f"one of {len(point.goodputs_bps)}{point.when}")
        for name, point in found
        for goodput in point.goodputs_bps
    ]
    before = [
        (name, goodput, f"one of {len(point.before_bps)} {BEFORE}")
        for name, point in found
        if point.before_bps is not None
        for goodput in point.before_bps
    ]
    points = [*since, *before]
    # Without a step figures are as they were.
    apart = {"symbol": [*["circle"] * len(since), *["circle-open"] * len(before)]} if before else {}
    return go.Scatter(
        x=[scale.of(goodput) for _, goodput, _ in points],
        y=[name for name, _, _ in points],
        mode="markers",
        name="repeats",
        marker={"color": CATEGORIES[0], "size": 9, "opacity": 0.55, **apart},
        text=[f"<b>{format_rate(goodput)}</b><br>{said}" for _, goodput, said in points],
        hovertemplate="%{text}<extra>%{y}</extra>",
    )


def _means(
    found: Sequence[tuple[str, Cell]], of_points: Sequence[GeometricMean | None], scale: RateScale
) -> go.Scatter:
    drawn = [(*one, mean) for one, mean in zip(found, of_points, strict=True) if mean is not None]
    means = [mean for *_, mean in drawn]
    return go.Scatter(
        x=[scale.of(mean.value) for mean in means],
        y=[name for name, *_ in drawn],
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [None if mean.high is None else scale.of(mean.high - mean.value) for mean in means],
            "arrayminus": [None if mean.low is None else scale.of(mean.value - mean.low) for mean in means],
            "color": CATEGORIES[1],
            "thickness": 2,
            "width": 6,
        },
        mode="markers+text",
        name="mean",
        cliponaxis=False,
        marker={"color": CATEGORIES[1], "size": 11, "symbol": "diamond-open", "line": {"width": 2}},
        text=[_said(mean, scale, point) for _, point, mean in drawn],
        textposition=[
            "top left" if (scale.of(mean.value) or 0) > scale.top / 2 else "top right" for mean in means
        ],
        textfont={"size": 12},
        hovertext=[
            "<br>".join([f"mean {_said(mean, scale, point)}", *point.describe()]) for _, point, mean in drawn
        ],
        hovertemplate="%{hovertext}<extra>%{y}</extra>",
    )


def _failed(found: Sequence[tuple[str, Cell]]) -> list[go.Scatter]:
    """Mark points that were tried and gave nothing, at the foot of their row."""
    failed = [(name, point) for name, point in found if not point.goodputs_bps]
    if not failed:
        return []
    return [
        go.Scatter(
            x=[0] * len(failed),
            y=[name for name, _ in failed],
            mode="text",
            name="failed",
            cliponaxis=False,
            text=[FAILED_MARK] * len(failed),
            textfont={"size": 14},
            hovertext=["<br>".join(point.describe()) for _, point in failed],
            hovertemplate="%{hovertext}<extra>%{y}</extra>",
        )
    ]


def _said(mean: GeometricMean, scale: RateScale, point: Cell) -> str:
    if mean.low is None or mean.high is None:
        few = "one repeat" if len(point.goodputs_bps) == 1 else "two repeats, too few for an interval"
        return f"{format_rate(mean.value)}, {few}"
    value, low, high = (format_number(one / scale.factor) for one in (mean.value, mean.low, mean.high))
    return f"{value} [{low}, {high}] {scale.unit}"
