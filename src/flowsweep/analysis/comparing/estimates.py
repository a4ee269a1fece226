"""How far B lies above A, overall and at each point, with what tells chance."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from flowsweep.analysis.comparing.points import Point, Points
from flowsweep.analysis.statistics.design import coded
from flowsweep.analysis.statistics.point_deviations import Side, point_deviations
from flowsweep.analysis.statistics.serial_correlation import lag_one, too_alike
from flowsweep.analysis.statistics.uncertain import Uncertain, all_equal, mean_difference, mean_of
from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of

_POINTS, _PAIRS = 2, 3
"""Fewest to ask whether points vary unlike each other."""
_UNLIKE = 0.01


@dataclass(frozen=True, slots=True)
class Estimates:
    """B less A; natural logarithms of goodput."""

    shift: float
    """Overall."""
    overall: Uncertain | None
    """None where nothing tells chance."""
    counts: tuple[int, int]
    """Repeats of A and of B."""
    deviations: Uncertain | None
    """Of each point from the overall shift; None where nothing tells chance, or there is one point only."""
    series: tuple[Sequence[float], ...]
    """Repeats that may resemble their neighbours, in order of time, a value for each."""
    alone: Uncertain | None = None
    """Each point's shift by its own pairs; None unless points vary unlike each other."""
    rounded: bool = False
    """All repeats are equal, and another tool may have rounded their figures: what they vary is in digits
    that nobody has, and is not 0."""


def of_campaigns(first: Points, second: Points, common: Sequence[Point]) -> Estimates:
    """Compare two campaigns, each with repeats of its own.

    Args:
        first: Trials of A that ended well, by point.
        second: Of B.
        common: The points of both, at least one.
    """
    above = _both_repeats(first, second, common)
    rounded = all_equal(*above) and (_imported(first, common) or _imported(second, common))
    deviations = None
    if len(common) > 1:
        deviations = point_deviations(_side(first, common), _side(second, common))
    return Estimates(
        shift=mean(above[1]) - mean(above[0]),
        overall=None if rounded else _difference(*above),
        counts=(len(above[0]), len(above[1])),
        deviations=deviations,
        series=above,
        rounded=rounded,
    )


def of_pairs(
    first: Points, second: Points, common: Sequence[Point], *, spread_out: bool = False
) -> Estimates:
    """Compare two settings of one campaign by the differences of trials that ran side by side.

    Which trial of a pair ran first was drawn: where A and B are alike, what trials have in common with those
    before them comes into the differences with a sign that is drawn each time, and resembles nothing. Where
    they are not alike, by how much may depend on the hour: of repeats that are spread out over a day, the
    mean is as sure as their resemblance leaves it.

    Args:
        first: Trials of A that ended well, by point.
        second: Their partners of B, in the same places.
        common: The points of both, at least one.
        spread_out: Repeats are so far apart in time that differences may depend on it.
    """
    pairs = [
        (place, b["repeat"], math.log(goodput_of(b)) - math.log(goodput_of(a)))
        for place, point in enumerate(common)
        for a, b in zip(first[point], second[point], strict=True)
    ]
    places, repeats, differences = (list(column) for column in zip(*pairs, strict=True))
    of_repeats = _means_of_repeats(places, repeats, differences)
    deviations = None
    if len(common) > 1:
        side = Side(np.array(differences), np.array(places, dtype=np.intp), coded(repeats))
        deviations = point_deviations(side)
    return Estimates(
        shift=mean(of_repeats),
        overall=_mean(of_repeats) if spread_out else mean_of(of_repeats),
        counts=(len(of_repeats), len(of_repeats)),
        deviations=deviations,
        series=(of_repeats,) if spread_out else (),
        alone=None if spread_out else _alone(places, repeats, differences),
    )


def _alone(points: Sequence[int], repeats: Sequence[int], differences: Sequence[float]) -> Uncertain | None:
    """Estimate each point by its own pairs, where points vary unlike each other and lack none.

    The variance of a point that varies much more than others is no measure of theirs (Bartlett 1937,
    Properties of sufficiency and statistical tests, Proceedings of the Royal Society A 160; p below 1 %).
    """
    own = [
        np.array([value for place, value in zip(points, differences, strict=True) if place == point])
        for point in range(max(points) + 1)
    ]
    count = len(set(repeats))
    if len(own) < _POINTS or count < _PAIRS or any(len(values) != count for values in own):
        return None
    if not all(np.ptp(values) > 0 for values in own) or scipy.stats.bartlett(*own).pvalue >= _UNLIKE:
        return None
    found = [mean_of(values.tolist()) for values in own]
    known = [one for one in found if one is not None]
    return Uncertain(
        np.concatenate([one.value for one in known]),
        np.concatenate([one.errors for one in known], axis=1),
        np.concatenate([one.freedom for one in known], axis=1),
    )


def _means_of_repeats(points: Sequence[int], repeats: Sequence[int], values: Sequence[float]) -> list[float]:
    """Take the mean over the pairs or trials of each repeat, in order, as if all points were alike.

    What a point's mean has above that of all points is taken off, so that a repeat that lacks a point is not
    moved by it, and a point with few repeats weighs as much as any.
    """
    of_point: dict[int, list[float]] = {}
    for point, value in zip(points, values, strict=True):
        of_point.setdefault(point, []).append(value)
    above = {point: mean(own) for point, own in of_point.items()}
    centre = mean(list(above.values()))
    found: dict[int, list[float]] = {}
    for point, repeat, value in zip(points, repeats, values, strict=True):
        found.setdefault(repeat, []).append(value - above[point] + centre)
    return [mean(found[repeat]) for repeat in sorted(found)]


def _both_repeats(first: Points, second: Points, common: Sequence[Point]) -> tuple[list[float], list[float]]:
    """The repeats of both campaigns, each a mean over its trials of how far they lie above both's points."""
    centres = {point: (mean(logs(first[point])) + mean(logs(second[point]))) / 2 for point in common}
    return _repeats(first, centres), _repeats(second, centres)


def logs(rows: Sequence[TrialRow]) -> list[float]:
    """Natural logarithms of the trials' goodput in bit/s."""
    return [math.log(goodput_of(row)) for row in rows]


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean of at least one value."""
    return math.fsum(values) / len(values)


def _repeats(points: Points, centres: Mapping[Point, float]) -> list[float]:
    """In the order of the repeats."""
    above = [
        (place, row["repeat"], math.log(goodput_of(row)) - centre)
        for place, (point, centre) in enumerate(centres.items())
        for row in points[point]
    ]
    places, repeats, values = (list(column) for column in zip(*above, strict=True))
    return _means_of_repeats(places, repeats, values)


def _imported(points: Points, common: Sequence[Point]) -> bool:
    """Whether another tool measured any trial: only its figures may be rounded, the engine's are of bytes."""
    return any(row.get("imported_from") for point in common for row in points[point])


def _difference(a: Sequence[float], b: Sequence[float]) -> Uncertain | None:
    """Compare repeats; None where they resemble their neighbours so much that they tell next to nothing."""
    correlation = lag_one((a, b)) or 0.0
    return None if too_alike((a, b), correlation) else mean_difference(a, b, correlation)


def _mean(values: Sequence[float]) -> Uncertain | None:
    """Likewise of differences."""
    correlation = lag_one((values,)) or 0.0
    return None if too_alike((values,), correlation) else mean_of(values, correlation)


def _side(points: Points, common: Sequence[Point]) -> Side:
    placed = [(place, row) for place, point in enumerate(common) for row in points[point]]
    return Side(
        logs=np.array(logs([row for _, row in placed])),
        points=np.array([place for place, _ in placed], dtype=np.intp),
        repeats=coded([row["repeat"] for _, row in placed]),
    )
