"""Whether something that happens to some trials happens more often at some hours of the day."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import scipy
from numpy.typing import NDArray

from flowsweep.analysis.statistics.simulated import SEED
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.grouping import grouped

_Counts = NDArray[np.float64]

HOURS = 24
_LONGEST = 12
"""Hours of a window; what happens at more of them is told by the others."""
_FEWEST_DAYS = 3
"""With two the rarest rotation is one of 24."""
ROTATIONS = 1_999
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class UnlikeHours:
    """The hours of the day (UTC) at which something happened most unlike at the others."""

    first: int
    """The hour that they begin with."""
    length: int
    """How many there are."""
    counts: tuple[int, int]
    """Trials to which it happened, there and at other hours."""
    sizes: tuple[int, int]
    """All trials, there and at other hours."""
    p_value: float
    """Of "the hour of the day does not matter", however what happens on a day is clustered."""


def unlike_hours(
    rows: Sequence[TrialRow],
    happened: Callable[[TrialRow], bool],
    point: Callable[[TrialRow], Hashable],
) -> UnlikeHours | None:
    """Find the hours at which something happens most unlike at others.

    Args:
        rows: Those to which it may have happened.
        happened: Whether it happened to a trial.
        point: What a trial is compared within: its direction and settings.

    Returns:
        Of all windows of 1 to 12 hours that with the highest likelihood ratio (Kulldorff, A spatial scan
        statistic, Communications in Statistics 26, 1997). The p-value is from 1999 random rotations: what
        happened on a day is rotated within it, at all points by the same part of a day, each along the starts
        that it had, so that an outage stays one, and a point that runs at some hours only says nothing of
        these. None where a start is not known, where it did not happen on three days or more, or where it
        happened at no hour more often.
    """
    if not all(row["started_at"] for row in rows):
        return None
    placed = [(_day_and_hour(row), row) for row in rows]
    days = grouped(placed, lambda one: one[0][0]).values()
    rotated = [
        _rotated([(hour, happened(row), point(row)) for (_, hour), row in own])
        for own in days
        if any(happened(row) for _, row in own)
    ]
    if len(rotated) < _FEWEST_DAYS:
        return None
    trials = np.bincount([hour for (_, hour), _ in placed], minlength=HOURS).astype(np.float64)
    return _most_unlike(np.array(rotated), trials)


def _day_and_hour(row: TrialRow) -> tuple[str, int]:
    at = datetime.fromisoformat(str(row["started_at"])).astimezone(UTC)
    return f"{at:%Y-%m-%d}", at.hour


def _rotated(own: Sequence[tuple[int, bool, Hashable]]) -> _Counts:
    """How often it happened in each hour of a day, for each of 24 rotations: (24, 24)."""
    counts = np.zeros((HOURS, HOURS))
    for part in grouped(sorted(own, key=lambda one: one[0]), lambda one: one[2]).values():
        hours, flags = np.array([hour for hour, _, _ in part]), np.array([hit for _, hit, _ in part])
        if flags.any():
            for turn in range(HOURS):
                hit = np.roll(flags, turn * len(part) // HOURS)
                counts[turn] += np.bincount(hours[hit], minlength=HOURS)
    return counts


def _most_unlike(rotated: _Counts, trials: _Counts) -> UnlikeHours | None:
    windows = [(first, length) for length in range(1, _LONGEST + 1) for first in range(HOURS)]
    inside = np.array([np.roll(np.arange(HOURS) < length, first) for first, length in windows], np.float64)
    turns = np.random.default_rng(SEED).integers(HOURS, size=(ROTATIONS, len(rotated)))
    turns = np.vstack([np.zeros((1, len(rotated)), dtype=turns.dtype), turns])
    hits = sum(own[turns[:, day]] for day, own in enumerate(rotated)) @ inside.T
    ratios = _likelihood_ratios(hits, float(rotated[:, 0].sum()), inside @ trials / trials.sum())
    best = ratios.max(axis=1)
    if best[0] <= 0:
        return None
    chosen = int(ratios[0].argmax())
    there, size = int(hits[0, chosen]), int(inside[chosen] @ trials)
    return UnlikeHours(
        *windows[chosen],
        counts=(there, int(rotated[:, 0].sum()) - there),
        sizes=(size, int(trials.sum()) - size),
        p_value=float(np.mean(best >= best[0] * (1 - _ROUNDING))),
    )


def _likelihood_ratios(hits: _Counts, of: float, shares: _Counts) -> _Counts:
    """Of more hits in a window than its share of trials lets expect, its logarithm; else 0."""
    expected = of * shares
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = scipy.special.xlogy(hits, hits / expected) + scipy.special.xlogy(
            of - hits, (of - hits) / (of - expected)
        )
    return np.where((hits > expected) & (shares > 0) & (shares < 1), ratios, 0.0)
