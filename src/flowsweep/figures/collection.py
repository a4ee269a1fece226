"""All figures of a campaign, sweep by sweep, kind by kind."""

from flowsweep.figures.drawing import KIND_TITLES, Drawn, FigureData
from flowsweep.figures.planes import drawn_lines, drawn_per_flow, drawn_planes

_DRAWERS = (drawn_planes, drawn_lines, drawn_per_flow)


def drawn_figures(data: FigureData) -> list[Drawn]:
    """Draw everything that the data allow: what would be empty is left out.

    Sweeps in the order of the cells; within one, kinds in the order of `KIND_TITLES`. A surface is followed
    by the map of the same data, with the same key and title.
    """
    sweeps = list(dict.fromkeys(row["sweep"] for row in data.cells))
    kinds = list(KIND_TITLES)
    found = [drawn for draw in _DRAWERS for drawn in draw(data)]
    return sorted(found, key=lambda one: (sweeps.index(one.key.sweep), kinds.index(one.key.kind)))
