"""Sum goodput over window and flows, as a surface in space."""

import plotly.graph_objects as go

from flowsweep.figures.panel import Panel
from flowsweep.figures.plane import Plane, plane
from flowsweep.figures.theme import MAGNITUDE, figure

CAMERA = {"eye": {"x": -1.35, "y": -1.55, "z": 0.85}, "center": {"x": 0, "y": 0, "z": -0.18}}
"""From the corner where windows and flows are small: the surface rises away from the reader."""


def surface(panel: Panel) -> go.Figure:
    """Draw a panel's plane as a surface; heights and colours run from zero to the highest of the sweep."""
    grid = plane(panel)
    traces = [_sheet(grid), _mesh(grid), *_capped(grid)]
    return figure(
        traces,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        showlegend=False,
        scene={
            "xaxis": _axis(grid.x_axis.name, *grid.x_axis.ticks(grid.xs)),
            "yaxis": _axis(grid.y_axis.name, *grid.y_axis.ticks(grid.ys)),
            "zaxis": {"title": {"text": grid.scale.unit}, "range": [0, grid.scale.top * 1.02], "nticks": 6},
            "aspectmode": "manual",
            "aspectratio": {"x": 1.25, "y": 1.05, "z": 0.75},
            "camera": CAMERA,
        },
    )


def _sheet(grid: Plane) -> go.Surface:
    return go.Surface(
        x=grid.columns,
        y=grid.lines,
        z=grid.heights(),
        text=grid.hovers(),
        hovertemplate="%{text}<extra></extra>",
        colorscale=MAGNITUDE,
        cmin=0,
        cmax=grid.scale.top,
        showscale=False,
        connectgaps=False,
        lighting={"ambient": 0.85, "diffuse": 0.35, "specular": 0.03, "roughness": 0.9},
        contours={"x": {"highlight": False}, "y": {"highlight": False}, "z": {"highlight": False}},
    )


def _mesh(grid: Plane) -> go.Scatter3d:
    """Join measured neighbours, with a point on each: the sheet between them is interpolation."""
    heights = grid.heights()
    path: list[tuple[float | None, float | None, float | None]] = []
    for line, row in zip(grid.lines, heights, strict=True):
        path += [(column, line, height) for column, height in zip(grid.columns, row, strict=True)]
        path.append((None, None, None))
    for index, column in enumerate(grid.columns):
        path += [(column, line, row[index]) for line, row in zip(grid.lines, heights, strict=True)]
        path.append((None, None, None))
    return go.Scatter3d(
        x=[x for x, _, _ in path],
        y=[y for _, y, _ in path],
        z=[z for _, _, z in path],
        mode="lines+markers",
        connectgaps=False,
        line={"width": 1.5, "color": "rgba(20,24,28,0.55)"},
        marker={"size": 2, "color": "rgba(20,24,28,0.8)"},
        hoverinfo="skip",
    )


def _capped(grid: Plane) -> list[go.Scatter3d]:
    capped = [(x, y) for (x, y), one in grid.cells.items() if one.capped and one.median_bps is not None]
    if not capped:
        return []
    return [
        go.Scatter3d(
            x=[grid.x_axis.ticks([x])[0][0] for x, _ in capped],
            y=[grid.y_axis.ticks([y])[0][0] for _, y in capped],
            z=[grid.scale.of(grid.cells[point].median_bps) for point in capped],
            mode="markers",
            name="capped",
            marker={"symbol": "diamond-open", "size": 6, "color": "#D55E00", "line": {"width": 2}},
            hoverinfo="skip",
        )
    ]


def _axis(title: str, positions: list[float], labels: list[str]) -> dict[str, object]:
    return {"title": {"text": title}, "tickmode": "array", "tickvals": positions, "ticktext": labels}
