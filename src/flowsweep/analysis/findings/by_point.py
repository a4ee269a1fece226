"""Where points of a grid differ in a time: between what it lies, and at which points, in place of a mean."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import scipy

from flowsweep.analysis.axes import level_of, setting_axes, setting_words
from flowsweep.analysis.statistics.intervals import half_width
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import CONFIDENCE, EQUIVALENCE_MARGIN, FEWEST_FOR_INTERVAL
from flowsweep.grouping import grouped
from flowsweep.wording import counted, with_interval

METHOD = (
    "points differ by Tukey's range test with the spread of their repeats (Tukey and Kramer); means of "
    "points, t intervals over the repeats of each, not corrected for the choice of points"
)

METHOD_POSITIVE = "intervals are of the logarithm of each mean (delta method), as no value is below 0"


@dataclass(frozen=True, slots=True)
class PointMean:
    """The mean over the repeats of a point, with the ends of its interval; none of fewer than three."""

    name: str
    value: float
    low: float | None
    high: float | None
    trials: tuple[str, ...]


def unlike_points(
    found: Sequence[tuple[TrialRow, float]], *, positive: bool = False
) -> tuple[PointMean, ...]:
    """Tell what a quantity is at each point, where points are shown to differ.

    Args:
        found: Trials of one direction of a sweep, each with what was found of it, in any unit.
        positive: Whether all values are above 0 by what they are: then no interval reaches below.

    Returns:
        One for each point, the lowest first; nothing where no two points differ by more than their repeats
        scatter and than what is of practical effect, and where nobody knows, as points ran once.
    """
    rows = [row for row, _ in found]
    axes = setting_axes(rows)
    points = list(grouped(found, lambda one: tuple(level_of(one[0], axis) for axis in axes)).values())
    if len(points) == 1 or not _differ([[value for _, value in point] for point in points]):
        return ()
    means = (_mean(point, axes, positive=positive) for point in points)
    return tuple(sorted(means, key=lambda point: point.value))


def between_words(points: Sequence[PointMean], write: Callable[[float], str]) -> str:
    """Say between what it lies: "between 6 ms (the least of 4 points: 1 flow, bbr) and 185 ms (the most: …)".

    Args:
        points: From `unlike_points`.
        write: How a value is written, with its unit.
    """
    least, most = (
        with_interval(write, point.value, point.low, point.high) for point in (points[0], points[-1])
    )
    of = counted(len(points), "point")
    return f"between {least} (the least of {of}: {points[0].name}) and {most} (the most: {points[-1].name})"


def whole_repeats(rows: Sequence[TrialRow]) -> list[list[int]]:
    """Choose trials so that each repeat has the same points: else those missing change what its mean is of.

    Args:
        rows: Of one direction of a sweep.

    Returns:
        Places in `rows`, a list for each repeat: of the points that all repeats have; where more trials are
        left without the repeats that have fewest points, without those, but never of less than three. All in
        one list where repeats share no point.
    """
    axes = setting_axes(rows)
    by_repeat = grouped(range(len(rows)), lambda place: rows[place]["repeat"]).values()
    repeats = [
        grouped(own, lambda place: tuple(level_of(rows[place], axis) for axis in axes)) for own in by_repeat
    ]
    fullest = sorted(repeats, key=len, reverse=True)
    most = 0
    found = [list(range(len(rows)))]
    for count in range(len(fullest), min(FEWEST_FOR_INTERVAL, len(fullest)) - 1, -1):
        shared = set.intersection(*map(set, fullest[:count]))
        if count * len(shared) > most:
            most = count * len(shared)
            found = [
                [place for point, own in repeat.items() if point in shared for place in own]
                for repeat in fullest[:count]
            ]
    return found


def left_out_words(count: int) -> str:
    """Say of how many trials a mean over whole repeats is without; nothing of none."""
    if not count:
        return ""
    return f" Means of repeats are without {counted(count, 'trial')} of points that not all of these have."


def _differ(points: Sequence[Sequence[float]]) -> bool:
    """Whether the lowest and the highest mean differ; the spread is that of the repeats of all points."""
    freedom = sum(len(values) - 1 for values in points)
    if freedom == 0:
        return False
    lowest, highest = (choose(points, key=fmean) for choose in (min, max))
    gap = fmean(highest) - fmean(lowest)
    if gap <= EQUIVALENCE_MARGIN * abs(fmean(highest)):
        return False
    squares = sum((value - fmean(values)) ** 2 for values in points for value in values)
    error = math.sqrt(squares / freedom / 2 * (1 / len(lowest) + 1 / len(highest)))
    if error == 0:
        return True
    return float(scipy.stats.studentized_range.sf(gap / error, len(points), freedom)) <= 1 - CONFIDENCE


def _mean(point: Sequence[tuple[TrialRow, float]], axes: Sequence[str], *, positive: bool) -> PointMean:
    values = [value for _, value in point]
    mean, low, high = fmean(values), None, None
    if len(values) >= FEWEST_FOR_INTERVAL:
        half = half_width(float(scipy.stats.sem(values)), len(values) - 1)
        low, high = mean - half, mean + half
        if positive:
            times = math.exp(half / mean)
            low, high = mean / times, mean * times
    row = point[0][0]
    # What the file of an imported trial does not say need not be the host's default.
    told = [axis for axis in axes if level_of(row, axis) is not None or not row.get("imported_from")]
    trials = tuple(row["trial_id"] for row, _ in point)
    return PointMean(setting_words(row, told), mean, low, high, trials)
