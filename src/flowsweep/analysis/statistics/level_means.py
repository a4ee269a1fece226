"""The levels of one axis: their mean goodput, and how they compare."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import scipy

from flowsweep.analysis.statistics.design import Level, coded, mostly_repeated
from flowsweep.analysis.statistics.least_squares import Codes, Estimates, Fit, Floats, summed_variances
from flowsweep.analysis.statistics.observations import ObservedRow
from flowsweep.analysis.statistics.rounded import rounded_away
from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.defaults import SIGNIFICANCE

_NONE = 1e-10
"""Fewer degrees of freedom are none, but rounding."""

NoMeasure = Literal["few", "apart", "rounded"]
"""Why nothing tells by how much levels differ by chance: too few trials, levels that ran in repeats (where
points ran once: at points of the other axes) of their own, which may be what differs, or figures of another
tool that were rounded to equal ones."""


class Placed(NamedTuple):
    """A trial on the grid."""

    row: ObservedRow
    level: int
    """Of the axis that is looked at: flows, or bytes of all flows together."""
    point: tuple[Level, ...]
    """Of the other axes."""
    block: int
    """Trials with the same number share what their time had in store (`blocks`)."""


@dataclass(frozen=True, slots=True)
class LevelMeans:
    """The levels of one axis in one direction and one congestion control, and how they compare."""

    axis: str
    direction: str
    congestion: str | None
    """Null where the sweep has a single one."""
    others: tuple[str, ...]
    """The other axes of the grid."""
    apart: tuple[tuple[str, Level], ...]
    """Axes, of which only trials at this level take part; none where all are pooled."""
    placed: tuple[Placed, ...]
    """The trials."""
    levels: tuple[int, ...]
    """At least two, ascending: flows, or bytes of all flows together."""
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
    no_measure: NoMeasure | None
    """Why nothing does; null with a fit."""
    shares: Floats
    """(levels, cells of the fit): what each cell counts in a level's mean."""
    means: Floats
    """(levels,) as if all repeats were alike, as measured where levels ran in repeats of their own; natural
    logarithm of bit/s."""
    repeated: bool
    """Points ran more than once, and their repeats tell the noise; else the interaction of axes has to."""
    noise: Mapping[int, tuple[float, float]]
    """By level: sum of squares of the residuals, and their degrees of freedom; of all levels of the other
    axes, also where only one of them takes part."""

    @property
    def rows(self) -> tuple[ObservedRow, ...]:
        """The trials, rows of a summary."""
        return tuple(one.row for one in self.placed)

    def at(self, axis: str, level: Level) -> "LevelMeans | None":
        """What is left at one level of another axis; null where fewer than two levels are."""
        place = self.others.index(axis)
        own = self._where(lambda one: one.point[place] == level)
        return None if own is None else replace(own, apart=(*self.apart, (axis, level)))

    def only(self, kept: Collection[int]) -> "LevelMeans":
        """What is left of some levels, given by their numbers; at least two of them."""
        sizes = {self.levels[number] for number in kept}
        own = self._where(lambda one: one.level in sizes)
        assert own is not None, "at least two levels are kept"
        return own

    def compare(self, pairs: Sequence[tuple[int, int]]) -> Estimates:
        """Compare means of levels: second − first, natural logarithms. There must be a fit."""
        return self.guarded([self.shares[second] - self.shares[first] for first, second in pairs])

    def contrasts(self, rows: Sequence[Floats]) -> Estimates:
        """Estimate weighted sums of the cells' means, weights adding up to 0. There must be a fit."""
        assert self.fit is not None, "without degrees of freedom nothing is estimated"
        return self.cautious(rows) if self.apart else self.fit.compare(self.logs, np.array(rows))

    def guarded(self, rows: Sequence[Floats]) -> Estimates:
        """Estimate as `contrasts` does, for contrasts in which single levels stand for themselves.

        Cells that vary more than the others together, beyond chance (F, 5 %), count with their own noise even
        where they ran too rarely for `Fit.compare` to tell it: just below the plateau goodput is less steady
        than on it.
        """
        return self.cautious(rows) if self.apart else self._guarded(np.array(rows))

    def cautious(self, rows: Sequence[Floats]) -> Estimates:
        """Estimate as `guarded` does, with the noise that each level has anywhere where that is larger.

        A part of the trials has few repeats of each level; what chance picks out of many parts should not be
        judged by its own noise alone.
        """
        assert self.fit is not None, "without degrees of freedom nothing is estimated"
        weights = np.array(rows)
        base = self._guarded(weights)
        squares, freedom = np.array([self.noise[size] for size in self.levels]).T
        variance = np.divide(squares, freedom, out=np.zeros(len(squares)), where=freedom > _NONE)
        spread = self.fit.weights(weights) ** 2 @ np.eye(len(self.levels))[self.level_of]
        total, welch = summed_variances(spread * variance, freedom)
        larger = np.sqrt(total) > base.error
        return Estimates(
            base.value,
            np.where(larger, np.sqrt(total), base.error),
            np.where(larger, np.clip(welch, 1, max(float(freedom.sum()), 1.0)), base.freedom),
        )

    def _guarded(self, weights: Floats) -> Estimates:
        assert self.fit is not None, "without degrees of freedom nothing is estimated"
        pooled = self.fit.compare(self.logs, weights)
        own_freedom = np.bincount(self.cells, 1 - self.fit.leverages)
        own_squares = np.bincount(self.cells, self.fit.residuals**2)
        taking_part = (weights != 0) & (own_freedom > _NONE)
        freedom = np.where(taking_part, own_freedom, 0.0).sum(axis=1)
        squares = np.where(taking_part, own_squares, 0.0).sum(axis=1)
        left = np.maximum(self.fit.freedom - freedom, 0.0)
        left_squares = np.maximum(own_squares.sum() - squares, 0.0)
        valid = (left >= 1) & (freedom >= 1) & (left_squares > 0)
        ratio = np.divide(squares * left, left_squares * freedom, out=np.zeros(len(weights)), where=valid)
        beyond = scipy.special.fdtrc(np.maximum(freedom, 1), np.maximum(left, 1), ratio)
        unlike = valid & (beyond < SIGNIFICANCE)
        spread = self.fit.weights(weights) ** 2
        own = np.divide(squares, freedom, out=np.zeros(len(weights)), where=freedom > 0) * spread.sum(axis=1)
        widened = unlike & (np.sqrt(own) > pooled.error)
        return Estimates(
            pooled.value,
            np.where(widened, np.sqrt(own), pooled.error),
            np.where(widened, np.maximum(freedom, 1.0), pooled.freedom),
        )

    def _where(self, kept: Callable[[Placed], bool]) -> "LevelMeans | None":
        placed = [one for one in self.placed if kept(one)]
        if len({one.level for one in placed}) < 2:
            return None
        own = level_means(self.axis, self.direction, self.congestion, placed, others=self.others)
        return replace(own, apart=self.apart, noise=self.noise)


def level_means(
    axis: str, direction: str, congestion: str | None, placed: Sequence[Placed], *, others: tuple[str, ...]
) -> LevelMeans:
    """Compare the levels of an axis.

    Args:
        axis: Column of the summary.
        direction: "source → sink".
        congestion: Null where the sweep has a single one.
        placed: Trials with goodput in bit/s; at least two levels occur.
        others: Names of the other axes, in the order of the points.
    """
    levels = sorted({one.level for one in placed})
    level_of = np.array([levels.index(one.level) for one in placed], dtype=np.intp)
    points = coded([one.point for one in placed])
    cells = coded(list(zip(level_of.tolist(), points.tolist(), strict=True)))
    logs = np.array([math.log(goodput_of(one.row)) for one in placed])
    repeated = mostly_repeated(cells)
    blocks = coded([one.block for one in placed]) if repeated else points
    shares = _shares(level_of, points, cells) if repeated else np.eye(len(levels))
    cells = cells if repeated else level_of
    fit = Fit(logs, cells, blocks)
    told = _told_apart(shares, cells, blocks)
    rounded = rounded_away((one.row for one in placed), fit.residuals)
    no_measure = _no_measure(fit, told=told, repeated=repeated, rounded=rounded)
    cell_means = fit.cell_means if told else np.bincount(cells, logs) / np.bincount(cells)
    return LevelMeans(
        axis=axis,
        direction=direction,
        congestion=congestion,
        others=others,
        apart=(),
        placed=tuple(placed),
        levels=tuple(levels),
        level_of=level_of,
        logs=logs,
        cells=cells,
        blocks=blocks,
        fit=fit if no_measure is None else None,
        no_measure=no_measure,
        shares=shares,
        means=_on_the_level_of(logs, level_of, shares @ cell_means),
        repeated=repeated,
        noise=_noise_of(levels, level_of, fit),
    )


def _no_measure(fit: Fit, *, told: bool, repeated: bool, rounded: bool) -> NoMeasure | None:
    if fit.freedom <= 0 and (told or not repeated):
        return "few"
    if not told:
        return "apart"
    return "rounded" if rounded else None


def _told_apart(shares: Floats, cells: Codes, blocks: Codes) -> bool:
    """Whether what levels differ by can be told from what blocks differ by.

    Cells and blocks that no chain of trials connects have no difference that trials tell: a difference of
    levels is estimable if it has none between such parts (Searle, Linear Models, 1971, ch. 5).
    """
    part_of = np.arange(shares.shape[1])
    while True:
        least = np.full(int(blocks.max()) + 1, len(part_of))
        np.minimum.at(least, blocks, part_of[cells])
        joined = part_of.copy()
        np.minimum.at(joined, cells, least[blocks])
        if np.array_equal(joined, part_of):
            break
        part_of = joined
    of_parts = shares @ np.eye(len(part_of))[part_of]
    return bool(np.allclose(of_parts, of_parts[0]))


def _noise_of(levels: Sequence[int], level_of: Codes, fit: Fit) -> dict[int, tuple[float, float]]:
    squares = np.bincount(level_of, fit.residuals**2)
    freedom = np.bincount(level_of, 1 - fit.leverages)
    return {size: (float(squares[at]), float(freedom[at])) for at, size in enumerate(levels)}


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
