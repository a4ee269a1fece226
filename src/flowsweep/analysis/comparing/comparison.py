"""Two campaigns beside each other: how much faster or slower the second is, point by point and overall."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flowsweep.analysis.comparing.failures import Failures, failures, trimmed
from flowsweep.analysis.comparing.points import Point, Points, by_point, point_of
from flowsweep.analysis.comparing.remarks import Shifts, remarks
from flowsweep.analysis.comparing.shifts import Shift, decided, moved, overall_shift, point_shifts
from flowsweep.analysis.statistics.design import coded
from flowsweep.analysis.statistics.point_deviations import Side, point_deviations
from flowsweep.analysis.statistics.serial_correlation import lag_one, too_alike
from flowsweep.analysis.statistics.uncertain import Uncertain, mean_difference
from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of
from flowsweep.defaults import EQUIVALENCE_MARGIN

METHOD = (
    "overall, the wider of Welch's and Student's t over the repeats' means of log goodput; at points, that "
    "and the point's deviation from it, repeats as blocks, variances moderated over the points; all "
    "intervals hold together with 95 %"
)


@dataclass(frozen=True, slots=True)
class PointShift:
    """One point that both campaigns have."""

    point: Mapping[str, object]
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
    only_in_a: tuple[Mapping[str, object], ...]
    """Points without a good trial in B."""
    only_in_b: tuple[Mapping[str, object], ...]
    trials_a: int
    trials_b: int
    """Of the campaign, good or not."""
    not_ok_a: int
    not_ok_b: int
    """Of these: those that failed or are incomplete."""
    empty_a: int
    empty_b: int
    """And those that ended well and carried nothing, which has no logarithm."""
    failures_p_value: float | None
    """Of "trials fail as often in both campaigns" at the points of both, by Fisher's exact test, which takes
    failures to be independent; null where none failed."""
    remarks: tuple[str, ...]
    """What to know before the shifts are believed, in sentences."""
    margin: float
    """Share of goodput that counts as the same."""
    method: str


def compare(
    a: Sequence[TrialRow], b: Sequence[TrialRow], *, margin: float = EQUIVALENCE_MARGIN
) -> Comparison:
    """Compare two campaigns over the points that both have.

    The natural logarithm of goodput (bit/s) of a trial is taken as point + campaign + what the campaign
    changes at the point + repeat + chance. Repeats are blocks, drawn anew in each campaign: what a repeat has
    in common, as a quarter of an hour with other traffic, is chance, too. Overall, each repeat of a campaign
    is therefore one observation: the mean over its trials of log goodput less the point's mean in both
    campaigns (`uncertain.mean_difference`). Where a campaign has eight repeats or more, these may resemble
    their neighbours (`serial_correlation.lag_one`), which widens intervals. At a point the shift is the
    overall one and the point's deviation from it (`point_deviations`), in which what repeats have in common
    cancels; a single point is the overall shift. All intervals hold together with 95 %: with equal campaigns,
    any false "faster" or "slower" is said of at most 5 %.

    A shift is "same" if its whole interval lies within ± margin (equivalence: Schuirmann 1987), whether it
    differs from 0 or not; else "faster" or "slower" if the interval leaves out 0; else "undecided". Trials
    that ended well with a goodput of 0 have no logarithm: where B has such, it is not "faster" and not
    "same", where A has, B is not "slower" and not "same", but undecided. Trials that failed are rarely a
    random choice: an outcome must hold, too, if those were the slow ones (`comparing.failures.trimmed`), and
    where B fails more often than A beyond chance, it is nowhere "faster" or "same"; likewise A.

    Args:
        a: Rows of the first campaign's summary. Those that are not `ok` or have no goodput take no part.
        b: Rows of the second's.
        margin: Share of goodput, above 0.
    """
    first, second = by_point(a), by_point(b)
    common = [point for point in first if point in second]
    empty_a, empty_b = _empty(a), _empty(b)
    told = {
        key: _without(shift, (_in(empty_a, key), _in(empty_b, key)))
        for key, shift in _shifts(first, second, common, margin).items()
    }
    failed = failures(a, b, common)
    shifts = _held(told, first, second, failed, margin) if failed.any_failed else told
    return Comparison(
        overall=shifts.get(None),
        points=tuple(
            PointShift(
                dict(point), _geometric_mean(first[point]), _geometric_mean(second[point]), shifts[point]
            )
            for point in common
        ),
        only_in_a=tuple(dict(point) for point in first if point not in second),
        only_in_b=tuple(dict(point) for point in second if point not in first),
        trials_a=len(a),
        trials_b=len(b),
        not_ok_a=sum(row["status"] != "ok" for row in a),
        not_ok_b=sum(row["status"] != "ok" for row in b),
        empty_a=empty_a.total(),
        empty_b=empty_b.total(),
        failures_p_value=failed.p_value,
        remarks=remarks(a, b, _both_repeats(first, second, common), failed, told, shifts),
        margin=margin,
        method=METHOD,
    )


def _empty(rows: Sequence[TrialRow]) -> Counter[Point]:
    """How many trials of each point ended well and carried nothing."""
    return Counter(point_of(row) for row in rows if row["status"] == "ok" and row["goodput_bps"] == 0)


def _logs(rows: Sequence[TrialRow]) -> list[float]:
    return [math.log(goodput_of(row)) for row in rows]


def _geometric_mean(rows: Sequence[TrialRow]) -> float:
    return math.exp(_mean(_logs(rows)))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _shifts(first: Points, second: Points, common: Sequence[Point], margin: float) -> Shifts:
    """Compare the points that both campaigns have; the overall shift is under None."""
    if not common:
        return {}
    above = _both_repeats(first, second, common)
    found = _difference(*above)
    counts = len(above[0]), len(above[1])
    alone = len(common) == 1
    overall = overall_shift(found, _mean(above[1]) - _mean(above[0]), counts, alone=alone)
    if alone:
        return {key: decided(overall, margin) for key in (None, common[0])}
    deviations = point_deviations(_side(first, common), _side(second, common))
    raw = [
        (_mean(_logs(second[point])) - _mean(_logs(first[point])), len(first[point]), len(second[point]))
        for point in common
    ]
    shifts = dict(zip(common, point_shifts(found, deviations, raw), strict=True))
    return {key: decided(shift, margin) for key, shift in ({None: overall} | shifts).items()}


def _both_repeats(first: Points, second: Points, common: Sequence[Point]) -> tuple[list[float], list[float]]:
    """The repeats of both campaigns, each a mean over its trials of how far they lie above their points."""
    centres = {point: (_mean(_logs(first[point])) + _mean(_logs(second[point]))) / 2 for point in common}
    return _repeats(first, centres), _repeats(second, centres)


def _repeats(points: Points, centres: Mapping[Point, float]) -> list[float]:
    """In the order of the repeats."""
    above: dict[int, list[float]] = {}
    for point, centre in centres.items():
        for row in points[point]:
            above.setdefault(row["repeat"], []).append(math.log(goodput_of(row)) - centre)
    return [_mean(above[repeat]) for repeat in sorted(above)]


def _difference(a: Sequence[float], b: Sequence[float]) -> Uncertain | None:
    """Compare repeats; None where they resemble their neighbours so much that they tell next to nothing."""
    correlation = lag_one((a, b)) or 0.0
    return None if too_alike((a, b), correlation) else mean_difference(a, b, correlation)


def _side(points: Points, common: Sequence[Point]) -> Side:
    placed = [(place, row) for place, point in enumerate(common) for row in points[point]]
    return Side(
        logs=np.array(_logs([row for _, row in placed])),
        points=np.array([place for place, _ in placed], dtype=np.intp),
        repeats=coded([row["repeat"] for _, row in placed]),
    )


def _in(found: Counter[Point], point: Point | None) -> bool:
    """Whether there are any at a point, or at all."""
    return found.total() > 0 if point is None else found[point] > 0


def _without(shift: Shift, missing: tuple[bool, bool]) -> Shift:
    """Take back what slow trials of A or of B that take no part speak against."""
    missing_a, missing_b = missing
    spoken_against = {"same"} if missing_a or missing_b else set()
    spoken_against |= {"slower"} if missing_a else set()
    spoken_against |= {"faster"} if missing_b else set()
    return replace(shift, outcome="undecided") if shift.outcome in spoken_against else shift


def _held(told: Shifts, first: Points, second: Points, failed: Failures, margin: float) -> Shifts:
    """Leave of what is said what trials that failed do not speak against."""
    trimmed_a, trimmed_b = trimmed(first, second, failed)
    left = [point for point in first if point in trimmed_a and point in trimmed_b]
    if_slow = _shifts(trimmed_a, trimmed_b, left, margin)
    return {
        key: _without(_borne_out(shift, if_slow.get(key), margin), failed.beyond_chance)
        for key, shift in told.items()
    }


def _borne_out(shift: Shift, if_slow: Shift | None, margin: float) -> Shift:
    """Take back what would not be said if the trials that failed were the slow ones."""
    if if_slow is not None and decided(moved(shift, if_slow), margin).outcome == shift.outcome:
        return shift
    return replace(shift, outcome="undecided")
