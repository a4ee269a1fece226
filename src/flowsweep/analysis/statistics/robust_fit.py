"""The same linear model where some trials are far slower: residuals that a few unusual trials do not move."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flowsweep.analysis.statistics.extremes import standing_out
from flowsweep.analysis.statistics.least_squares import Codes, Fit, Floats
from flowsweep.scatter import NORMAL_MAD

_ROUNDS = 4
"""Of taking medians of cells and blocks in turn; more change nothing that matters."""
_SUSPECT = 3.0
"""Robust standard deviations beyond which a value takes no part in the fit by which it is judged."""
_HALVED = float(np.log(2))
_ROUNDING = 1e-9
"""What residuals of results that agree to the last digit may be."""
_FULL_LEVERAGE = 1 - 1e-9
_FEWEST_FREEDOM = 3
_PAIR, _FEW = 2, 3
_MOST = 0.2

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RobustFit:
    """What each value differs by from what the usual others let expect, and which of them stand out."""

    deviations: Floats
    """(n,) value − expectation, in the unit of the values."""
    outside: tuple[int, ...]
    """Places of the values that stand out, the farthest first."""
    undecided: tuple[tuple[int, ...], ...]
    """Places of all values of each cell in which it is not known which are the unusual ones."""
    scattered: tuple[tuple[int, ...], ...]
    """Places of all values of each cell that differ so much that none of them is the exception."""
    farthest: int
    """Place of the value that differs most, by its standard error."""
    reach: float
    """Of that value: by how many standard errors."""
    beside: int | None
    """Place of the only usual value of the same cell or block: it may as well be the one that differs."""
    told: int
    """Of how many values it is the farthest: those whose residuals tell something of their own."""

    @property
    def unusual(self) -> tuple[int, ...]:
        """Places of all that stand out or may be what does."""
        return tuple(sorted({*self.outside, *(place for places in self.undecided for place in places)}))


def robust_fit(y: Floats, cells: Codes, blocks: Codes, *, least: float = 0.0) -> RobustFit | None:
    """Fit y = cell + block + noise so that unusual values count for nothing, and find them.

    Args:
        y: (n,) natural logarithms.
        cells: (n,) numbers from 0, each occurring.
        blocks: (n,) likewise.
        least: What a value differs by, at least, to stand out; in the unit of y.

    Returns:
        None where the usual values leave less than three degrees of freedom.

    Method:
        Medians of cells and of blocks in turn (median polish: Tukey, Exploratory Data Analysis, 1977), of an
        even count the higher one of a cell and the one nearer to 0 of a block, since what goes wrong makes a
        trial slow rather than fast. Values more than three robust standard deviations away are set aside,
        least squares are fitted to the rest, and each value is held against that fit by the standard
        error of its prediction. Those beyond a gap of the tail stand out (`standing_out`). So half of the
        values of a cell may be wrong, one of three. Of two values, and of three of which one is more than
        twice both others, it is not known which are. Where only one of three or more were usual, none stands
        out: they scatter. A value that is twice what its block lets expect, and
        usual for its cell, does not: then the others of its block are held against their cells.
    """
    suspect = np.abs(rough := _polished(y, cells, blocks)) > _SUSPECT * _deviation(rough)
    kept = ~suspect
    fit = Fit(y[kept], _recoded(cells[kept]), _recoded(blocks[kept]))
    if fit.freedom < _FEWEST_FREEDOM:
        return None
    deviations, variances = _held_against(y, cells, blocks, kept, fit)
    known = ~np.isnan(deviations)
    deviations = np.where(known, deviations, rough)
    error = np.sqrt(np.where(known, variances, 1.0) * fit.variance)
    sizes = np.abs(deviations) / np.maximum(error, _ROUNDING)
    counted = known & ~_second_of_pair(cells, kept) & ~_second_of_pair(blocks, kept)
    places = np.flatnonzero(counted)
    order = places[np.argsort(-sizes[places], kind="stable")]
    number = standing_out(np.maximum(sizes[order], _ROUNDING))
    outside = [int(place) for place in order[:number] if abs(deviations[place]) > least]
    if len(outside) > _MOST * len(y):
        outside = []
    farthest = int(order[0])
    by_fit = float(deviations[farthest])
    outside = _those_of_slow_blocks(y, cells, blocks, outside, deviations)
    scattered = _scattered(cells, outside)
    of_scattered = {place for found in scattered for place in found}
    outside = [place for place in outside if place not in of_scattered]
    undecided = _undecided(deviations, cells, outside)
    unknown = {place for found in undecided for place in found}
    return RobustFit(
        deviations,
        tuple(place for place in outside if place not in unknown),
        undecided,
        scattered,
        farthest=farthest,
        reach=float(sizes[farthest]),
        beside=_only_other((cells, blocks), kept, farthest) if deviations[farthest] == by_fit else None,
        told=len(order),
    )


def _those_of_slow_blocks(
    y: Floats, cells: Codes, blocks: Codes, outside: list[int], deviations: Floats
) -> list[int]:
    """Where most of a block went wrong its median is wrong, too: name those, and not the one that was well.

    `deviations` of such a block become those from cells alone.
    """
    own = y.astype(np.float64)
    for places in _groups(cells):
        own[places] -= np.median(own[places])
    usual = _SUSPECT * _deviation(own)
    found = dict.fromkeys(outside)
    for place in outside:
        if deviations[place] > _HALVED and abs(own[place]) <= usual:
            block = np.flatnonzero(blocks == blocks[place])
            deviations[block] = own[block]
            for other in block:
                found.pop(int(other), None)
                if abs(own[other]) > usual:
                    found[int(other)] = None
    return sorted(found, key=lambda place: -abs(deviations[place]))


def _polished(y: Floats, cells: Codes, blocks: Codes) -> Floats:
    """Residuals after medians of cells and blocks."""
    of_cells, of_blocks = _groups(cells), _groups(blocks)
    left = y.astype(np.float64)
    for _ in range(_ROUNDS):
        for places in of_cells:
            left[places] -= np.sort(left[places])[len(places) // 2]
        for places in of_blocks:
            left[places] -= _nearer_to_zero(np.sort(left[places]))
    for places in of_cells:
        left[places] -= np.sort(left[places])[len(places) // 2]
    return left


def _nearer_to_zero(ordered: Floats) -> float:
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return float(min(low, high, key=abs))


def _deviation(residuals: Floats) -> float:
    """A standard deviation that a few values do not move; medians are 0 themselves and tell nothing."""
    sizes = np.abs(residuals)
    sizes = sizes[sizes > _ROUNDING]
    return max(NORMAL_MAD * float(np.median(sizes)), _ROUNDING) if len(sizes) else _ROUNDING


def _held_against(y: Floats, cells: Codes, blocks: Codes, kept: Flags, fit: Fit) -> tuple[Floats, Floats]:
    """What each value differs by from a fit without it, and the variance of that in units of the noise's."""
    deviations, variances = np.full(len(y), np.nan), np.full(len(y), np.nan)
    free = 1 - fit.leverages
    own = np.where(free > 1 - _FULL_LEVERAGE, free, np.nan)
    deviations[kept], variances[kept] = fit.residuals / own, 1 / own
    for place in np.flatnonzero(~kept):
        alone = kept.copy()
        alone[place] = True
        with_it = Fit(y[alone], _recoded(cells[alone]), _recoded(blocks[alone]))
        at = int(alone[:place].sum())
        rest = 1 - with_it.leverages[at]
        if rest > 1 - _FULL_LEVERAGE:
            deviations[place], variances[place] = with_it.residuals[at] / rest, 1 / rest
    return deviations, variances


def _second_of_pair(groups: Codes, kept: Flags) -> Flags:
    """Of two usual values of a cell or block one: their residuals are alike, and tell once."""
    second = np.zeros(len(groups), dtype=np.bool_)
    for places in _groups(groups):
        usual = places[kept[places]]
        if len(usual) == _PAIR:
            second[usual[1]] = True
    return second


def _only_other(groupings: Iterable[Codes], kept: Flags, place: int) -> int | None:
    """The only usual value that shares a group with another value, which is then known by it alone."""
    for groups in groupings:
        others = np.flatnonzero(kept & (groups == groups[place]))
        others = others[others != place]
        if len(others) == 1:
            return int(others[0])
    return None


def _scattered(cells: Codes, outside: list[int]) -> tuple[tuple[int, ...], ...]:
    """Cells of three values or more of which at most one would be usual: what others are held against."""
    found = []
    for cell in dict.fromkeys(cells[outside].tolist()):
        places = np.flatnonzero(cells == cell)
        usual = sum(int(place) not in outside for place in places)
        if len(places) > _PAIR and usual < _PAIR:
            found.append(tuple(int(place) for place in places))
    return tuple(found)


def _undecided(deviations: Floats, cells: Codes, outside: list[int]) -> tuple[tuple[int, ...], ...]:
    """Cells of which a value stands out, but it may as well be the others that are unusual."""
    found = []
    for cell in dict.fromkeys(cells[outside].tolist()):
        places = np.flatnonzero(cells == cell)
        fast = sum(place in outside and deviations[place] > _HALVED for place in places)
        if len(places) == _PAIR or (fast and len(places) - fast <= _FEW):
            found.append(tuple(int(place) for place in places))
    return tuple(found)


def _groups(codes: Codes) -> list[Codes]:
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes))[:-1])


def _recoded(codes: Codes) -> Codes:
    """Number what is left from 0 without gaps."""
    return np.unique(codes, return_inverse=True)[1]
