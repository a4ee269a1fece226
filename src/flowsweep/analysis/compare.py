"""Two campaigns beside each other: how much faster or slower the second is, point by point and overall."""

import math
import warnings
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy

from flowsweep.analysis.findings.multiple_testing import holm
from flowsweep.analysis.grid_points import POINT_COLUMNS
from flowsweep.defaults import EQUIVALENCE_MARGIN, SIGNIFICANCE

Row = Mapping[str, Any]
Outcome = Literal["faster", "slower", "same", "undecided"]
"""What the second campaign is beside the first."""

METHOD = (
    "overall, Welch's t over the repeats' means of log goodput; at points, Welch's t over the repeats and "
    "Holm's correction over the points"
)


@dataclass(frozen=True, slots=True)
class Shift:
    """How much goodput differs, B against A."""

    percent: float
    """100 · (ratio of geometric means − 1)."""
    interval_low_percent: float | None
    """Ends of the 95 % interval; null where a campaign has no repeats to tell chance from change."""
    interval_high_percent: float | None
    p_value: float | None
    """Of "there is no shift"; not corrected."""
    p_adjusted: float | None
    """By Holm's correction over all points; that of the overall shift stands alone."""
    repeats_a: int
    repeats_b: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class PointShift:
    """One point that both campaigns have."""

    point: Mapping[str, Any]
    """Its value of each of POINT_COLUMNS that a summary has."""
    goodput_a_bps: float
    """Geometric mean over the repeats."""
    goodput_b_bps: float
    shift: Shift


@dataclass(frozen=True, slots=True)
class Comparison:
    """B against A."""

    overall: Shift | None
    """None: no point is in both."""
    points: tuple[PointShift, ...]
    """In the order in which they first ran in A."""
    only_in_a: tuple[Mapping[str, Any], ...]
    """Points without a good trial in B."""
    only_in_b: tuple[Mapping[str, Any], ...]
    trials_a: int
    trials_b: int
    """Of the campaign, good or not."""
    not_ok_a: int
    not_ok_b: int
    """Of these: those that failed or are incomplete."""
    empty_a: int
    empty_b: int
    """And those that ended well and carried nothing, which has no logarithm."""
    margin: float
    """Share of goodput that counts as the same."""
    method: str


def compare(a: Sequence[Row], b: Sequence[Row], *, margin: float = EQUIVALENCE_MARGIN) -> Comparison:
    """Compare two campaigns over the points that both have.

    The natural logarithm of goodput (bit/s) of a trial is taken as point + campaign + repeat + chance.
    Repeats are blocks, drawn anew in each campaign: what a repeat has in common, as a quarter of an hour with
    other traffic, is chance, too. Overall, each repeat of a campaign is therefore one observation: the mean
    over its trials of log goodput less the point's mean in both campaigns. The two campaigns' observations
    are compared with Welch's t interval (B. L. Welch, Biometrika 34, 1947), which does not take them to be
    equally steady; with the t interval of equal variances where one campaign has a single repeat. At a point
    its trials are the observations. Holm's correction (1979) is over the points.

    A shift is "same" if its whole 95 % interval lies within ± margin (equivalence: Schuirmann 1987, at 2.5 %
    a side), whether it differs from 0 or not; else "faster" or "slower" if it differs from 0 at 5 %; else
    "undecided". Trials that ended well with a goodput of 0 have no logarithm: where B has such, it is not
    "faster" and not "same", where A has, B is not "slower" and not "same", but undecided.

    Args:
        a: Rows of the first campaign's summary. Those that are not `ok` or have no goodput take no part.
        b: Rows of the second's.
        margin: Share of goodput, above 0.
    """
    first, second = _by_point(a), _by_point(b)
    common = [point for point in first if point in second]
    shifts = [_shift(_logs(first[point]), _logs(second[point]), margin) for point in common]
    empty_a, empty_b = _empty(a), _empty(b)
    points = [
        PointShift(
            _named(point),
            _geometric_mean(first[point]),
            _geometric_mean(second[point]),
            _with_empty(shift, empty_a[point], empty_b[point]),
        )
        for point, shift in zip(common, _corrected(shifts, margin), strict=True)
    ]
    overall = _overall(first, second, common, margin) if common else None
    return Comparison(
        overall=None if overall is None else _with_empty(overall, empty_a.total(), empty_b.total()),
        points=tuple(points),
        only_in_a=tuple(_named(point) for point in first if point not in second),
        only_in_b=tuple(_named(point) for point in second if point not in first),
        trials_a=len(a),
        trials_b=len(b),
        not_ok_a=sum(row["status"] != "ok" for row in a),
        not_ok_b=sum(row["status"] != "ok" for row in b),
        empty_a=empty_a.total(),
        empty_b=empty_b.total(),
        margin=margin,
        method=METHOD,
    )


_Point = tuple[tuple[str, Hashable], ...]
_Points = dict[_Point, list[Row]]


def _by_point(rows: Sequence[Row]) -> _Points:
    found: _Points = {}
    for row in sorted(rows, key=lambda row: row["order_index"]):
        if row["status"] == "ok" and (row["goodput_bps"] or 0) > 0:
            found.setdefault(_point(row), []).append(row)
    return found


def _empty(rows: Sequence[Row]) -> Counter[_Point]:
    """How many trials of each point ended well and carried nothing."""
    return Counter(_point(row) for row in rows if row["status"] == "ok" and row["goodput_bps"] == 0)


def _point(row: Row) -> _Point:
    return tuple((name, _hashable(row[name])) for name in POINT_COLUMNS if name in row)


def _hashable(value: object) -> Hashable:
    return tuple(value) if isinstance(value, list) else value


def _named(point: _Point) -> dict[str, Any]:
    return dict(point)


def _logs(rows: Sequence[Row]) -> list[float]:
    return [math.log(row["goodput_bps"]) for row in rows]


def _geometric_mean(rows: Sequence[Row]) -> float:
    return math.exp(_mean(_logs(rows)))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _overall(first: _Points, second: _Points, common: Sequence[_Point], margin: float) -> Shift:
    """Compare the repeats' means over the points that both campaigns have."""
    centres = {point: (_mean(_logs(first[point])) + _mean(_logs(second[point]))) / 2 for point in common}
    return _shift(_repeats(first, centres), _repeats(second, centres), margin)


def _repeats(points: _Points, centres: Mapping[_Point, float]) -> list[float]:
    """One mean for each repeat, of how far its trials lie above their points."""
    above: dict[int, list[float]] = {}
    for point, centre in centres.items():
        for row in points[point]:
            above.setdefault(row["repeat"], []).append(math.log(row["goodput_bps"]) - centre)
    return [_mean(values) for values in above.values()]


def _shift(a: Sequence[float], b: Sequence[float], margin: float) -> Shift:
    """Compare the means of two lists of logarithms."""
    difference = _mean(b) - _mean(a)
    low, high, p_value = _interval(a, b, difference)
    return _decided(
        Shift(
            percent=_percent(difference),
            interval_low_percent=None if low is None else _percent(low),
            interval_high_percent=None if high is None else _percent(high),
            p_value=p_value,
            p_adjusted=p_value,
            repeats_a=len(a),
            repeats_b=len(b),
            outcome="undecided",
        ),
        margin,
    )


def _interval(
    a: Sequence[float], b: Sequence[float], difference: float
) -> tuple[float | None, float | None, float | None]:
    """95 % interval of the difference of means, and p of "there is none"; None of all without repeats."""
    if len(a) + len(b) < 3:
        return None, None, None
    if np.ptp(a) + np.ptp(b) == 0:
        return difference, difference, float(difference == 0)
    with warnings.catch_warnings():
        # SciPy warns where the repeats of one campaign are all alike: those of the other have the chance.
        warnings.simplefilter("ignore", RuntimeWarning)
        test = scipy.stats.ttest_ind(b, a, equal_var=min(len(a), len(b)) == 1)
    low, high = test.confidence_interval(1 - SIGNIFICANCE)
    return float(low), float(high), float(test.pvalue)


def _percent(log_ratio: float) -> float:
    return 100 * math.expm1(log_ratio)


def _corrected(shifts: Sequence[Shift], margin: float) -> list[Shift]:
    """Correct the p-values of points for how many there are, and decide again."""
    p_values = [shift.p_value for shift in shifts if shift.p_value is not None]
    adjusted = iter(holm(p_values))
    return [
        shift if shift.p_value is None else _decided(replace(shift, p_adjusted=next(adjusted)), margin)
        for shift in shifts
    ]


def _decided(shift: Shift, margin: float) -> Shift:
    return replace(shift, outcome=_outcome(shift, margin))


def _with_empty(shift: Shift, empty_a: int, empty_b: int) -> Shift:
    """Take back what trials that carried nothing, and take no part, speak against."""
    spoken_against = {"same"} if empty_a or empty_b else set()
    spoken_against |= {"slower"} if empty_a else set()
    spoken_against |= {"faster"} if empty_b else set()
    return replace(shift, outcome="undecided") if shift.outcome in spoken_against else shift


def _outcome(shift: Shift, margin: float) -> Outcome:
    low, high, p_value = shift.interval_low_percent, shift.interval_high_percent, shift.p_adjusted
    if low is None or high is None or p_value is None:
        return "undecided"
    if -100 * margin <= low and high <= 100 * margin:
        return "same"
    if p_value >= SIGNIFICANCE:
        return "undecided"
    return "faster" if shift.percent > 0 else "slower"
