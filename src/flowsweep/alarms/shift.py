"""How surely a series has shifted in its last few values: pure, on whitened values."""

import numpy as np

from flowsweep.alarms.level import Floats, Level, Whitened

LENGTHS = (3, 4, 5, 8, 12, 20)
"""How many values ago a shift may have begun. Two values are no level: one measurement that went wrong, and
what it leaves to its neighbour, would be a shift."""


def scores(white: Whitened, level: Level, lengths: tuple[int, ...] = LENGTHS) -> Floats:
    """How many standard deviations of chance there are in a change of level.

    Args:
        white: (n,) Values against the level that was learned before them.
        level: That level; what it leaves uncertain counts as chance.
        lengths: Numbers of values, the last of which is the newest.

    Returns:
        (lengths, n) normal scores, positive upward; NaN where there are not enough values before. Each is the
        generalised likelihood ratio of a change that began so many values ago (Willsky and Jones 1976, IEEE
        Transactions on Automatic Control 21), as its signed root; Student's t with the degrees of freedom of
        the level, brought to normal scores by Wallace 1959 (Annals of Mathematical Statistics 30).
    """
    count = len(white.innovations)
    found = np.full((len(lengths), count), np.nan)
    later = np.cumsum(white.later * white.innovations)
    squares = np.cumsum(white.later**2)
    design = np.cumsum(white.later[:, None] * white.design, axis=0)
    for row, length in enumerate(lengths):
        if length > count:
            continue
        own, last = slice(0, count - length + 1), slice(length - 1, count)
        sums = white.own[own] * white.innovations[own] + later[last] - later[own]
        mixed = white.own[own, None] * white.design[own] + design[last] - design[own]
        variance = white.own[own] ** 2 + squares[last] - squares[own]
        variance += np.einsum("ij,jk,ik->i", mixed, level.covariance, mixed)
        found[row, last] = normal_scores(sums / np.sqrt(variance), level.freedom)
    return found


def normal_scores(student: Floats, freedom: float) -> Floats:
    """Bring values of Student's t to a normal distribution (Wallace 1959)."""
    factor = (8 * freedom + 1) / (8 * freedom + 3)
    return np.asarray(np.sign(student) * factor * np.sqrt(freedom * np.log1p(student**2 / freedom)))


def change(white: Whitened, level: Level, begin: int) -> tuple[float, float]:
    """The change of level from value `begin` on, and its standard error, in units of the values."""
    effect = white.later.copy()
    effect[:begin] = 0
    effect[begin] = white.own[begin]
    mixed = effect @ white.design
    squares = float(effect @ effect)
    variance = squares + float(mixed @ level.covariance @ mixed)
    estimate = float(effect @ white.innovations) / squares
    return estimate * level.sigma, float(np.sqrt(variance)) / squares * level.sigma
