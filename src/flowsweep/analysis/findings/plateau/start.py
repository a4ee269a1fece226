"""From which level on goodput is as high as it gets, and which levels cannot be excluded."""

import math
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from flowsweep.analysis.statistics.level_means import LevelMeans


@dataclass(frozen=True, slots=True)
class PlateauStart:
    """Numbers of levels."""

    start: int
    """The estimate."""
    earliest: int
    """With 97.5 % confidence the plateau does not start before this level."""
    latest: int | None
    """With 97.5 % confidence it starts at this level or before; null where that cannot be shown of any."""
    highest: tuple[int, ...]
    """Levels from the start on that cannot be told from the highest by more than the margin."""
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
        Student's t).
        Without a measure of the noise no level is set aside but by its mean, and `latest` is null.
    """
    count = len(means.levels)
    allowed = -math.log1p(-margin)
    pairs = list(permutations(range(count), 2))
    if means.fit is None:
        at_least, at_most = means.means.max() - means.means, np.full(count, math.inf)
    else:
        compared = means.compare(pairs)
        half = compared.half_widths(count - 1)
        # How far each level is below the best of the others.
        at_least = (compared.value - half).reshape(count, count - 1).max(axis=1)
        at_most = (compared.value + half).reshape(count, count - 1).max(axis=1)
    lower, shown_within = at_least > allowed, at_most <= allowed
    kept = np.flatnonzero(~lower)
    start = next(
        int(level)
        for level in kept
        if means.means[level] >= means.means[kept[kept >= level]].mean() - allowed
    )
    highest = tuple(int(level) for level in kept[kept >= start])
    return PlateauStart(
        start=start,
        earliest=int(kept[0]),
        latest=int(np.argmax(shown_within)) if shown_within.any() else None,
        highest=highest,
        lacking=None if means.fit is None else float(at_most[start]),
        peak=float(means.means[list(highest)].mean()),
    )
