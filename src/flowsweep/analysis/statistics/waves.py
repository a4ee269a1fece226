"""Cosines and sines of the day and the week."""

import numpy as np

from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.defaults import DAY_S

WEEK_S = 7 * DAY_S
HARMONICS = 2
"""Of a day: 24 and 12 hours."""
HARMONICS_OF_WEEK = 3
"""Of a week: weekends that differ from the other days are no sine."""
_FEWEST_PERIODS = 3
"""In which a step has no course alike."""


def waves(times_s: Floats, period_s: float, harmonics: int = 1) -> Floats:
    """(n, 2 · harmonics) cosines and sines of a period and its halves, thirds and so on."""
    phases = 2 * np.pi * times_s[:, None] * np.arange(1, harmonics + 1) / period_s
    return np.concatenate([np.cos(phases), np.sin(phases)], axis=1)


def days_and_weeks(values: Floats, began: Floats) -> Floats:
    """(n,) what waves of the day and the week explain of values, where there are three days or weeks.

    Args:
        values: (n,) of which the mean is 0.
        began: (n,) seconds since 1970, UTC.
    """
    shapes = [
        waves(began, period_s, harmonics)
        for period_s, harmonics in ((DAY_S, HARMONICS), (WEEK_S, HARMONICS_OF_WEEK))
        if np.ptp(began) >= _FEWEST_PERIODS * period_s
    ]
    if not shapes:
        return np.zeros(len(values))
    shape = np.column_stack(shapes)
    return np.asarray(shape @ np.linalg.lstsq(shape, values, rcond=None)[0])
