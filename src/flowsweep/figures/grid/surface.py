"""Sum goodput over window and flows, as a surface in space."""

from itertools import pairwise

import plotly.graph_objects as go

from flowsweep.figures.grid.panel import Panel
from flowsweep.figures.grid.plane import Plane, plane
from flowsweep.figures.theme import MAGNITUDE, VERMILION, figure

CAMERA = {"eye": {"x": -1.25, "y": -1.5, "z": 0.8}, "center": {"x": 0, "y": 0, "z": -0.16}}
"""From the corner where windows and flows are small: the surface rises away from the reader."""

EQUAL = 1e-6
"""Steps of a grid that differ by less than this share are equal."""


def surface(panel: Panel) -> go.Figure:
    """Draw a panel's plane as a surface; heights and colours run from zero to the highest of the sweep."""
    grid = plane(panel)
    traces = [_sheet(grid), *_alone(grid), *_capped(grid)]
    return figure(
        traces,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        showlegend=False,
        scene={
            "xaxis": _axis(grid.x_axis.name, *grid.x_axis.ticks(grid.xs)),
            "yaxis": _axis(grid.y_axis.name, *grid.y_axis.ticks(grid.ys)),
            "zaxis": {
                "title": {"text": grid.scale.unit},
                "range": [0, grid.scale.top * 1.02],
                "tickvals": grid.scale.ticks(),
            },
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
        customdata=grid.hovers(),
        hovertemplate="%{customdata}<extra></extra>",
        colorscale=MAGNITUDE,
        cmin=0,
        cmax=grid.scale.top,
        showscale=False,
        connectgaps=False,
        lighting={"ambient": 0.85, "diffuse": 0.35, "specular": 0.03, "roughness": 0.9},
        contours={"x": _mesh(grid.columns), "y": _mesh(grid.lines), "z": {"highlight": False}},
    )


def _mesh(positions: list[float]) -> dict[str, object]:
    """Lines on the sheet where was measured, at equal steps only; between them is interpolation."""
    steps = [after - before for before, after in pairwise(positions)]
    if not steps or max(steps) - min(steps) > max(steps) * EQUAL:
        return {"highlight": False}
    margin = steps[0] / 2
    return {
        "show": True,
        "start": positions[0],
        "end": positions[-1] + margin,
        "size": steps[0],
        "color": "#14181c",
        "width": 1,
        "highlight": False,
    }


def _alone(grid: Plane) -> list[go.Scatter3d]:
    """Points that no sheet reaches, because too few of their neighbours have a goodput."""
    heights = grid.heights()
    found = [
        (grid.columns[column], grid.lines[line], height, grid.hover(grid.xs[column], grid.ys[line]))
        for line, row in enumerate(heights)
        for column, height in enumerate(row)
        if height is not None and not _on_sheet(heights, line, column)
    ]
    if not found:
        return []
    return [
        go.Scatter3d(
            x=[x for x, _, _, _ in found],
            y=[y for _, y, _, _ in found],
            z=[z for _, _, z, _ in found],
            text=[hover for _, _, _, hover in found],
            hovertemplate="%{text}<extra></extra>",
            mode="markers",
            name="alone",
            marker={
                "size": 4,
                "color": [z for _, _, z, _ in found],
                "colorscale": MAGNITUDE,
                "cmin": 0,
                "cmax": grid.scale.top,
            },
        )
    ]


def _on_sheet(heights: list[list[float | None]], line: int, column: int) -> bool:
    """Tell whether a point is a corner of at least one whole quadrangle."""
    return any(
        all(heights[y][x] is not None for y in (above, above + 1) for x in (left, left + 1))
        for above in (line - 1, line)
        for left in (column - 1, column)
        if 0 <= above < len(heights) - 1 and 0 <= left < len(heights[0]) - 1
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
            marker={"symbol": "diamond-open", "size": 6, "color": VERMILION, "line": {"width": 2}},
            hoverinfo="skip",
        )
    ]


def _axis(title: str, positions: list[float], labels: list[str]) -> dict[str, object]:
    return {"title": {"text": title}, "tickmode": "array", "tickvals": positions, "ticktext": labels}
