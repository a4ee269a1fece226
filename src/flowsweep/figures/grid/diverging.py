"""A map of what lies to either side of a middle: of ratios, whose logarithm is 0 where there is no change."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from flowsweep.figures.axis import DrawnAxis, Value, position
from flowsweep.figures.grid.heatmap import MOST_COLUMNS_WITH_NUMBERS, colour_bar, map_axis
from flowsweep.figures.theme import DIVERGING, UNDECIDED_COLOUR, figure

_LEAST_BOUND = math.log(1.1)
"""Colours are full at ±10 % or beyond: a per cent is no glaring difference."""
_TICKS = (0.1, 0.25, 0.5, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.25, 2, 4, 10)
"""Ratios beside the scale of colours, those that fit."""
_TICKS_WITHIN, _TICKS_APART = 0.93, 0.2
"""Of the bound: how far out a tick may be, and how far from the next one."""
_DARK_BEYOND = 0.85
"""Of the bound, to the lower side: its colour is darker than black letters bear."""


@dataclass(frozen=True, slots=True)
class RatioCell:
    """One cell of the map."""

    ratio: float
    """1 is the middle; 0 has the colour of the lower end."""
    text: str
    """What is written in it."""
    hover: str
    decided: bool = True
    """Whether it is known to be what it looks like; else its colour tells no side."""


@dataclass(frozen=True, slots=True)
class MapSide:
    """One axis of the map, with the values that it has."""

    axis: DrawnAxis
    values: tuple[Value, ...]

    @property
    def positions(self) -> list[float]:
        """Where the values lie: on a log2 axis if all are quantities, else side by side."""
        if self._on_scale:
            return [position(value) for value in self.values]
        return [float(place) for place in range(len(self.values))]

    def layout(self) -> dict[str, object]:
        """The axis as Plotly has it."""
        if self._on_scale:
            return map_axis(self.axis.name, *self.axis.ticks(self.values))
        return map_axis(self.axis.name, self.positions, [self.axis.level(value) for value in self.values])

    @property
    def _on_scale(self) -> bool:
        return self.axis.scaled and None not in self.values


@dataclass(frozen=True, slots=True)
class RatioScale:
    """The colours of one map, or of several that shall compare at a glance."""

    bound: float
    """Natural logarithm of the ratio at the upper end; it is minus that at the lower one."""
    title: str
    write: Callable[[float], str]
    """Writes a ratio."""

    def ticks(self) -> list[float]:
        """Ratios beside the scale, from the middle outward as far as they have room."""
        kept = [0.0]
        for at in sorted(map(math.log, _TICKS), key=abs):
            apart = min(abs(at - one) for one in kept)
            if abs(at) <= _TICKS_WITHIN * self.bound and apart >= _TICKS_APART * self.bound:
                kept.append(at)
        return sorted(kept)


def ratio_scale(ratios: Iterable[float], title: str, write: Callable[[float], str]) -> RatioScale:
    """Make the scale for some ratios: it reaches equally far to both sides of 1.

    Args:
        ratios: That are drawn; what is 0 has the colour of the lower end.
        title: What they are.
        write: Writes one.
    """
    return RatioScale(
        max([_LEAST_BOUND, *(abs(math.log(ratio)) for ratio in ratios if ratio > 0)]), title, write
    )


def ratio_map(
    x: MapSide, y: MapSide, cells: Mapping[tuple[Value, Value], RatioCell], scale: RatioScale
) -> go.Figure:
    """Draw ratios over two axes; colours run equally far to both sides of 1, on a logarithmic scale.

    Args:
        x: Its columns.
        y: Its lines.
        cells: By the values on both axes; what is missing stays empty.
        scale: Of its colours.
    """
    return figure(
        [_sheet(x, y, cells, scale), *_undecided(x, y, cells), _numbers(x, y, cells, scale.bound)],
        margin={"l": 52, "r": 8, "t": 28, "b": 48},
        showlegend=False,
        xaxis=x.layout(),
        yaxis=y.layout(),
    )


def _sheet(
    x: MapSide, y: MapSide, cells: Mapping[tuple[Value, Value], RatioCell], scale: RatioScale
) -> go.Heatmap:
    bound, ticks = scale.bound, scale.ticks()
    return go.Heatmap(
        x=x.positions,
        y=y.positions,
        z=_matrix(x, y, cells, lambda cell: _height(cell, bound) if cell.decided else None),
        hovertext=_matrix(x, y, cells, lambda cell: cell.hover),
        hovertemplate="%{hovertext}<extra></extra>",
        hoverongaps=False,
        colorscale=DIVERGING,
        zmin=-bound,
        zmid=0,
        zmax=bound,
        xgap=2,
        ygap=2,
        name="ratio",
        colorbar=colour_bar(
            scale.title, tickvals=ticks, ticktext=[scale.write(math.exp(tick)) for tick in ticks]
        ),
    )


def _undecided(
    x: MapSide, y: MapSide, cells: Mapping[tuple[Value, Value], RatioCell]
) -> Sequence[go.Heatmap]:
    if all(cell.decided for cell in cells.values()):
        return ()
    return (
        go.Heatmap(
            x=x.positions,
            y=y.positions,
            z=_matrix(x, y, cells, lambda cell: None if cell.decided else 0),
            hovertext=_matrix(x, y, cells, lambda cell: cell.hover),
            hovertemplate="%{hovertext}<extra></extra>",
            hoverongaps=False,
            colorscale=((0.0, UNDECIDED_COLOUR), (1.0, UNDECIDED_COLOUR)),
            showscale=False,
            xgap=2,
            ygap=2,
            name="undecided",
        ),
    )


def _numbers(
    x: MapSide, y: MapSide, cells: Mapping[tuple[Value, Value], RatioCell], bound: float
) -> go.Scatter:
    roomy = len(x.values) <= MOST_COLUMNS_WITH_NUMBERS
    columns, lines = (dict(zip(side.values, side.positions, strict=True)) for side in (x, y))
    return go.Scatter(
        x=[columns[at_x] for at_x, _ in cells],
        y=[lines[at_y] for _, at_y in cells],
        mode="text",
        name="numbers",
        text=[cell.text if roomy else "" if cell.decided else "?" for cell in cells.values()],
        textfont={"size": 11.5, "color": [_ink(cell, bound) for cell in cells.values()]},
        hoverinfo="skip",
    )


def _matrix(
    x: MapSide,
    y: MapSide,
    cells: Mapping[tuple[Value, Value], RatioCell],
    of: Callable[[RatioCell], object],
) -> list[list[object]]:
    """Lines from the lowest on; a cell that is missing is a hole."""
    return [
        [None if (cell := cells.get((at_x, at_y))) is None else of(cell) for at_x in x.values]
        for at_y in y.values
    ]


def _height(cell: RatioCell, bound: float) -> float:
    """The logarithm to 5 significant digits: more than a figure shows, and less to carry."""
    return float(f"{math.log(cell.ratio):.5g}") if cell.ratio > 0 else -bound


def _ink(cell: RatioCell, bound: float) -> str:
    return "#ffffff" if cell.decided and _height(cell, bound) < -_DARK_BEYOND * bound else "#14181c"
