"""Figures of a comparison: differences, both on the same axes, and what both have, A beside B."""

from collections.abc import Sequence

from flowsweep.figures.comparing.overlay import drawn_overlays
from flowsweep.figures.comparing.points import ComparedPoints
from flowsweep.figures.comparing.shift_map import drawn_shift_maps
from flowsweep.figures.drawing import KIND_TITLES, Drawn, FigureData
from flowsweep.figures.grid.goodput import drawn_lines, drawn_per_flow, drawn_planes
from flowsweep.grouping import grouped
from flowsweep.report.comparison.data import ComparisonData
from flowsweep.report.gallery import Card, Group, SweepGallery, card, heading

_OF_A_GRID = (drawn_planes, drawn_lines, drawn_per_flow)
"""What the report draws of a grid and is drawn on one scale for A and B."""
_KINDS = list(KIND_TITLES)


def comparing_galleries(points: ComparedPoints) -> tuple[SweepGallery, ...]:
    """Draw differences, then both campaigns on the same axes."""
    drawn = [*drawn_shift_maps(points), *drawn_overlays(points)]
    cards = [card(f"figure-{number}", [one]) for number, one in enumerate(drawn, start=1)]
    return _galleries("compared", cards)


def paired_galleries(points: ComparedPoints, data: ComparisonData) -> tuple[SweepGallery, ...]:
    """Draw what the report draws of a grid, A beside B on one scale, of the points that both have."""
    a, b = (
        [one for draw in _OF_A_GRID for one in draw(FigureData(side.trials, cells, beside=other))]
        for side, cells, other in zip(
            data.sides, (points.cells_a, points.cells_b), (points.cells_b, points.cells_a), strict=True
        )
    )
    of_b = {_what(one): one for one in b}
    both = [(one, of_b[_what(one)]) for one in a if _what(one) in of_b]
    cards = [
        card(f"pair-{number}", pair, points.names, _rows_of_both(pair))
        for number, pair in enumerate(both, start=1)
    ]
    return _galleries("paired", cards)


def _what(one: Drawn) -> tuple[object, ...]:
    return one.key, one.title, one.needs_webgl


def _rows_of_both(pair: tuple[Drawn, Drawn]) -> list[dict[str, object]]:
    return [{"campaign": letter, **row} for letter, one in zip("AB", pair, strict=True) for row in one.rows]


def _galleries(prefix: str, cards: Sequence[Card]) -> tuple[SweepGallery, ...]:
    """Group cards by sweep, and within one by kind and axes, in the order of the kinds."""
    ordered = sorted(cards, key=lambda one: _KINDS.index(one.drawn[0].key.kind))
    sweeps = grouped(ordered, lambda one: one.drawn[0].key.sweep)
    return tuple(
        SweepGallery(
            sweep,
            tuple(
                Group(f"{prefix}-{number}-{place}", title, (), tuple(of_kind))
                for place, (title, of_kind) in enumerate(grouped(own, heading).items(), start=1)
            ),
        )
        for number, (sweep, own) in enumerate(sweeps.items(), start=1)
    )
