"""Sum goodput over window and flows, as a map with the numbers in it."""

import plotly.graph_objects as go

from flowsweep.figures.axis import position
from flowsweep.figures.panel import Panel
from flowsweep.figures.plane import Plane, plane
from flowsweep.figures.theme import CAPPED_MARK, FAILED_MARK, MAGNITUDE, figure
from flowsweep.units import format_number

MOST_COLUMNS_WITH_NUMBERS = 9


def heatmap(panel: Panel) -> go.Figure:
    """Draw a panel's plane from above; colours run from zero to the highest of the sweep."""
    grid = plane(panel)
    x_positions, x_labels = grid.x_axis.ticks(grid.xs)
    y_positions, y_labels = grid.y_axis.ticks(grid.ys)
    return figure(
        [_map(grid), *_failed(grid)],
        margin={"l": 52, "r": 8, "t": 10, "b": 48},
        showlegend=False,
        hovermode="closest",
        xaxis={
            "title": {"text": grid.x_axis.name, "standoff": 8},
            "tickvals": x_positions,
            "ticktext": x_labels,
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
        },
        yaxis={
            "title": {"text": grid.y_axis.name, "standoff": 8},
            "tickvals": y_positions,
            "ticktext": y_labels,
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
        },
    )


def _map(grid: Plane) -> go.Heatmap:
    return go.Heatmap(
        x=grid.columns,
        y=grid.lines,
        z=grid.heights(),
        text=[[_number(grid, x, y) for x in grid.xs] for y in grid.ys],
        texttemplate="%{text}",
        textfont={"size": 11},
        hovertext=grid.hovers(),
        hovertemplate="%{hovertext}<extra></extra>",
        hoverongaps=False,
        colorscale=MAGNITUDE,
        zmin=0,
        zmax=grid.scale.top,
        xgap=2,
        ygap=2,
        colorbar={
            "title": {"text": grid.scale.unit, "side": "top"},
            "thickness": 10,
            "outlinewidth": 0,
            "ticklen": 3,
            "len": 1,
            "nticks": 6,
        },
    )


def _number(grid: Plane, x: float, y: float) -> str:
    """What is written in a cell: the number where there is room, and a mark where the window was capped."""
    found = grid.cells.get((x, y))
    height = grid.scale.of(found.median_bps) if found else None
    if found is None or height is None:
        return ""
    mark = CAPPED_MARK if found.capped else ""
    return f"{format_number(height)}{mark}" if len(grid.xs) <= MOST_COLUMNS_WITH_NUMBERS else mark


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
