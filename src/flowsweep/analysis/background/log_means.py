"""Mean logarithms of points with few repeats, whose variances lend each other what they have in common."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

import numpy as np
import scipy

from flowsweep.analysis.statistics.intervals import half_width
from flowsweep.moderated_variances import moderated

Key = TypeVar("Key", bound=Hashable)
_LEAST_VARIANCE = 1e-18
"""Of natural logarithms: repeats that agree better do so by rounding."""


@dataclass(frozen=True, slots=True)
class LogMean:
    """A mean of natural logarithms, or a sum of several with weights; independent of others."""

    value: float
    variance: float | None
    """Of the mean; None where nothing tells the noise."""
    freedom: float

    def times(self, weight: float) -> Self:
        """Return it with a weight."""
        variance = None if self.variance is None else weight * weight * self.variance
        return type(self)(weight * self.value, variance, self.freedom)

    def plus(self, other: Self) -> Self:
        """Return the sum; its degrees of freedom are Satterthwaite's (1946, Biometrics Bulletin 2)."""
        if self.variance is None or other.variance is None:
            return type(self)(self.value + other.value, None, 0.0)
        variance = self.variance + other.variance
        parts = self.variance**2 / self.freedom + other.variance**2 / other.freedom
        return type(self)(self.value + other.value, variance, variance**2 / parts)

    @property
    def p_value(self) -> float | None:
        """Of "the mean is 0", by Student's t, both sides."""
        if self.variance is None:
            return None
        return float(2 * scipy.stats.t.sf(abs(self.value) / math.sqrt(self.variance), self.freedom))

    @property
    def interval(self) -> tuple[float, float] | None:
        """Ends of the 95 % interval."""
        if self.variance is None:
            return None
        half = half_width(math.sqrt(self.variance), self.freedom)
        return self.value - half, self.value + half

    def within(self, margin: float) -> bool:
        """Whether the interval lies within a relative margin."""
        ends = self.interval
        return ends is not None and max(map(abs, ends)) <= math.log1p(margin)


def log_means(values: Mapping[Key, Sequence[float]]) -> dict[Key, LogMean]:
    """Take the mean of the logarithms of each point.

    Args:
        values: Natural logarithms of each point's trials, at least one each.

    Returns:
        By point. Each point's variance is drawn towards what all have in common, as far as they are alike
        (`moderated`, after Smyth 2004): three repeats alone would hardly tell. A point with a single trial
        has no variance: it may be unlike all others.
    """
    repeated = [key for key, logs in values.items() if len(logs) > 1]
    found = {key: LogMean(float(np.mean(logs)), None, 0.0) for key, logs in values.items()}
    if not repeated:
        return found
    variances = np.array([max(float(np.var(values[key], ddof=1)), _LEAST_VARIANCE) for key in repeated])
    freedom = np.array([len(values[key]) - 1 for key in repeated], dtype=np.float64)
    drawn = moderated(variances, freedom)
    for key, variance in zip(repeated, drawn.variances, strict=True):
        found[key] = LogMean(found[key].value, float(variance) / len(values[key]), drawn.freedom)
    return found
