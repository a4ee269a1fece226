"""What the windows or settings that were tried gave: means with the rounds of a search as blocks."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from flowsweep.scatter import LEAST_SPREAD, NORMAL_MAD
from flowsweep.schedule.search.tried import Tried

Floats = NDArray[np.float64]

_OF_A_LOOK = 0.4


def at_each_look(confidence: float) -> float:
    """The confidence of one look, for which what is said after all looks holds with another.

    A search looks after each round and ends at the first interval that is narrow enough, which one that is
    narrow by chance is, too: for 95 % in the end it takes 98 % at each look (docs/truth/search.md).
    """
    return 1 - _OF_A_LOOK * (1 - confidence)


_LEVELS_OF_A_LINE = 3
"""Fewest that show whether goodput rises from one to the next."""
_FEWEST = 3
"""Trials of a level that show which of them is the odd one."""
_FAR = 0.03
"""From the others, natural logarithm: a trial that is nearer does no harm."""
_ODD_MOST = 2
"""Trials of a level that may be odd ones, where each level is judged by itself."""


_LINKED = 1e-6
"""What is less is rounding."""


@dataclass(frozen=True, slots=True)
class Levels:
    """Least squares of log goodput = mean of the level + effect of the round."""

    values: tuple[int, ...]
    """Windows in bytes, or numbers of settings, ascending."""
    counts: Floats
    """(levels,) trials."""
    means: Floats
    """(levels,) natural logarithm of goodput, at the mean of the rounds."""
    covariance: Floats
    """(levels, levels) of the means, in units of the variance of a trial."""
    variance: float
    """Of one trial, natural logarithms; NaN where no trial was repeated."""
    freedom: int
    """Degrees of freedom of the variance."""

    def below(self, reference: Collection[int], confidence: float) -> tuple[Floats, Floats]:
        """How far each level is below the mean of some others, at least and at most: natural logarithms.

        Args:
            reference: Numbers of the others.
            confidence: Of each of the two ends, by Student's t.

        Returns:
            (levels,) twice; infinite where nothing is known of the noise.
        """
        weights = np.zeros((len(self.values), len(self.values)))
        weights[:, list(reference)] = 1 / len(reference)
        weights -= np.eye(len(self.values))
        value = weights @ self.means
        if self.freedom < 1:
            return np.full(len(value), -math.inf), np.full(len(value), math.inf)
        spread = np.einsum("ij,jk,ik->i", weights, self.covariance, weights)
        variance = max(self.variance, LEAST_SPREAD**2)
        half = float(stdtrit(self.freedom, confidence)) * np.sqrt(np.maximum(spread, 0) * variance)
        return value - half, value + half

    def lower_than_before(self, confidence: float) -> NDArray[np.bool_]:
        """(levels,) whether a level is surely lower than some smaller one, each pair by Student's t."""
        if self.freedom < 1:
            return np.zeros(len(self.values), dtype=bool)
        own = np.diag(self.covariance)
        spread = own[:, None] + own - 2 * self.covariance
        variance = max(self.variance, LEAST_SPREAD**2)
        half = float(stdtrit(self.freedom, confidence)) * np.sqrt(np.maximum(spread, 0) * variance)
        lower = self.means[:, None] - self.means > half
        return np.asarray(np.triu(lower, 1).any(axis=0))

    @property
    def linked(self) -> NDArray[np.bool_]:
        """(levels, levels) which two are compared at all: by a round with both, or by others between."""
        known = np.linalg.pinv(self.covariance, hermitian=True) @ self.covariance
        return np.asarray(np.abs(known) > _LINKED)

    def falls_from(self, confidence: float) -> float:
        """The least level beyond the best one that is surely lower than some smaller one; or infinite."""
        beyond = slice(int(self.means.argmax()) + 1, None)
        lower = self.lower_than_before(confidence)
        return min(np.asarray(self.values)[beyond][lower[beyond]].tolist(), default=math.inf)

    def rise_beyond(self, start: float, confidence: float) -> float:
        """By how much goodput rises from a level to the largest, if that is sure: a line, by least squares.

        Args:
            start: The natural logarithm of that level.
            confidence: That goodput rises at all, by Student's t.

        Returns:
            The natural logarithm; 0 where goodput may as well not rise.
        """
        logs = np.log(self.values)
        beyond = logs > start
        if self.freedom < 1 or beyond.sum() < _LEVELS_OF_A_LINE:
            return 0.0
        weights = self.counts * beyond
        apart = logs - (weights @ logs) / weights.sum()
        slope = weights * apart / (weights @ apart**2)
        variance = max(self.variance, LEAST_SPREAD**2) * float(slope @ self.covariance @ slope)
        rises = float(slope @ self.means)
        half = float(stdtrit(self.freedom, confidence)) * math.sqrt(max(variance, 0.0))
        return rises * float(logs[-1] - start) if rises > half else 0.0


def levels_of(tried: Sequence[Tried]) -> Levels:
    """Estimate the mean of each level; what a round has in common, drift for one, moves none of them."""
    values = sorted({one.level for one in tried})
    rounds = Blocks.of([one.round for one in tried])
    member = membership([one.level for one in tried])
    logs = np.array([one.log_goodput for one in tried])
    within = rounds.within(member)
    logs_within = rounds.within(logs)
    covariance: Floats = np.asarray(np.linalg.pinv(within.T @ within, hermitian=True), dtype=np.float64)
    means = covariance @ (within.T @ logs_within)
    residuals = logs_within - within @ means
    # Levels are told apart by their differences within rounds: all of them together are fixed here.
    means += rounds.means(logs - member @ means).mean()
    freedom = len(tried) - rounds.count - int(np.linalg.matrix_rank(within))
    return Levels(
        values=tuple(values),
        counts=member.sum(axis=0),
        means=means,
        covariance=covariance,
        variance=float(residuals @ residuals) / freedom if freedom > 0 else math.nan,
        freedom=freedom,
    )


def in_agreement(tried: Sequence[Tried], *, fewest: int = _FEWEST, own: bool = False) -> tuple[Tried, ...]:
    """Leave out trials that most others of their level contradict: a host that stalled tells nothing of it.

    Of levels with enough trials, those further from the median than by `_FAR` and by six times the median
    distance, as a standard deviation (Rousseeuw and Croux 1993, Alternatives to the median absolute
    deviation, JASA 88).

    Args:
        tried: Trials that were whole.
        fewest: Trials of a level that show which of them is the odd one.
        own: The median distance is that of the level's trials, where levels scatter unlike each other; else
            of all such trials. More than a quarter of them, or than two, are then no odd ones, nor is one
            above the others, which no stall explains: the level has a bad state, which its mean is to have.
            All of its trials are kept.
    """
    logs: dict[int, list[float]] = {}
    for one in tried:
        logs.setdefault(one.level, []).append(one.log_goodput)
    apart = {
        level: np.array(values) - np.median(values) for level, values in logs.items() if len(values) >= fewest
    }
    if not apart:
        return tuple(tried)
    common = np.concatenate(list(apart.values()))
    limits = {
        level: max(_FAR, 6 * NORMAL_MAD * float(np.median(np.abs(distances if own else common))))
        for level, distances in apart.items()
    }
    if own:
        limits = {level: limit for level, limit in limits.items() if _stalled_at_most(apart[level], limit)}
    return tuple(
        one
        for one in tried
        if one.level not in limits
        or abs(one.log_goodput - float(np.median(logs[one.level]))) <= limits[one.level]
    )


def _stalled_at_most(distances: Floats, limit: float) -> bool:
    """Whether those of a level's trials that are odd may be stalls: few, and none above the others."""
    odd = np.count_nonzero(np.abs(distances) > limit)
    return bool(odd <= min(len(distances) // 4, _ODD_MOST) and distances.max() <= limit)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Which trials were in one round."""

    number: NDArray[np.intp]
    """(trials,) of its round, from 0 on."""
    count: int
    """Of rounds."""

    @classmethod
    def of(cls, rounds: Sequence[int]) -> "Blocks":
        """From the round of each trial."""
        distinct, number = np.unique(rounds, return_inverse=True)
        return cls(number, len(distinct))

    def means(self, values: Floats) -> Floats:
        """(rounds, …) of (trials, …)."""
        sums = np.zeros((self.count, *values.shape[1:]))
        np.add.at(sums, self.number, values)
        trials = np.bincount(self.number)
        return np.asarray(sums / trials.reshape(-1, *[1] * (values.ndim - 1)))

    def within(self, values: Floats) -> Floats:
        """(trials, …) without what all trials of a round have in common."""
        return np.asarray(values - self.means(values)[self.number])


def membership(values: Sequence[int]) -> Floats:
    """(values, distinct values, ascending) 1 where a value is that of the column, 0 elsewhere."""
    distinct, column = np.unique(values, return_inverse=True)
    return np.eye(len(distinct))[column]
