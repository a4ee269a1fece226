"""A map as a small picture of coloured cells, for an overview of many panels."""

from collections.abc import Sequence
from dataclasses import dataclass

from plotly.colors import sample_colorscale

from flowsweep.analysis.summarising.trial_row import quantity_of
from flowsweep.figures.drawing import Drawn
from flowsweep.figures.theme import MAGNITUDE
from flowsweep.units import RATE_UNITS
from flowsweep.wording import format_rate

_STEPS_OF_SCALE = 6


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
    """Of the card it stands for."""
    direction: str
    columns: int
    lines: int
    tiles: tuple[Tile, ...]
    highest: str
    """Highest median of the panel."""


@dataclass(frozen=True, slots=True)
class Overview:
    """Small pictures on one scale of colours."""

    top: str
    """The goodput at the end of the scale."""
    colours: tuple[str, ...]
    """Of the scale, from zero on, at equal steps."""
    groups: tuple[tuple[str, tuple[Thumbnail, ...]], ...]
    """Each with what its panels have in common."""


def overview(maps: Sequence[tuple[str, Drawn]]) -> Overview:
    """Make the small pictures of some maps, given with the anchors of their cards."""
    groups: dict[str, list[Thumbnail]] = {}
    for anchor, drawn in maps:
        name = drawn.title.removeprefix(drawn.key.direction or "").removeprefix(" · ")
        groups.setdefault(name, []).append(_thumbnail(anchor, drawn))
    sheet = maps[0][1].figure.data[0]
    return Overview(
        format_rate(sheet.zmax * RATE_UNITS[sheet.colorbar.title.text]),
        tuple(sample_colorscale(MAGNITUDE, _STEPS_OF_SCALE)),
        tuple((name, tuple(found)) for name, found in groups.items()),
    )


def _thumbnail(anchor: str, drawn: Drawn) -> Thumbnail:
    """Take the cells of a map; holes stay empty."""
    sheet = drawn.figure.data[0]
    cells = [
        (column, line, height)
        for line, heights in enumerate(reversed(sheet.z))
        for column, height in enumerate(heights)
        if height is not None
    ]
    colours = sample_colorscale(MAGNITUDE, [min(1.0, height / sheet.zmax) for _, _, height in cells])
    known = (quantity_of(row, "goodput_median_bps") for row in drawn.rows)
    medians = [median for median in known if median is not None]
    return Thumbnail(
        anchor,
        drawn.key.direction or "",
        len(sheet.x),
        len(sheet.y),
        tuple(Tile(column, line, colour) for (column, line, _), colour in zip(cells, colours, strict=True)),
        format_rate(max(medians)) if medians else "none ok",
    )
