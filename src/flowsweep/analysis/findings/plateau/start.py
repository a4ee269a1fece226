"""From which level on goodput is as high as it gets, and which levels cannot be excluded."""

import math
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from flowsweep.analysis.ceiling import link_payload_bps
from flowsweep.analysis.statistics.intervals import half_widths
from flowsweep.analysis.statistics.least_squares import Fit, Floats
from flowsweep.analysis.statistics.level_means import LevelMeans


@dataclass(frozen=True, slots=True)
class PlateauStart:
    """Numbers of levels."""

    start: int
    """The estimate."""
    earliest: int
    """With 97.5 % confidence all levels before this one are not enough."""
    latest: int | None
    """With 97.5 % confidence this level is enough; null where that cannot be shown of any."""
    highest: tuple[int, ...]
    """Levels from the start on that are not shown to differ from the highest by more than the margin."""
    lacking: float | None
    """How far the start may be below another level, with 97.5 % confidence: natural logarithm; null where
    nothing tells."""
    peak: float
    """Their mean: natural logarithm of goodput in bit/s."""

    @property
    def peak_bps(self) -> float:
        """The plateau's goodput in bit/s, a geometric mean."""
        return math.exp(self.peak)


def plateau_start(means: LevelMeans, margin: float) -> PlateauStart:
    """Find the smallest level from which goodput is within a margin of its maximum.

    Args:
        means: Of one direction.
        margin: Relative; 0.03 is 3 %.

    Returns:
        Levels that are lower than another by more than the margin beyond chance are set aside, before and
        after the start: what falls off again at large windows, or dips, does not count. The maximum is the
        mean of the others from a level on, not the highest of them, which chance would choose; the start is
        the first level that is within the margin of the mean of itself and those that follow. `earliest` is
        the first level that is not set aside, `latest` the first that is shown to be within the margin of all
        others (multiple comparisons with the best: Hsu 1984, Constrained simultaneous confidence intervals
        for multiple comparisons with the best, Annals of Statistics 12; here with Bonferroni's bound and
        Student's t), or of what an emulated link carries, above which no level can be. What is left is
        compared again by its own noise, until nothing is set aside: far below the plateau goodput may vary
        much more than on it.
        Without a measure of the noise no level is set aside but by its mean, and `latest` is null.
    """
    allowed = -math.log1p(-margin)
    count = len(means.levels)
    kept = np.arange(count)
    most, height = np.full(count, math.inf), means.means.copy()
    part = means
    while True:
        at_least, at_most = _below_the_best(part)
        most[kept], height[kept] = at_most, part.means
        left = kept[at_least <= allowed]
        if len(left) == len(kept) or len(left) < 2 or means.fit is None:
            kept = left
            break
        part = means.only(left.tolist())
        kept = left
        if part.fit is None:
            break
    start = next(
        int(level) for level in kept if height[level] >= height[kept[kept >= level]].mean() - allowed
    )
    highest = tuple(int(level) for level in kept[kept >= start])
    shown = [int(level) for level in kept if most[level] <= allowed]
    return PlateauStart(
        start=start,
        earliest=int(kept[0]),
        latest=min(shown, default=None),
        highest=highest,
        lacking=None if means.fit is None else float(most[start]),
        peak=float(height[list(highest)].mean()),
    )


def _below_the_best(means: LevelMeans) -> tuple[Floats, Floats]:
    """How far each level is below the best of the others, at least and at most; natural logarithms."""
    count = len(means.levels)
    if means.fit is None:
        return means.means.max() - means.means, np.full(count, math.inf)
    compared = means.compare(list(permutations(range(count), 2)))
    half = compared.half_widths(count - 1)
    at_least = (compared.value - half).reshape(count, count - 1).max(axis=1)
    at_most = (compared.value + half).reshape(count, count - 1).max(axis=1)
    return at_least, np.minimum(at_most, _below_the_link(means))


def _below_the_link(means: LevelMeans) -> Floats:
    """How far each level is below what the emulated link carries, at most; infinite where nobody knows.

    Repeats are not taken out, as they are of comparisons: what they share moves all levels, but no link. A
    level's own noise counts where it is more than that of all.
    """
    count, ceiling_bps = len(means.levels), link_payload_bps(means.rows)
    if ceiling_bps is None:
        return np.full(count, math.inf)
    fit = Fit(means.logs, means.cells, np.zeros_like(means.cells))
    squares = np.bincount(means.level_of, fit.residuals**2, minlength=count)
    freedom = np.maximum(np.bincount(means.level_of, 1 - fit.leverages, minlength=count), 1)
    noisier = squares / freedom > fit.variance
    variance = np.where(noisier, squares / freedom, fit.variance)
    error = np.sqrt(variance * (means.shares**2 / np.bincount(means.cells)).sum(axis=1))
    half = half_widths(error, np.where(noisier, freedom, fit.freedom), comparisons=count - 1)
    return np.asarray(math.log(ceiling_bps) - means.shares @ fit.cell_means + half, dtype=np.float64)
