"""Means of the hours of the day, or of the days of the week, with what days or weeks differ by."""

from dataclasses import dataclass

import numpy as np
import scipy.stats

from flowsweep.analysis.statistics.campaign_series import CampaignSeries
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.winsorized import group_means
from flowsweep.defaults import CONFIDENCE

_ROUNDS = 20
"""Of taking out means of points and turns, in which they are far from each other seldom."""
_FEWEST_FREE = 3
"""Cells of turns and parts beyond those that their means take up."""


@dataclass(frozen=True, slots=True)
class PartMeans:
    """What parts of a cycle have in common in all its turns, natural logarithms."""

    means: Floats
    """(parts,) about their middle; nan where no trial began."""
    error: float
    """Half of the 95 % interval of a difference between two parts."""

    def amplitude(self, low: float, high: float) -> tuple[float, float, float]:
        """Half of a difference between two parts, with its interval."""
        half = (high - low) / 2
        return half, max(half - self.error / 2, 0.0), half + self.error / 2


def part_means(
    series: CampaignSeries, beside: Floats, turns: Codes, parts: Codes, count: int
) -> PartMeans | None:
    """Fit points, turns, parts and other changes by least squares; turns are replicates.

    Args:
        series: Of the trials.
        beside: (units, k) other changes over time.
        turns: (units,) which day, or which week.
        parts: (units,) which hour of it, or which day.
        count: Of all the parts of a turn.

    Returns:
        None where too few turns tell the noise.
    """
    numbers, codes = np.unique(parts, return_inverse=True)
    _, turns = np.unique(turns, return_inverse=True)
    indicators = np.eye(len(numbers))[codes]
    own = _within(indicators, series.points, turns)
    values = series.logs - beside @ _slopes(series, beside, indicators)
    values = _within(values[:, None], series.points, turns)[:, 0]
    found = np.linalg.lstsq(own, values, rcond=None)[0]
    _, cells = np.unique(turns * len(numbers) + codes, return_inverse=True)
    left = np.bincount(cells, values - own @ found) / np.bincount(cells)
    free = len(left) - len(numbers) - int(turns.max()) - beside.shape[1]
    if free < _FEWEST_FREE:
        return None
    of_part = np.bincount(np.unique(np.column_stack([cells, codes]), axis=0)[:, 1])
    deviation = float(np.sqrt(left @ left / free)) * (2 / float(of_part.min())) ** 0.5
    means = np.full(count, np.nan)
    means[numbers] = found[: len(numbers)] - found[: len(numbers)].mean()
    return PartMeans(means, float(scipy.stats.t.ppf((1 + CONFIDENCE) / 2, free)) * deviation)


def _slopes(series: CampaignSeries, beside: Floats, indicators: Floats) -> Floats:
    """(k,) coefficients of other changes, of all turns together: within them a line is as parts are."""
    alike = np.zeros(len(series.logs), dtype=np.intp)
    fixed = _within(np.column_stack([beside, indicators]), series.points, alike)
    values = series.logs - group_means(series.logs, series.points)
    return np.asarray(np.linalg.lstsq(fixed, values, rcond=None)[0][: beside.shape[1]])


def _within(columns: Floats, points: Codes, turns: Codes) -> Floats:
    """(units, k) less the means of points and of turns."""
    found = []
    for column in columns.T:
        left = column
        for _ in range(_ROUNDS if points.max() else 1):
            left = left - group_means(left, points)
            left = left - group_means(left, turns)
        found.append(left)
    return np.column_stack(found)
