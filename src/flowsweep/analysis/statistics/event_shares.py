"""Whether something that happens to some trials happens more often at some level of an axis."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from flowsweep.analysis.axes import AXIS_NAMES, UNORDERED, level_words
from flowsweep.analysis.statistics.design import Design
from flowsweep.analysis.statistics.observations import DIRECTION, ObservedRow
from flowsweep.defaults import SIGNIFICANCE

Flags = NDArray[np.bool_]

_FEWEST_TO_ROTATE = 40
"""Of fewer units no rotation, one of so many, is clearly rarer than 5 %."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Uneven:
    """The levels at which something stands out most from the others."""

    axis: str
    words: str
    """ "window sum from 2 MiB on"."""
    counts: tuple[int, int]
    """Trials to which it happened, there and elsewhere."""
    sizes: tuple[int, int]
    """All trials, there and elsewhere."""
    units: tuple[int, int] | None
    """Units that these are of, there and elsewhere; None between directions, where each unit is in both."""
    p_value: float
    """Of "it happens alike everywhere", corrected for the number of contrasts."""
    contrasts: int
    """From how many it was chosen."""
    rotated: Callable[[], float] | None
    """A p-value that leaves events clustered in time; None with few units, or between directions."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of the difference of the shares, corrected likewise; None between directions, which are paired.

        Newcombe (Interval estimation for the difference between independent proportions, Statistics in
        Medicine 17, 1998, method 10), of as many observations as there are units: what happens to one
        direction may happen to the other because of it.
        """
        if self.units is None:
            return None
        level = 1 - SIGNIFICANCE / self.contrasts
        share, other = (count / size for count, size in zip(self.counts, self.sizes, strict=True))
        low, high = _wilson(share, self.units[0], level)
        other_low, other_high = _wilson(other, self.units[1], level)
        below, above = (
            math.hypot(share - low, other_high - other),
            math.hypot(high - share, other - other_low),
        )
        return share - other - below, share - other + above


@dataclass(frozen=True, slots=True)
class _Contrast:
    axis: str
    words: str
    here: Flags
    """(units,)"""


def most_uneven(grid: Design, happened: Callable[[ObservedRow], bool]) -> Uneven | None:
    """Find the levels at which something happens most unlike elsewhere.

    Args:
        grid: Of trials of one sweep and mode, whatever became of them.
        happened: Whether it happened to a trial.

    Returns:
        Each level of each axis against the others, and of ordered axes each cut into lower and higher levels,
        by Fisher's exact test (The logic of inductive inference, Journal of the Royal Statistical Society 98,
        1935) over units, which are all directions of a point in one repeat; both directions by the sign test
        over units in which it happened to one of them (McNemar 1947, Psychometrika 12). The least p-value,
        times the number of contrasts (Bonferroni). Where points ran in random order this holds however events
        cluster in time. None where nothing was varied, or it happened in no unit.
    """
    units = sorted(grid.units, key=lambda unit: min(row["order_index"] for row in unit.rows))
    flags = np.array([any(map(happened, unit.rows)) for unit in units], dtype=np.bool_)
    if not flags.any():
        return None
    contrasts = _contrasts(grid, [unit.levels for unit in units])
    p_values = [_fisher(flags, contrast.here) for contrast in contrasts]
    ways = _directions([unit.rows for unit in units], happened)
    count = len(contrasts) + (ways is not None)
    if count == 0:
        return None
    if ways is not None and ways[1] < min(p_values, default=np.inf):
        rows = [row for unit in units for row in unit.rows]
        here = [row[DIRECTION] == ways[0] for row in rows]
        return _uneven(DIRECTION, ways[0], rows, here, None, happened, ways[1], count, None)
    chosen = int(np.argmin(p_values))
    contrast = contrasts[chosen]
    placed = [(row, bool(side)) for unit, side in zip(units, contrast.here, strict=True) for row in unit.rows]
    turned = (lambda: _rotated(flags, contrasts)) if len(flags) >= _FEWEST_TO_ROTATE else None
    rows, here = [row for row, _ in placed], [side for _, side in placed]
    sides = int(contrast.here.sum()), int((~contrast.here).sum())
    return _uneven(
        contrast.axis, contrast.words, rows, here, sides, happened, p_values[chosen], count, turned
    )


def _uneven(
    axis: str,
    words: str,
    rows: Sequence[ObservedRow],
    here: Sequence[bool],
    units: tuple[int, int] | None,
    happened: Callable[[ObservedRow], bool],
    p_value: float,
    contrasts: int,
    rotated: Callable[[], float] | None,
) -> Uneven:
    counts = [
        sum(happened(row) for row, there in zip(rows, here, strict=True) if there is side)
        for side in (True, False)
    ]
    return Uneven(
        axis=axis,
        words=words,
        counts=(counts[0], counts[1]),
        sizes=(sum(here), len(here) - sum(here)),
        units=units,
        p_value=min(1.0, p_value * contrasts),
        contrasts=contrasts,
        rotated=rotated,
    )


def _wilson(share: float, count: int, level: float) -> tuple[float, float]:
    """Interval of a share of so many observations, where what was counted need not be whole.

    Wilson (Probable inference, the law of succession, and statistical inference, Journal of the American
    Statistical Association 22, 1927).
    """
    z = float(scipy.stats.norm.isf((1 - level) / 2))
    middle = share + z**2 / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    return max((middle - half) / (1 + z**2 / count), 0.0), min((middle + half) / (1 + z**2 / count), 1.0)


def _contrasts(grid: Design, placed: Sequence[tuple[object, ...]]) -> list[_Contrast]:
    found: dict[bytes, _Contrast] = {}
    for place, axis in enumerate(grid.axes):
        levels = [level for level in grid.levels(axis) if level is not None]
        sets = [[level] for level in levels]
        if axis not in UNORDERED:
            sets += [levels[cut:] for cut in range(1, len(levels) - 1)]
        for own in sets:
            here = np.array([levels_of[place] in own for levels_of in placed], dtype=np.bool_)
            first = level_words(axis, own[0])
            words = f"{AXIS_NAMES[axis]} {first if len(own) == 1 else f'from {first} on'}"
            if 0 < here.sum() < len(here):
                # Some levels and just the others are one contrast.
                key = min(here.tobytes(), (~here).tobytes())
                found.setdefault(key, _Contrast(axis, words, here))
    return list(found.values())


def _fisher(flags: Flags, here: Flags) -> float:
    table = [[int((flags & side).sum()), int((~flags & side).sum())] for side in (here, ~here)]
    return float(scipy.stats.fisher_exact(table).pvalue)


def _directions(
    units: Sequence[Sequence[ObservedRow]], happened: Callable[[ObservedRow], bool]
) -> tuple[str, float] | None:
    """The direction to which it happens more often, and the p-value; None where units have one."""
    ways = {row[DIRECTION] for rows in units for row in rows}
    if len(ways) != len(units[0]) or len(ways) != 2:
        return None
    alone = [
        row[DIRECTION] for rows in units for row in rows if sum(map(happened, rows)) == 1 and happened(row)
    ]
    if not alone:
        return None
    most = max(ways, key=alone.count)
    return most, float(scipy.stats.binomtest(alone.count(most), len(alone)).pvalue)


def _rotated(flags: Flags, contrasts: Sequence[_Contrast]) -> float:
    """The share of rotations in time at which some levels stand out as much as they do."""
    here = np.array([contrast.here for contrast in contrasts], dtype=np.float64)
    share = here.mean(axis=1, keepdims=True)
    weights = (here - share) / np.sqrt(share * (1 - share))
    turned = np.array([np.roll(flags, by) for by in range(len(flags))], dtype=np.float64)
    most = np.abs(weights @ turned.T).max(axis=0)
    return float(np.mean(most >= most[0] * (1 - _ROUNDING)))
