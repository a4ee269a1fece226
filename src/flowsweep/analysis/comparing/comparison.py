"""Two campaigns beside each other: how much faster or slower the second is, point by point and overall."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from flowsweep.analysis.comparing.estimates import Estimates, logs, mean, of_campaigns, of_pairs
from flowsweep.analysis.comparing.failures import Failures, failures, trimmed, trimmed_pairs
from flowsweep.analysis.comparing.methods import measured_unlike, unlike_ends
from flowsweep.analysis.comparing.points import Point, Points, by_point, in_order, pairs, point_of
from flowsweep.analysis.comparing.remarks import (
    Shifts,
    late_left_out,
    remarks,
    searched_left_out,
    times_apart,
    without_partner,
)
from flowsweep.analysis.comparing.shared_trials import apart
from flowsweep.analysis.comparing.shifts import Shift, decided, moved, overall_shift, point_shifts
from flowsweep.analysis.summarising.trial_row import TrialRow, is_searched
from flowsweep.defaults import EQUIVALENCE_MARGIN

_AT_POINTS = (
    "at points, that and the point's deviation from it, repeats as blocks, variances moderated over the "
    "points; all intervals hold together with 95 %"
)
METHOD = f"overall, the wider of Welch's and Student's t over the repeats' means of log goodput; {_AT_POINTS}"
_PAIRS_OF_REPEATS = (
    "differences of log goodput within pairs of trials of one repeat; overall, Student's t over the repeats' "
    "means"
)
_ALONE = "; points that vary unlike each other also by their own pairs alone, the narrower interval counting"
METHOD_OF_PAIRS = f"{_PAIRS_OF_REPEATS}; {_AT_POINTS}{_ALONE}"
METHOD_OF_SPREAD_OUT = f"{_PAIRS_OF_REPEATS}, as far as they do not resemble their neighbours; {_AT_POINTS}"


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
    """None: no point has a goodput in both, so that there is nothing to compare."""
    points: tuple[PointShift, ...]
    """Sorted by sweep, direction and levels."""
    only_in_a: tuple[Mapping[str, object], ...]
    """Points without a good trial in B."""
    only_in_b: tuple[Mapping[str, object], ...]
    lost_in_a: tuple[Mapping[str, object], ...]
    """Of `only_in_b`: those that A ran, too."""
    lost_in_b: tuple[Mapping[str, object], ...]
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
    """Of "trials fail as often in both campaigns" at the points that both ran, by Fisher's exact test, which
    takes failures to be independent; null where none failed."""
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
    is therefore one observation: the mean over its trials of log goodput less the point's mean in that
    campaign, plus the mean over all points (`uncertain.mean_difference`). Where a campaign has eight repeats
    or more, these may resemble their neighbours (`serial_correlation.lag_one`), which widens intervals. At a
    point the shift is the overall one and the point's deviation from it (`point_deviations`), in which what
    repeats have in common cancels; a single point is the overall shift. All intervals hold together with
    95 %: with equal campaigns, any false "faster" or "slower" is said of at most 5 %.

    A shift is "same" if its whole interval lies within ± margin (equivalence: Schuirmann 1987), whether it
    differs from 0 or not; else "faster" or "slower" if the interval leaves out 0; else "undecided". Trials
    that ended well with a goodput of 0 have no logarithm: where B has such, it is not "faster" and not
    "same", where A has, B is not "slower" and not "same", but undecided. Trials that failed are rarely a
    random choice: an outcome must hold, too, if those were the slow ones (`comparing.failures.trimmed`), and
    where B fails more often than A beyond chance, it is nowhere "faster" or "same"; likewise A. Nor is it
    overall where all of its trials failed at a point that A has. Where some trials of a point count what was
    sent and others what was received, it is undecided, and so is the overall shift.

    Args:
        a: Rows of the first campaign's summary. Those that are not `ok`, have no goodput, ran over an
            emulated path that was late or are steps of a search take no part, nor do trials that are in
            both campaigns.
        b: Rows of the second's.
        margin: Share of goodput, above 0.
    """
    left_out = searched_left_out(a, b)
    own = apart(*([row for row in rows if not is_searched(row)] for rows in (a, b)))
    a, b = own.a, own.b
    first, second = by_point(a), by_point(b)
    found = _compared((a, b), (first, second), (first, second), margin, _CAMPAIGNS)
    compared = (
        [row for at in rows if at in first and at in second for row in rows[at]] for rows in (first, second)
    )
    return replace(found, remarks=left_out + own.remarks + found.remarks + times_apart(*compared))


def compare_settings(
    a: Sequence[TrialRow],
    b: Sequence[TrialRow],
    *,
    margin: float = EQUIVALENCE_MARGIN,
    spread_out: bool = False,
) -> Comparison:
    """Compare two settings that were measured in one campaign, pair by pair.

    What counts are the differences of log goodput within pairs: of the trials of A and B at one point in one
    repeat, of which either ran first. What the hour or the day changed is in both and cancels. Repeats are
    blocks, as in `compare`: overall, the mean difference of a repeat is one observation
    (`uncertain.mean_of`); points deviate from the overall shift, and outcomes are decided, likewise. A trial
    whose partner failed takes no part; an outcome must hold, too, if the failed ones were the slow ones
    (`comparing.failures.trimmed_pairs`).

    Args:
        a: Rows of the summary that are of A, as `both_settings` gives them: with the `pair` they are of.
        b: Those of B.
        margin: Share of goodput, above 0.
        spread_out: Repeats ran at times that the plan gives, as over a day: by how much B differs may depend
            on the hour, so that repeats may resemble their neighbours.
    """
    ended = by_point(a), by_point(b)
    design = _PAIRS_SPREAD_OUT if spread_out else _PAIRS
    found = _compared((a, b), ended, pairs(*ended), margin, design)
    return replace(found, remarks=found.remarks + without_partner(a, b))


@dataclass(frozen=True, slots=True)
class _Design:
    """How trials of A and B belong together."""

    estimates: Callable[[Points, Points, Sequence[Point]], Estimates]
    trimmed: Callable[[Points, Points, Failures], tuple[Points, Points]]
    method: str


_CAMPAIGNS = _Design(of_campaigns, trimmed, METHOD)
_PAIRS = _Design(of_pairs, trimmed_pairs, METHOD_OF_PAIRS)
_PAIRS_SPREAD_OUT = _Design(partial(of_pairs, spread_out=True), trimmed_pairs, METHOD_OF_SPREAD_OUT)


def _compared(
    rows: tuple[Sequence[TrialRow], Sequence[TrialRow]],
    ended: tuple[Points, Points],
    kept: tuple[Points, Points],
    margin: float,
    design: _Design,
) -> Comparison:
    """Compare what is kept of the trials that ended well."""
    (a, b), (first, second) = rows, kept
    common = [point for point in first if point in second]
    empty_a, empty_b = _empty(a), _empty(b)
    found = design.estimates(first, second, common) if common else None
    unlike = unlike_ends(first, second, common)
    shifts_if_random = {
        key: _without(_comparable(shift, key, unlike), (_in(empty_a, key), _in(empty_b, key)))
        for key, shift in _shifts(found, kept, common, margin).items()
    }
    failed = failures(a, b)
    only_in_a, only_in_b = (_only(of_one, common) for of_one in ended)
    shifts = _held(shifts_if_random, kept, failed, margin, design) if failed.any_failed else shifts_if_random
    return Comparison(
        overall=shifts.get(None),
        points=tuple(
            PointShift(
                dict(point), _geometric_mean(first[point]), _geometric_mean(second[point]), shifts[point]
            )
            for point in in_order(common)
        ),
        only_in_a=_named(only_in_a),
        only_in_b=_named(only_in_b),
        lost_in_a=_named(_ran(only_in_b, a)),
        lost_in_b=_named(_ran(only_in_a, b)),
        trials_a=len(a),
        trials_b=len(b),
        not_ok_a=sum(row["status"] != "ok" for row in a),
        not_ok_b=sum(row["status"] != "ok" for row in b),
        empty_a=empty_a.total(),
        empty_b=empty_b.total(),
        failures_p_value=failed.p_value,
        remarks=late_left_out(a, b)
        + measured_unlike(first, second, common)
        + remarks(found, failed, shifts_if_random, shifts, ran=(len(a), len(b))),
        margin=margin,
        method=design.method,
    )


def _only(points: Points, common: Sequence[Point]) -> list[Point]:
    return in_order([point for point in points if point not in common])


def _named(points: Sequence[Point]) -> tuple[Mapping[str, object], ...]:
    return tuple(map(dict, points))


def _ran(points: Sequence[Point], rows: Sequence[TrialRow]) -> list[Point]:
    ran = {point_of(row) for row in rows}
    return [point for point in points if point in ran]


def _empty(rows: Sequence[TrialRow]) -> Counter[Point]:
    """How many trials of each point ended well and carried nothing."""
    return Counter(point_of(row) for row in rows if row["status"] == "ok" and row["goodput_bps"] == 0)


def _geometric_mean(rows: Sequence[TrialRow]) -> float:
    return math.exp(mean(logs(rows)))


def _shifts(
    found: Estimates | None, kept: tuple[Points, Points], common: Sequence[Point], margin: float
) -> Shifts:
    """Decide on the points that both have; the overall shift is under None."""
    if found is None:
        return {}
    first, second = kept
    alone = len(common) == 1
    overall = overall_shift(found.overall, found.shift, found.counts, alone=alone)
    if alone:
        return {key: decided(overall, margin) for key in (None, common[0])}
    raw = [
        (mean(logs(second[point])) - mean(logs(first[point])), len(first[point]), len(second[point]))
        for point in common
    ]
    shifts = dict(zip(common, point_shifts(found.overall, found.deviations, raw, found.alone), strict=True))
    return {key: decided(shift, margin) for key, shift in ({None: overall} | shifts).items()}


def _in(found: Counter[Point], point: Point | None) -> bool:
    """Whether there are any at a point, or at all."""
    return found.total() > 0 if point is None else found[point] > 0


def _comparable(shift: Shift, point: Point | None, unlike: frozenset[Point]) -> Shift:
    """Decide nothing where what one end sent would be held against what the other received."""
    unlike_here = bool(unlike) if point is None else point in unlike
    return replace(shift, outcome="undecided") if unlike_here else shift


def _without(shift: Shift, missing: tuple[bool, bool]) -> Shift:
    """Take back what slow trials of A or of B that take no part speak against."""
    missing_a, missing_b = missing
    spoken_against = {"same"} if missing_a or missing_b else set()
    spoken_against |= {"slower"} if missing_a else set()
    spoken_against |= {"faster"} if missing_b else set()
    return replace(shift, outcome="undecided") if shift.outcome in spoken_against else shift


def _held(
    shifts: Shifts, kept: tuple[Points, Points], failed: Failures, margin: float, design: _Design
) -> Shifts:
    """Leave of what is said what trials that failed do not speak against."""
    of_rest = design.trimmed(*kept, failed)
    left = [point for point in kept[0] if point in of_rest[0] and point in of_rest[1]]
    found = design.estimates(*of_rest, left) if left else None
    if_slow = _shifts(found, of_rest, left, margin)
    held = {
        key: _without(_borne_out(shift, if_slow.get(key), margin), failed.beyond_chance)
        for key, shift in shifts.items()
    }
    return held | {key: _without(shift, failed.of_whole_points) for key, shift in held.items() if key is None}


def _borne_out(shift: Shift, if_slow: Shift | None, margin: float) -> Shift:
    """Take back what would not be said if the trials that failed were the slow ones."""
    if if_slow is not None and decided(moved(shift, if_slow), margin).outcome == shift.outcome:
        return shift
    return replace(shift, outcome="undecided")
