"""The grid of a panel as the matrices that surface and heatmap draw: rows are flows, columns are windows."""

from dataclasses import dataclass

from flowsweep.figures.axis import DrawnAxis, position
from flowsweep.figures.frame import RateScale, rate_scale
from flowsweep.figures.grid.cells import Cell, cell, placed
from flowsweep.figures.grid.panel import Panel


@dataclass(frozen=True, slots=True)
class Plane:
    """A grid of cells over two axes."""

    x_axis: DrawnAxis
    y_axis: DrawnAxis
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: dict[tuple[float, float], Cell]
    scale: RateScale

    @property
    def columns(self) -> list[float]:
        """Positions of the columns on the log2 axis."""
        return [position(x) for x in self.xs]

    @property
    def lines(self) -> list[float]:
        """Positions of the rows on the log2 axis."""
        return [position(y) for y in self.ys]

    def heights(self) -> list[list[float | None]]:
        """Median goodput in the scale's unit; a point without one is a hole, never zero."""
        return [[self._height(x, y) for x in self.xs] for y in self.ys]

    def hovers(self) -> list[list[str]]:
        """What each point says of itself; empty where the plan asked for nothing."""
        return [[self.hover(x, y) for x in self.xs] for y in self.ys]

    def hover(self, x: float, y: float) -> str:
        """What one point says of itself."""
        found = self.cells.get((x, y))
        if found is None:
            return ""
        place = f"{self.x_axis.text(x)}, {self.y_axis.text(y)}"
        return "<br>".join([*found.describe(), place])

    def _height(self, x: float, y: float) -> float | None:
        found = self.cells.get((x, y))
        return self.scale.of(found.median_bps) if found else None


def plane(panel: Panel) -> Plane:
    """Put the points of a panel on its grid. Raises ValueError for a panel that is a line."""
    if panel.y is None:
        raise ValueError(f"{panel.title}: a line has no plane")
    found = placed(panel.rows, (panel.x, panel.y))
    return Plane(
        panel.x,
        panel.y,
        tuple(sorted({x for x, _ in found})),
        tuple(sorted({y for _, y in found})),
        {(x, y): cell(row) for (x, y), row in found.items()},
        rate_scale(panel.top_bps),
    )
