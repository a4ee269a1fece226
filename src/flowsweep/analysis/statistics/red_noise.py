"""Noise of which neighbours resemble each other: the models that tests of claims over time are held against."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from flowsweep.analysis.statistics.campaign_series import CampaignSeries
from flowsweep.analysis.statistics.least_squares import Codes, Floats

_RED_SHARES = (0.3, 0.65, 0.98)
"""Of the variance; the rest is white."""
_MOST_TIMES = 8
_SHORTEST_TIME = 0.83
"""Correlation time in steps of the series: a correlation of 0.3 between neighbours."""
_LONGEST_TIME = 2.0
"""In spans of the series: what lasts longer looks alike."""
_GROUP_VARIANCES = (0.1, 0.5, 3.0, 20.0)
"""What a repeat or a day shares, by the variance of single values."""
_RED_OF_GROUPS = 0.6
_NOT_REFUTED = 0.5
"""Log-likelihood below the best within which a model is not refuted: half a unit of χ², a standard deviation
(Wilks 1938, The large-sample distribution of the likelihood ratio, Annals of Mathematical Statistics 9)."""


@dataclass(frozen=True, slots=True)
class NoiseModels:
    """Covariances that noise may have, up to a factor, of the contrasts of a series."""

    covariances: Floats
    """(models, freedom, freedom)"""
    whiteners: Floats
    """(models, freedom, freedom) lower triangular; what they are applied to has unit covariance."""
    log_roots: Floats
    """(models,) half the logarithm of the determinant of the covariance."""
    grouped: tuple[bool, ...]
    """Whether whole repeats or days may be off."""

    @property
    def freedom(self) -> int:
        """Of the contrasts."""
        return self.whiteners.shape[1]


def noise_models(series: CampaignSeries) -> NoiseModels:
    """List what noise a series may have.

    Args:
        series: Of a campaign.

    Returns:
        White noise; sums of white noise and a first-order autoregression in continuous time (an
        Ornstein-Uhlenbeck process; Jones 1993, Longitudinal Data with Serial Correlation) with correlation
        times from less than a step of the series to twice its span; and these with a deviation that all values
        of a repeat or of a day share.
    """
    apart = np.abs(series.starts_s[:, None] - series.starts_s[None, :])
    times = _times_s(series)
    white = np.eye(len(series.starts_s))
    red = {time_s: np.exp(-apart / time_s) for time_s in times}
    found = [white, *((1 - share) * white + share * red[time] for time, share in product(times, _RED_SHARES))]
    plain = len(found)
    bases = [white, *((1 - _RED_OF_GROUPS) * white + _RED_OF_GROUPS * red[time] for time in times[1::3])]
    found += [
        base + variance * (codes[:, None] == codes[None, :])
        for codes, base, variance in product(series.groups, bases, _GROUP_VARIANCES)
    ]
    return _models(series.contrasts, found, plain)


def _models(contrasts: Floats, covariances: Sequence[Floats], plain: int) -> NoiseModels:
    projected = np.array([contrasts.T @ covariance @ contrasts for covariance in covariances])
    roots = np.linalg.cholesky(projected)
    return NoiseModels(
        covariances=projected,
        whiteners=np.linalg.inv(roots),
        log_roots=np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1),
        grouped=tuple(place >= plain for place in range(len(covariances))),
    )


def _times_s(series: CampaignSeries) -> list[float]:
    gaps = np.diff(series.starts_s)
    step_s = float(np.median(gaps[gaps > 0]))
    shortest, longest = _SHORTEST_TIME * step_s, _LONGEST_TIME * series.span_s
    count = min(_MOST_TIMES, 1 + max(1, round(np.log2(longest / shortest))))
    return [float(time) for time in np.geomspace(shortest, longest, count)]


def plausible(log_likelihoods: Floats) -> Codes:
    """Find the models that the data do not refute: (models,) log-likelihoods to numbers of models."""
    return np.flatnonzero(log_likelihoods >= log_likelihoods.max() - _NOT_REFUTED)


def drawn(models: NoiseModels, number: int, generator: np.random.Generator, count: int) -> Floats:
    """Draw noise of a model: (freedom, count) contrasts, up to a factor."""
    root = np.linalg.cholesky(models.covariances[number])
    return np.asarray(root @ generator.standard_normal((models.freedom, count)))
