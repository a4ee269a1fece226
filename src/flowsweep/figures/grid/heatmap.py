"""Sum goodput over window and flows, as a map with the numbers in it."""

from collections.abc import Sequence

import plotly.graph_objects as go

from flowsweep.figures.axis import position
from flowsweep.figures.frame import named_axis
from flowsweep.figures.grid.cells import Cell
from flowsweep.figures.grid.panel import Panel
from flowsweep.figures.grid.plane import Plane, plane
from flowsweep.figures.theme import CAPPED_MARK, FAILED_MARK, MAGNITUDE, figure
from flowsweep.wording import format_number

MOST_COLUMNS_WITH_NUMBERS = 9

DARK_SHARE = 0.5
"""The colour scale is darker than its middle grey up to this share."""


def heatmap(panel: Panel) -> go.Figure:
    """Draw a panel's plane from above; colours run from zero to the highest of the sweep."""
    grid = plane(panel)
    return figure(
        [_map(grid), _numbers(grid), *_failed(grid)],
        margin={"l": 52, "r": 8, "t": 28, "b": 48},
        showlegend=False,
        xaxis=map_axis(grid.x_axis.name, *grid.x_axis.ticks(grid.xs)),
        yaxis=map_axis(grid.y_axis.name, *grid.y_axis.ticks(grid.ys)),
    )


def map_axis(name: str, positions: Sequence[float], labels: Sequence[str]) -> dict[str, object]:
    """Make an axis of a map: a label at the middle of each cell, or of some, and no lines."""
    return named_axis(
        name,
        automargin=True,
        tickvals=positions,
        ticktext=labels,
        showgrid=False,
        zeroline=False,
        ticks="",
    )


def _map(grid: Plane) -> go.Heatmap:
    return go.Heatmap(
        x=grid.columns,
        y=grid.lines,
        z=grid.heights(),
        hovertext=grid.hovers(),
        hovertemplate="%{hovertext}<extra></extra>",
        hoverongaps=False,
        colorscale=MAGNITUDE,
        zmin=0,
        zmax=grid.scale.top,
        xgap=2,
        ygap=2,
        colorbar=colour_bar(grid.scale.unit, nticks=6),
    )


def colour_bar(title: str, **ticks: object) -> dict[str, object]:
    """Make the scale of colours beside a map."""
    return {
        "title": {"text": title, "side": "top", "font": {"size": 12}},
        "tickfont": {"size": 11},
        "thickness": 10,
        "outlinewidth": 0,
        "ticklen": 3,
        "len": 1,
        **ticks,
    }


def _numbers(grid: Plane) -> go.Scatter:
    """What is written in the cells, in black or white, whatever reads better on the colour."""
    written = [(x, y, one) for (x, y), one in grid.cells.items() if one.median_bps is not None]
    return go.Scatter(
        x=[position(x) for x, _, _ in written],
        y=[position(y) for _, y, _ in written],
        mode="text",
        name="numbers",
        text=[_number(grid, one) for _, _, one in written],
        textfont={"size": 11.5, "color": [_ink(grid, one) for _, _, one in written]},
        hoverinfo="skip",
    )


def _number(grid: Plane, one: Cell) -> str:
    """The number where there is room, and a mark where the window was capped."""
    mark = CAPPED_MARK if one.capped else ""
    roomy = len(grid.xs) <= MOST_COLUMNS_WITH_NUMBERS
    number = format_number(grid.scale.of(one.median_bps) or 0.0) if roomy else ""
    return "<br>".join(text for text in (number, mark) if text)


def _ink(grid: Plane, one: Cell) -> str:
    share = (grid.scale.of(one.median_bps) or 0.0) / grid.scale.top
    return "#ffffff" if share < DARK_SHARE else "#14181c"


def _failed(grid: Plane) -> list[go.Scatter]:
    """Mark points that were tried and gave nothing: they are no holes of the plan."""
    failed = [point for point, one in grid.cells.items() if one.median_bps is None]
    if not failed:
        return []
    return [
        go.Scatter(
            x=[position(x) for x, _ in failed],
            y=[position(y) for _, y in failed],
            mode="text",
            name="failed",
            text=[FAILED_MARK] * len(failed),
            textfont={"size": 18},
            hovertext=[grid.hover(x, y) for x, y in failed],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    ]
