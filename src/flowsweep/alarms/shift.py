"""How surely a series has shifted in its last few values: pure, on whitened values."""

import numpy as np
from numpy.typing import NDArray

from flowsweep.alarms.level import Floats, Level, Whitened

LENGTHS = (3, 4, 5, 8, 12, 20)
"""How many values ago a shift may have begun. Two values are no level: one measurement that went wrong, and
what it leaves to its neighbour, would be a shift."""


_SHARE_OF_CHANGE = 0.5
"""Of a change: half of the values since it began must have gone at least so far."""

_FAR = 2.5
"""Standard deviations beyond which a value may be a slip, which leaves nothing to the next one."""


def scores(white: Whitened, level: Level, lengths: tuple[int, ...] = LENGTHS) -> tuple[Floats, Floats]:
    """How many standard deviations of chance there are in a change of level.

    Args:
        white: (n,) Values against the level that was learned before them.
        level: That level; what it leaves uncertain counts as chance.
        lengths: Numbers of values, the last of which is the newest.

    Returns:
        (lengths, n) normal scores, positive upward, and changes in units of the values; NaN where there are
        not enough values before. Each score is the
        generalised likelihood ratio of a change that began so many values ago (Willsky and Jones 1976, IEEE
        Transactions on Automatic Control 21), as its signed root; Student's t with the degrees of freedom of
        the level, brought to normal scores by Wallace 1959 (Annals of Mathematical Statistics 30).
    """
    count = len(white.innovations)
    found = np.full((len(lengths), count), np.nan)
    changes = found.copy()
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
        changes[row, last] = sums / variance * level.sigma
        variance += np.einsum("ij,jk,ik->i", mixed, level.covariance, mixed)
        found[row, last] = normal_scores(sums / np.sqrt(variance), level.freedom)
    return found, changes


def lasting(
    white: Whitened, level: Level, length: int, places: NDArray[np.intp], changes: Floats
) -> NDArray[np.bool_]:
    """Whether changes that began so many values ago last: beside what the value before them leaves to them.

    Args:
        white: As for `scores`.
        level: Likewise.
        length: Number of values.
        places: (k,) Of the newest of them.
        changes: (k,) As `scores` has them.
    """
    begins = places - length + 1
    numbers = begins[:, None] + np.arange(length)
    # What one far away would leave is not taken from those after it: it may have been a slip.
    far = _FAR * level.sigma_of_values
    before = np.where(begins > 0, white.residuals[begins - 1], 0.0).clip(-far, far)
    left = before[:, None] * level.rho ** np.arange(1, length + 1)
    gone = (white.residuals[numbers] - left) * np.sign(changes)[:, None]
    return np.asarray(np.median(gone, axis=1) >= _SHARE_OF_CHANGE * np.abs(changes))


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
