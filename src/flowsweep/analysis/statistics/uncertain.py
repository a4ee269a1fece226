"""Estimates with more than one honest standard error, of which the widest interval counts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from flowsweep.analysis.statistics.least_squares import Floats
from flowsweep.analysis.statistics.serial_correlation import resemblance

_FEWEST = 3
"""Values of both sides together."""
_FEWEST_DIFFERENCES = 2
_EQUAL_WITHIN = 1e-12
"""Logarithms: less is rounding of arithmetic, since a byte of 100 GB is 10 times as much."""


@dataclass(frozen=True, slots=True)
class Uncertain:
    """Some estimates, one place in each array for each of them; natural logarithms."""

    value: Floats
    """(k,)"""
    errors: Floats
    """(rules, k) standard errors, by each rule that may hold."""
    freedom: Floats
    """(rules, k) degrees of freedom of Student's t."""

    def half_widths(self, tail: Floats | float) -> Floats:
        """Half the widths of the intervals, (k,).

        Args:
            tail: Probability beyond each end, above 0; one, or (k,).
        """
        beyond: Floats = scipy.special.stdtrit(self.freedom, tail)
        return np.asarray(np.max(-self.errors * beyond, axis=0), dtype=np.float64)


def all_equal(*sides: Sequence[float]) -> bool:
    """Whether values are repeated, and those of each side are equal.

    Args:
        sides: Of at least one value each; natural logarithms.
    """
    return any(len(side) > 1 for side in sides) and all(
        float(np.ptp(np.asarray(side))) <= _EQUAL_WITHIN for side in sides
    )


def mean_difference(a: Sequence[float], b: Sequence[float], correlation: float = 0.0) -> Uncertain | None:
    """Estimate the mean of b less the mean of a.

    Args:
        a: Values of a normal distribution in order of time, at least one; natural logarithms.
        b: Likewise, of another distribution.
        correlation: Of neighbours in both; 0 takes all values to be independent.

    Returns:
        By two rules, of which the one with the wider interval counts: Student's, which takes both variances
        for the same, and Welch's (The generalization of 'Student's' problem, Biometrika 34, 1947), which does
        not. With three values against thirty Welch's alone errs in 7.5 % where 5 % are meant, and Student's
        in 40 % where the three vary three times as much; both together in at most 5.5 %. With equally many
        values Welch's is always the wider one. Student's alone where one side has a single value; None with a
        single value each.
    """
    sizes = np.array([len(a), len(b)], dtype=np.float64)
    if sizes.sum() < _FEWEST:
        return None
    alike = [resemblance(len(side), correlation) for side in (a, b)]
    factor, share, worth = (
        np.array([getattr(side, name) for side in alike]) for name in ("factor", "share", "worth")
    )
    value = np.array([float(np.mean(b)) - float(np.mean(a))])
    squares = np.array([float(np.square(np.asarray(side) - np.mean(side)).sum()) for side in (a, b)]) / share
    pooled = float(squares.sum()) / (float(sizes.sum()) - 2) * float((factor / sizes).sum())
    errors, freedoms = [np.sqrt(pooled)], [float(worth.sum()) - 2]
    if sizes.min() > 1 and pooled > 0:
        own = squares / (sizes - 1) * factor / sizes
        errors.append(np.sqrt(own.sum()))
        freedoms.append(float(own.sum() ** 2 / (own**2 / (worth - 1)).sum()))
    return Uncertain(value, np.array(errors)[:, None], np.array(freedoms)[:, None])


def mean_of(values: Sequence[float], correlation: float = 0.0) -> Uncertain | None:
    """Estimate the mean of some differences.

    Args:
        values: Of a normal distribution in order of time, at least one; natural logarithms.
        correlation: Of neighbours; 0 takes all values to be independent.

    Returns:
        By Student's t of one sample; None with a single value.
    """
    count = len(values)
    if count < _FEWEST_DIFFERENCES:
        return None
    alike = resemblance(count, correlation)
    error = float(np.std(values, ddof=1)) / np.sqrt(count) * np.sqrt(alike.factor / alike.share)
    return Uncertain(np.array([np.mean(values)]), np.array([[error]]), np.array([[alike.worth - 1.0]]))
