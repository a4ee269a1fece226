"""Between which trials goodput stepped, as far as they tell."""

import numpy as np

from flowsweep.analysis.statistics.campaign_series import CampaignSeries
from flowsweep.analysis.statistics.least_squares import Floats

_NOT_REFUTED = 3.68
"""Log-likelihood below the best within which a moment is not refuted: −ln(1 − √0.95), the 95 % point of long
series (Hinkley 1970, Inference about the change-point in a sequence of random variables, Biometrika 57)."""


def around(series: CampaignSeries, place: int) -> tuple[float, float]:
    """Times of the last unit before a value and the first of it, in seconds since the first trial."""
    since = series.bins >= place
    low, high = sorted((float(series.units_s[~since].max()), float(series.units_s[since].min())))
    return low, high


def not_refuted(
    series: CampaignSeries, places: tuple[int, ...], ratios: Floats, best: int
) -> tuple[float, float]:
    """Times of units between which a step was, in seconds since the first trial.

    Args:
        series: Of a campaign.
        places: Numbers of values that may be the first after the step.
        ratios: (places,) logarithm of the likelihood of each.
        best: The number of the likeliest of these values.

    Returns:
        All places that are not refuted lie between them. Where values are means of units, so do the units of
        the values next to them, of which a change by as much is not refuted against noise that is white.
    """
    likely = np.array(places)[ratios >= ratios.max() - _NOT_REFUTED]
    low, high = around(series, int(likely.min()))[0], around(series, int(likely.max()))[1]
    if not series.averages:
        return low, high
    near = _near(series, int(likely.min()), int(likely.max()), best)
    return min(low, near[0]), max(high, near[1])


def _near(series: CampaignSeries, lowest: int, highest: int, best: int) -> tuple[float, float]:
    """Likewise among the units of the values next to the likely ones."""
    usual = series.beyond_points
    before, since = usual[series.bins < best], usual[series.bins >= best]
    means = float(np.median(before)), float(np.median(since))
    variance = float(np.mean(np.square(np.concatenate([before - means[0], since - means[1]]))))
    own = np.flatnonzero((series.bins >= lowest - 1) & (series.bins <= highest))
    # By how much each unit is likelier after the step than before it, added up from the first one on.
    gains = (np.square(usual[own] - means[0]) - np.square(usual[own] - means[1])) / (2 * variance)
    after = np.append(np.cumsum(gains[::-1])[::-1], 0.0)
    likely = np.flatnonzero(after >= after.max() - _NOT_REFUTED)
    first, last = max(int(likely.min()), 1), min(int(likely.max()), len(own) - 1)
    return float(series.units_s[own[first - 1]]), float(series.units_s[own[last]])
