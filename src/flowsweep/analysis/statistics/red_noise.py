"""Noise of which neighbours resemble each other, against which claims over time are held."""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from flowsweep.analysis.statistics.campaign_series import CampaignSeries
from flowsweep.analysis.statistics.least_squares import Codes, Floats
from flowsweep.analysis.statistics.noise_of_means import noise_of_means

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
NOT_REFUTED = 1.92
"""Log-likelihood below the best within which a model is not refuted: half the 95 % point of χ² with one
degree of freedom (Wilks 1938, The large-sample distribution of the likelihood ratio, Annals of Mathematical
Statistics 9)."""


@dataclass(frozen=True, slots=True)
class Noise:
    """One kind of noise. Variances are in units of that of single values."""

    red_share: float = 0.0
    time_s: float = 1.0
    """In which the correlation of the red part falls to 1/e."""
    group: int | None = None
    """Of the series' groups, those of which each is off as a whole."""
    group_variance: float = 0.0

    def covariance(self, series: CampaignSeries) -> Floats:
        """(n, n) of the values of a series."""
        white, red = noise_of_means(series, self.time_s)
        found = (1 - self.red_share) * white + self.red_share * red
        if self.group is not None:
            codes = series.groups[self.group]
            found = found + self.group_variance * (codes[:, None] == codes[None, :])
        return np.asarray(found)

    def drawn_at(
        self, series: CampaignSeries, starts_s: Floats, generator: np.random.Generator, count: int
    ) -> Floats:
        """Draw noise of single trials: (n, count), at (n,) times since the first trial, in order."""
        fresh = generator.standard_normal((2, len(starts_s), count))
        kept = np.exp(-np.diff(starts_s, prepend=-np.inf) / self.time_s)
        red = np.empty((len(starts_s), count))
        before = np.zeros(count)
        for at, share in enumerate(kept):
            before = share * before + np.sqrt(1 - share**2) * fresh[0, at]
            red[at] = before
        found = np.sqrt(self.red_share) * red + np.sqrt(1 - self.red_share) * fresh[1]
        if self.group is not None:
            codes = series.groups[self.group]
            nearest = np.clip(np.searchsorted(series.starts_s, starts_s), 0, len(codes) - 1)
            shared = generator.standard_normal((int(codes.max()) + 1, count))
            found = found + np.sqrt(self.group_variance) * shared[codes[nearest]]
        return np.asarray(found)


@dataclass(frozen=True, slots=True)
class NoiseModels:
    """Covariances that noise may have, up to a factor, of the contrasts of a series."""

    kinds: tuple[Noise, ...]
    covariances: Floats
    """(models, freedom, freedom)"""
    whiteners: Floats
    """(models, freedom, freedom) lower triangular; what they are applied to has unit covariance."""
    log_roots: Floats
    """(models,) half the logarithm of the determinant of the covariance."""

    @property
    def grouped(self) -> tuple[bool, ...]:
        """Whether whole repeats or days may be off."""
        return tuple(kind.group is not None for kind in self.kinds)

    @property
    def freedom(self) -> int:
        """Of the contrasts."""
        return int(self.whiteners.shape[1])


def noise_models(series: CampaignSeries) -> NoiseModels:
    """List what noise a series may have.

    Args:
        series: Of a campaign.

    Returns:
        White noise; sums of white noise and a first-order autoregression in continuous time (an
        Ornstein-Uhlenbeck process; Jones 1993, Longitudinal Data with Serial Correlation) with correlation
        times from less than a step of the series to twice its span; and these with a deviation that all
        values of a repeat or of a day share.
    """
    times = _times_s(series)
    kinds = [Noise(), *(Noise(share, time_s) for time_s, share in product(times, _RED_SHARES))]
    bases = [Noise(), *(Noise(_RED_OF_GROUPS, time_s) for time_s in times[1::3])]
    kinds += [
        replace(base, group=group, group_variance=variance)
        for group, base, variance in product(range(len(series.groups)), bases, _GROUP_VARIANCES)
    ]
    contrasts = series.contrasts
    covariances = np.array([contrasts.T @ kind.covariance(series) @ contrasts for kind in kinds])
    roots = np.linalg.cholesky(covariances)
    return NoiseModels(
        kinds=tuple(kinds),
        covariances=covariances,
        whiteners=np.linalg.inv(roots),
        log_roots=np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1),
    )


def _times_s(series: CampaignSeries) -> list[float]:
    gaps = np.diff(series.starts_s)
    step_s = float(np.median(gaps[gaps > 0]))
    shortest, longest = _SHORTEST_TIME * step_s, _LONGEST_TIME * series.span_s
    count = min(_MOST_TIMES, 1 + max(1, round(np.log2(longest / shortest))))
    return [float(time) for time in np.geomspace(shortest, longest, count)]


def plausible(log_likelihoods: Floats, within: float = NOT_REFUTED) -> Codes:
    """Find the models that the data do not refute: (models,) log-likelihoods to numbers of models."""
    return np.flatnonzero(log_likelihoods >= log_likelihoods.max() - within)


def drawn(models: NoiseModels, number: int, generator: np.random.Generator, count: int) -> Floats:
    """Draw noise of a model: (freedom, count) contrasts, up to a factor."""
    root = np.linalg.cholesky(models.covariances[number])
    return np.asarray(root @ generator.standard_normal((models.freedom, count)))
