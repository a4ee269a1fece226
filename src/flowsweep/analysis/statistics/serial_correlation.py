"""How much independent values would tell that a series of values that resemble their neighbours tells."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FEWEST = 8
"""Values of a series from which on its correlation is estimated."""
FEWEST_WORTH = 3.0
"""A long series that is worth fewer independent values decides nothing."""
_MOST = 0.98
_LEAST_SHARE = 0.05
_FEWEST_WORTH = 1.2


@dataclass(frozen=True, slots=True)
class Resemblance:
    """A series of n values, taken as first-order autoregressive."""

    factor: float
    """Of the variance of its mean, against that of independent values; 1 where they are."""
    share: float
    """Share of the values' variance that they show about their own mean, against independent values."""
    worth: float
    """As many independent values would have a mean as sure."""


def too_alike(series: Sequence[Sequence[float]], correlation: float) -> bool:
    """Whether a long series is worth too few independent values for its mean to be compared."""
    return any(
        len(values) >= FEWEST and resemblance(len(values), correlation).worth < FEWEST_WORTH
        for values in series
    )


def lag_one(series: Sequence[Sequence[float]]) -> float | None:
    """Estimate how much values resemble the ones before them.

    Args:
        series: One or more, in order of time, of the same correlation; those of fewer than `FEWEST` values
            tell nothing of it.

    Returns:
        The correlation, at least 0 and at most 0.98, freed of the bias that estimated means bring (F. H. C.
        Marriott and J. A. Pope, Bias in the estimation of autocorrelations, Biometrika 41, 1954); None where
        no series is long enough.
    """
    long = [np.asarray(values) - np.mean(values) for values in series if len(values) >= FEWEST]
    square = sum(float(values @ values) for values in long)
    if not long or square == 0:
        return None
    count = sum(map(len, long))
    raw = sum(float(values[1:] @ values[:-1]) for values in long) / square
    return float(np.clip((raw * count + len(long)) / (count - 3 * len(long)), 0.0, _MOST))


def resemblance(count: int, correlation: float) -> Resemblance:
    """Say what a series of some values with a correlation of neighbours is worth.

    Args:
        count: Of values, at least one.
        correlation: From 0 to below 1.
    """
    lags = np.arange(1, count)
    factor = 1 + 2 * float(((1 - lags / count) * correlation**lags).sum())
    share = (count - factor) / (count - 1) if count > 1 else 1.0
    return Resemblance(factor, max(share, _LEAST_SHARE), max(count / factor, min(_FEWEST_WORTH, count)))
