"""Means of what varies by factors: goodputs of repeats, ratios, times."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from flowsweep.defaults import CONFIDENCE


@dataclass(frozen=True, slots=True)
class GeometricMean:
    """A mean with the ends of its 95 % interval, in the unit of the values; of one value there is none."""

    value: float
    low: float | None
    high: float | None


def geometric_mean(values: Sequence[float]) -> GeometricMean:
    """Take the mean of independent values that vary by factors, and how sure it is.

    Args:
        values: One or more, all above 0, in any unit.

    Method:
        The mean of the logarithms, with Student's t interval (Student 1908, The probable error of a mean,
        Biometrika 6), turned back (Limpert, Stahel and Abbt, Log-normal distributions across the sciences,
        BioScience 51, 2001).
    """
    logs = np.log(values)
    mean = float(logs.mean())
    if len(logs) == 1:
        return GeometricMean(math.exp(mean), None, None)
    half = float(scipy.stats.sem(logs) * scipy.stats.t.ppf((1 + CONFIDENCE) / 2, len(logs) - 1))
    return GeometricMean(math.exp(mean), math.exp(mean - half), math.exp(mean + half))
