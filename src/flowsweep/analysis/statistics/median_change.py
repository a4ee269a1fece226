"""By how much values changed from one time to another, by medians, which few odd trials do not move."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from flowsweep.scatter import NORMAL_MAD

_OF_MEDIAN = 1.2533
"""Standard error of a median over that of a mean, of many normal values."""


@dataclass(frozen=True, slots=True)
class MedianChange:
    """After less before, in the unit of the values."""

    value: float
    error: float
    """Its standard error."""


def median_change(points: Iterable[tuple[Sequence[float], Sequence[float]]]) -> MedianChange | None:
    """Estimate a change that points have in common.

    Args:
        points: Values of each before and after; those without values of both do not count.

    Returns:
        The mean over points of the difference of medians. The spread is the median absolute deviation from
        the medians, the same at all points. None where no point counts.
    """
    changes, deviations, variance = [], list[float](), 0.0
    for sides in points:
        if all(sides):
            middles = [median(side) for side in sides]
            changes.append(middles[1] - middles[0])
            variance += sum(1 / len(side) for side in sides)
            deviations += [
                abs(one - middle) for side, middle in zip(sides, middles, strict=True) for one in side
            ]
    if not changes:
        return None
    error = NORMAL_MAD * _OF_MEDIAN * median(deviations) * math.sqrt(variance) / len(changes)
    return MedianChange(fmean(changes), error)
