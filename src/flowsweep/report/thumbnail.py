"""A plane as a small picture of coloured cells, for an overview of many panels."""

from dataclasses import dataclass

from plotly.colors import sample_colorscale

from flowsweep.figures import Panel
from flowsweep.figures.plane import plane
from flowsweep.figures.theme import MAGNITUDE
from flowsweep.wording import format_rate


@dataclass(frozen=True, slots=True)
class Tile:
    """One cell, in units of cells from the top left."""

    column: int
    line: int
    colour: str


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """The small picture of one panel."""

    anchor: str
    """Of the figure it stands for."""
    direction: str
    columns: int
    lines: int
    tiles: tuple[Tile, ...]
    highest: str
    """Highest median of the panel."""


def thumbnail(panel: Panel, anchor: str) -> Thumbnail:
    """Make the small picture; same colours as the heatmap, holes stay empty."""
    grid = plane(panel)
    medians = {point: one.median_bps for point, one in grid.cells.items() if one.median_bps is not None}
    shares = [min(1.0, median / panel.top_bps) for median in medians.values()]
    colours = sample_colorscale(MAGNITUDE, shares) if shares else []
    tiles = tuple(
        Tile(grid.xs.index(x), len(grid.ys) - 1 - grid.ys.index(y), colour)
        for (x, y), colour in zip(medians, colours, strict=True)
    )
    highest = format_rate(max(medians.values())) if medians else "no goodput"
    return Thumbnail(anchor, panel.direction or "", len(grid.xs), len(grid.ys), tiles, highest)
