"""The levels of one axis: their mean goodput, and how they compare."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from flowsweep.analysis.statistics.design import coded
from flowsweep.analysis.statistics.least_squares import Codes, Estimates, Fit, Floats
from flowsweep.analysis.statistics.observations import Row


@dataclass(frozen=True, slots=True)
class LevelMeans:
    """The levels of one axis in one direction and one congestion control, and how they compare."""

    axis: str
    direction: str
    congestion: str | None
    """Null where the sweep has a single one."""
    levels: tuple[int, ...]
    """At least two, ascending: flows, or bytes of all flows together."""
    rows: tuple[Row, ...]
    """Of a summary."""
    level_of: Codes
    """(rows,) number of each row's level."""
    logs: Floats
    """(rows,) natural logarithm of goodput in bit/s."""
    cells: Codes
    """(rows,) the cell of the fit that a row is in."""
    blocks: Codes
    """(rows,) likewise."""
    fit: Fit | None
    """Null where nothing tells the noise."""
    shares: Floats
    """(levels, cells of the fit): what each cell counts in a level's mean."""
    means: Floats
    """(levels,) as if all repeats were alike; natural logarithm of bit/s."""
    repeated: bool
    """Points ran more than once, and their repeats tell the noise; else the interaction of axes has to."""

    def compare(self, pairs: Sequence[tuple[int, int]]) -> Estimates:
        """Compare means of levels: second − first, natural logarithms. There must be a fit."""
        return self.contrasts([self.shares[second] - self.shares[first] for first, second in pairs])

    def contrasts(self, rows: Sequence[Floats]) -> Estimates:
        """Estimate weighted sums of the cells' means, weights adding up to 0. There must be a fit."""
        assert self.fit is not None, "without degrees of freedom nothing is estimated"
        return self.fit.compare(self.logs, np.array(rows))


def level_means(
    axis: str, direction: str, congestion: str | None, placed: Sequence[tuple[Row, int, Hashable]]
) -> LevelMeans:
    """Compare the levels of an axis.

    Args:
        axis: Column of the summary.
        direction: "source → sink".
        congestion: Null where the sweep has a single one.
        placed: Trials with their level and their point of the other axes; at least two levels occur.
    """
    levels = sorted({level for _, level, _ in placed})
    level_of = np.array([levels.index(level) for _, level, _ in placed], dtype=np.intp)
    points = coded([point for _, _, point in placed])
    cells = coded(list(zip(level_of.tolist(), points.tolist(), strict=True)))
    logs = np.array([math.log(row["goodput_bps"]) for row, _, _ in placed])
    repeated = len(cells) >= 2 * (int(cells.max()) + 1)
    blocks = coded([row["repeat"] for row, _, _ in placed]) if repeated else points
    shares = _shares(level_of, points, cells) if repeated else np.eye(len(levels))
    cells = cells if repeated else level_of
    fit = Fit(logs, cells, blocks)
    return LevelMeans(
        axis=axis,
        direction=direction,
        congestion=congestion,
        levels=tuple(levels),
        rows=tuple(row for row, _, _ in placed),
        level_of=level_of,
        logs=logs,
        cells=cells,
        blocks=blocks,
        fit=fit if fit.freedom > 0 else None,
        shares=shares,
        means=_on_the_level_of(logs, level_of, shares @ fit.cell_means),
        repeated=repeated,
    )


def _shares(level_of: Codes, points: Codes, cells: Codes) -> Floats:
    """Average each level over the points that all levels have in common; over its own, if there are none."""
    cell_of = np.full((int(level_of.max()) + 1, int(points.max()) + 1), -1)
    cell_of[level_of, points] = cells
    there = cell_of >= 0
    common = there.all(axis=0)
    counted = there & common if common.any() else there
    shares = np.zeros((len(cell_of), int(cells.max()) + 1))
    for level, kept in enumerate(counted):
        shares[level, cell_of[level, kept]] = 1 / kept.sum()
    return shares


def _on_the_level_of(logs: Floats, level_of: Codes, means: Floats) -> Floats:
    """Contrasts of fitted means mean something, their level does not: take it from the observations."""
    return np.asarray(means + float(np.mean(logs - means[level_of])))
