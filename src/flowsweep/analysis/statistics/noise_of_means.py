"""What noise is left of means of trials: of neighbours, or of the same parts of successive periods."""

import numpy as np

from flowsweep.analysis.statistics.campaign_series import CampaignSeries
from flowsweep.analysis.statistics.least_squares import Codes, Floats


def noise_of_means(series: CampaignSeries, time_s: float) -> tuple[Floats, Floats]:
    """Covariances of the values of a series by noise of its units.

    Args:
        series: Of a campaign.
        time_s: In which the correlation of red noise falls to 1/e.

    Returns:
        (n, n) of white and of red noise (an Ornstein-Uhlenbeck process), up to a factor for each: where
        values are means, their mean variance is 1.
    """
    if not series.averages:
        apart_s = np.abs(series.starts_s[:, None] - series.starts_s[None, :])
        return np.eye(len(series.starts_s)), np.exp(-apart_s / time_s)
    white = np.diag(1 / np.bincount(series.bins))
    red = (
        _of_neighbours(series, time_s)
        if series.folded_s is None
        else _folded(series, series.folded_s, time_s)
    )
    return white / np.diagonal(white).mean(), red / np.diagonal(red).mean()


def _of_neighbours(series: CampaignSeries, time_s: float) -> Floats:
    """Of means of units that no others lie between: exp(−(b − a) / time) is a factor of each."""
    counts = np.bincount(series.bins)
    since = (series.units_s - series.starts_s[series.bins]) / time_s
    ahead, behind = (_log_means(each, series.bins) for each in (since, -since))
    apart = (series.starts_s[None, :] - series.starts_s[:, None]) / time_s
    # Of an earlier and a later one; what is on the diagonal or below it is put in its place next.
    found = np.triu(np.exp(np.minimum(ahead[:, None] + behind[None, :] - apart, 0.0)), 1)
    found = found + found.T
    np.fill_diagonal(found, [_own(series.units_s[series.bins == at], time_s) for at in range(len(counts))])
    return found


def _log_means(values: Floats, groups: Codes) -> Floats:
    """(groups,) the logarithm of the mean of the exponentials of a group's values."""
    largest = np.full(int(groups.max()) + 1, -np.inf)
    np.maximum.at(largest, groups, values)
    means = np.bincount(groups, np.exp(values - largest[groups])) / np.bincount(groups)
    return np.asarray(largest + np.log(means))


def _own(units_s: Floats, time_s: float) -> float:
    """Of the mean of some units with itself."""
    return float(np.exp(-np.abs(units_s[:, None] - units_s[None, :]) / time_s).mean())


def _folded(series: CampaignSeries, period_s: float, time_s: float) -> Floats:
    """Of means of the same parts of successive periods, as if none of their units were missing."""
    clock = series.units_s + series.began_s % period_s
    turns = (clock // period_s).astype(np.intp)
    clocks = np.bincount(series.bins, clock % period_s) / np.bincount(series.bins)
    of_values = [np.unique(turns[series.bins == at]) for at in range(len(clocks))]
    blocks = [tuple(each.tolist()) for each in of_values]
    found = np.empty((len(clocks), len(clocks)))
    known = sorted(set(blocks))
    members = [np.array([at for at, block in enumerate(blocks) if block == one]) for one in known]
    for one, own in zip(known, members, strict=True):
        for other, others in zip(known, members, strict=True):
            turns_apart, counts = _differences(np.array(one), np.array(other))
            apart_s = clocks[others][None, :] - clocks[own][:, None]
            each = np.exp(-np.abs(turns_apart * period_s + apart_s[:, :, None]) / time_s)
            found[np.ix_(own, others)] = each @ (counts / counts.sum())
    return found


def _differences(one: Codes, other: Codes) -> tuple[Codes, Codes]:
    """By how many turns those of two values lie apart, and how often."""
    return np.unique(other[None, :] - one[:, None], return_counts=True)
