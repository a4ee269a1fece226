"""Trials that failed in two campaigns, and what a comparison would say if they were the slow ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import scipy

from flowsweep.analysis.comparing.points import Point, Points, point_of
from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of
from flowsweep.defaults import SIGNIFICANCE
from flowsweep.tests import facts_of


@dataclass(frozen=True, slots=True)
class Failures:
    """How many trials failed, at the points that both campaigns ran."""

    failed: tuple[Mapping[Point, int], Mapping[Point, int]]
    """In A and in B, of each point: those that are not `ok`."""
    trials: tuple[Mapping[Point, int], Mapping[Point, int]]
    """Of each point, those that failed included."""

    @property
    def totals(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Trials that failed and all trials, of A and of B."""
        first, second = (
            (sum(failed.values()), sum(trials.values()))
            for failed, trials in zip(self.failed, self.trials, strict=True)
        )
        return first, second

    @property
    def any_failed(self) -> bool:
        """Whether any trial failed in either."""
        return any(failed for failed, _ in self.totals)

    @property
    def p_value(self) -> float | None:
        """Of "trials fail as often in both", taking failures to be independent; None where none failed.

        By Fisher's exact test (The logic of inductive inference, Journal of the Royal Statistical Society 98,
        1935).
        """
        if not self.any_failed:
            return None
        table = [[failed, trials - failed] for failed, trials in self.totals]
        return float(scipy.stats.fisher_exact(table).pvalue)

    @property
    def of_whole_points(self) -> tuple[bool, bool]:
        """Whether there are points at which all trials of A failed, and such of B."""
        first, second = (
            any(failed[point] == trials[point] for point in failed)
            for failed, trials in zip(self.failed, self.trials, strict=True)
        )
        return first, second

    @property
    def beyond_chance(self) -> tuple[bool, bool]:
        """Whether trials of A fail more often than those of B, and the other way round, at 5 %."""
        if self.p_value is None or self.p_value >= SIGNIFICANCE:
            return False, False
        (failed_a, trials_a), (failed_b, trials_b) = self.totals
        more_in_a = failed_a * trials_b > failed_b * trials_a
        return more_in_a, not more_in_a


def failures(a: Sequence[TrialRow], b: Sequence[TrialRow]) -> Failures:
    """Count the trials of tests with goodput that failed at the points that both ran, even if all did.

    Args:
        a: Rows of the first campaign's summary.
        b: Rows of the second's.
    """
    placed = [
        [(point_of(row), row["status"] != "ok") for row in rows if facts_of(row["test"]).bulk]
        for rows in (a, b)
    ]
    wanted = {point for point, _ in placed[0]} & {point for point, _ in placed[1]}
    failed, trials = [], []
    for own in placed:
        trials.append(Counter(point for point, _ in own if point in wanted))
        failed.append(Counter(point for point, fell in own if fell and point in wanted))
    return Failures((failed[0], failed[1]), (trials[0], trials[1]))


def trimmed(first: Points, second: Points, failed: Failures) -> tuple[Points, Points]:
    """Leave out slow trials until the same share is missing at each point of both campaigns.

    Args:
        first: Trials of A that ended well, by point.
        second: Of B.
        failed: How many did not.

    Returns:
        Both without the slowest trials of whichever has fewer failures at the point: what would be left of it
        if it, too, had lost its slow trials (D. S. Lee, Training, wages, and sample selection: estimating
        sharp bounds on treatment effects, Review of Economic Studies 76, 2009; the bound at which the slow
        ones are missing). Points of which nothing is left are out of both.
    """
    kept: tuple[Points, Points] = ({}, {})
    for point in first.keys() & second.keys():
        well = len(first[point]), len(second[point])
        trials = [well[side] + failed.failed[side].get(point, 0) for side in (0, 1)]
        for side, rows in enumerate((first[point], second[point])):
            other = 1 - side
            count = min(well[side], trials[side] * well[other] // trials[other])
            fastest = sorted(rows, key=goodput_of, reverse=True)[:count]
            if fastest:
                kept[side][point] = fastest
    return kept


def trimmed_pairs(first: Points, second: Points, failed: Failures) -> tuple[Points, Points]:
    """Leave out pairs as if those that were lost had been the ones in which the failed trial was slowest.

    Args:
        first: Trials of A whose partner ended well, too, by point.
        second: The partners, in the same places.
        failed: How many of the points' trials did not.

    Returns:
        Both without, for each trial of B that failed, the pair in which B is furthest ahead, and for each of
        A the one in which A is: what is left is in the middle, wherever at its own end the lost ones were.
        Points of which nothing is left are out of both.
    """
    kept: tuple[Points, Points] = ({}, {})
    for point in first:
        both = sorted(
            zip(first[point], second[point], strict=True),
            key=lambda pair: goodput_of(pair[1]) / goodput_of(pair[0]),
        )
        lost_a, lost_b = (failed.failed[side].get(point, 0) for side in (0, 1))
        left = sorted(both[lost_a : max(len(both) - lost_b, 0)], key=lambda pair: pair[0]["repeat"])
        if left:
            kept[0][point], kept[1][point] = [one for one, _ in left], [other for _, other in left]
    return kept
