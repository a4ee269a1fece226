"""What background traffic costs those who were there before: harm, against the same trials alone."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial

from flowsweep.analysis.background.asked import is_paced
from flowsweep.analysis.background.fairness import equal_share
from flowsweep.analysis.background.log_means import LogMean, log_means
from flowsweep.analysis.background.words import background_names, own_name
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow, trial_ids
from flowsweep.analysis.summarising.trial_row import known, quantity_of
from flowsweep.defaults import EQUIVALENCE_MARGIN, FEWEST_FOR_INTERVAL
from flowsweep.grouping import grouped
from flowsweep.schedule.background import PROBE
from flowsweep.wording import (
    counted,
    format_margin,
    format_milliseconds,
    format_number,
    format_rate,
    format_share,
)

_METHOD = (
    "harm after Ware, Mukerjee, Seshan and Sherry 2019; t test of the mean log ratio to the same trials "
    "without background traffic, points weighted alike, over trials; variances moderated (Smyth 2004)"
)
_OWN_COLUMNS = (*(name for name in POINT_COLUMNS if name != "sweep"), "omit_s", "interval_s")
"""What trials have in common that differ only in what runs beside them."""
_of_harm = partial(Hypothesis, "harm", method=_METHOD, figure="shares")

_Point = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Measure:
    """Something that background traffic may make worse."""

    columns: tuple[str, ...]
    """Of the summary: the first one that all trials of a comparison have."""
    more_is_better: bool
    what: str
    write: Callable[[float], str]


MEASURES = (
    _Measure(("goodput_mean_bps",), more_is_better=True, what="goodput", write=format_rate),
    _Measure(
        ("rtt_loaded_ms", "rtt_median_ms"),
        more_is_better=False,
        what="the round trip",
        write=format_milliseconds,
    ),
    _Measure(("loss_share", "loss"), more_is_better=False, what="loss", write=format_share),
)


@dataclass(frozen=True, slots=True)
class _Pair:
    """A point with background traffic, and the same point alone."""

    beside: Sequence[ObservedRow]
    alone: Sequence[ObservedRow]

    @property
    def enough(self) -> bool:
        """Whether there are trials to test with."""
        return min(len(self.alone), len(self.beside)) >= FEWEST_FOR_INTERVAL


def harm(solo: float, beside: float, *, more_is_better: bool) -> float:
    """Say how much of a performance is taken away, 0 to 1; below 0 where it is better beside others.

    R. Ware, M. K. Mukerjee, S. Seshan and J. Sherry, "Beyond Jain's fairness index: setting the bar for the
    deployment of congestion control algorithms", HotNets 2019: (solo − beside) / solo where more is better,
    (beside − solo) / beside where less is.
    """
    best, worst = (solo, beside) if more_is_better else (beside, solo)
    return (best - worst) / best if best else 0.0


def harm_hypotheses(
    comparable: Sequence[Observations],
    *,
    asked_bps: Mapping[str, int] | None = None,
    not_along: AbstractSet[str] = frozenset(),
    margin: float = EQUIVALENCE_MARGIN,
) -> list[Hypothesis]:
    """Ask what background traffic does to the goodput, the round trip and the loss of trials.

    Args:
        comparable: Trials of every sweep and mode of a campaign.
        asked_bps: What the traffic beside each trial is asked to send (`background_asked_bps`): what equal
            shares would do is said only where neither side sends at a rate of its own (`is_paced`).
        not_along: Trials beside which some traffic goes another way (`OtherWays`): nor is it said of these.
        margin: Of practical equivalence, relative.

    Returns:
        For each direction with background traffic one hypothesis of each measure that is known. The effect is
        the harm (unit "1"). Where no trials of the campaign are the same without background traffic, one
        description says that it is not known.

    Method:
        The reference of a point are all trials of the campaign with the same hosts and settings, of whatever
        sweep, that nothing but a probe ran beside. d is the mean over points of the difference of mean
        logarithms, beside less alone; harm is 1 − e^d where more is better, 1 − e^−d where less is.
    """
    alone = _alone(comparable)
    compared = [
        (observed, direction, _pairs(rows, alone))
        for observed in comparable
        for direction, rows in observed.by_direction(background_names)
    ]
    found = [_not_known(observed, direction) for observed, direction, pairs in compared if not pairs]
    for measure in MEASURES:
        places = [
            (observed, direction, known_pairs, column)
            for observed, direction, pairs in compared
            for known_pairs, column in [_with_column(pairs, measure)]
            if known_pairs
        ]
        found += _of_measure(measure, places, asked_bps or {}, not_along, margin=margin)
    return found


def _alone(comparable: Sequence[Observations]) -> dict[_Point, list[ObservedRow]]:
    rows = (row for observed in comparable for row in observed.rows if not background_names(row))
    return grouped(rows, _point)


def _point(row: ObservedRow) -> _Point:
    levels = (row.get(name) for name in _OWN_COLUMNS)
    probed = PROBE in (row.get("background") or ())
    return (*(tuple(level) if isinstance(level, list) else level for level in levels), probed)


def _pairs(rows: Sequence[ObservedRow], alone: Mapping[_Point, list[ObservedRow]]) -> list[_Pair]:
    return [_Pair(own, alone[point]) for point, own in grouped(rows, _point).items() if point in alone]


def _not_known(observed: Observations, direction: str) -> Hypothesis:
    rows = [row for row in observed.rows if row[DIRECTION] == direction and background_names(row)]
    claim = (
        f"{direction}: how much {background_names(rows[0])} harms {own_name(rows[0])} is not known: no "
        "trials of this campaign are the same without background traffic. Add a sweep without it."
    )
    return _of_harm(observed.scope(direction), claim, trial_ids(rows))


def _with_column(pairs: Sequence[_Pair], measure: _Measure) -> tuple[list[_Pair], str]:
    """Pairs whose trials all have a value, by the first column in which there are any.

    Those with too few trials take no part where others have enough.
    """
    for column in measure.columns:
        found = [
            pair
            for pair in pairs
            if all(quantity_of(row, column) is not None for row in (*pair.beside, *pair.alone))
        ]
        if found:
            return [pair for pair in found if pair.enough] or found, column
    return [], ""


_PlaceOf = tuple[Observations, str, list[_Pair], str]


def _of_measure(
    measure: _Measure,
    places: Sequence[_PlaceOf],
    asked_bps: Mapping[str, int],
    not_along: AbstractSet[str],
    *,
    margin: float,
) -> Iterator[Hypothesis]:
    values: dict[tuple[str, str], list[float]] = {}
    for _, _, pairs, column in places:
        for pair in pairs:
            for rows in (pair.beside, pair.alone):
                values.setdefault((rows[0]["trial_id"], column), _numbers(rows, column))
    logs = {
        key: [math.log(value) for value in numbers] for key, numbers in values.items() if min(numbers) > 0
    }
    means = log_means(logs)
    for place in places:
        equal = _of_equal_shares(place[2], asked_bps, not_along) if measure.more_is_better else ""
        yield _hypothesis(measure, place, means, equal, margin=margin)


def _numbers(rows: Sequence[ObservedRow], column: str) -> list[float]:
    return [known(quantity_of(row, column)) for row in rows]


def _hypothesis(
    measure: _Measure, place: _PlaceOf, means: Mapping[tuple[str, str], LogMean], equal: str, *, margin: float
) -> Hypothesis:
    observed, direction, pairs, column = place
    rows = [row for pair in pairs for row in (*pair.beside, *pair.alone)]
    row = pairs[0].beside[0]
    own, beside = own_name(row), background_names(row)
    each = [
        tuple(
            sum(numbers) / len(numbers)
            for numbers in (_numbers(pair.alone, column), _numbers(pair.beside, column))
        )
        for pair in pairs
    ]
    change = _change(pairs, column, means)
    enough = all(pair.enough for pair in pairs)
    testable = change is not None and change.variance is not None and enough
    points = _points(measure, pairs, each)
    if change is None:  # of nothing that is 0 there is a logarithm
        solo, with_it = (sum(values) / len(each) for values in zip(*each, strict=True))
        value = harm(solo, with_it, more_is_better=measure.more_is_better)
        claim = f"{direction}: beside {beside}, {measure.what} of {own} goes {points}."
        return _of_harm(observed.scope(direction), claim, trial_ids(rows), Estimate(value, "1"))
    estimate = _estimate(measure, change, testable=testable)

    def claim_of(decision: Decision) -> str:
        shown = _shown(estimate)
        worse = known(estimate.effect) > 0
        if decision == "effect" and worse:
            said = f"{beside} harms {own}: {measure.what} goes {points}; harm {shown}"
        elif decision == "effect":
            said = f"{beside} does {own} no harm, but good: {measure.what} goes {points}; harm {shown}"
        elif decision == "no practical effect":
            said = (
                f"{beside} does {own} no harm: {measure.what} stays the same to within "
                f"{format_margin(margin)}, {points}"
            )
        else:
            said = (
                f"whether {beside} harms {own} is undecided: {measure.what} goes {points}; harm {shown} in "
                f"{counted(len(rows), 'trial')}"
            )
        return f"{direction}: {said}{equal}."

    return _of_harm(
        observed.scope(direction),
        claim_of,
        trial_ids(rows),
        estimate,
        p_value=known(change.p_value) if testable else None,
        untestable=not testable,
        within_margin=testable and change.within(margin),
    )


def _change(pairs: Sequence[_Pair], column: str, means: Mapping[tuple[str, str], LogMean]) -> LogMean | None:
    """Mean log ratio over the points, beside over alone; None where a logarithm is missing."""
    total: LogMean | None = None
    for pair in pairs:
        ends = [means.get((rows[0]["trial_id"], column)) for rows in (pair.beside, pair.alone)]
        if ends[0] is None or ends[1] is None:
            return None
        one = ends[0].plus(ends[1].times(-1.0)).times(1 / len(pairs))
        total = one if total is None else total.plus(one)
    return total


def _estimate(measure: _Measure, change: LogMean, *, testable: bool) -> Estimate:
    sign = 1.0 if measure.more_is_better else -1.0
    ends = change.interval if testable else None
    low, high = (None, None) if ends is None else sorted(-math.expm1(sign * end) for end in ends)
    return Estimate(-math.expm1(sign * change.value), "1", low, high)


def _shown(estimate: Estimate) -> str:
    value, low, high = estimate.effect, estimate.low, estimate.high
    between = "" if low is None or high is None else f" [{_number(low)}, {_number(high)}]"
    return _number(known(value)) + between


def _number(value: float) -> str:
    return format_number(value).replace("-", "−")


def _points(measure: _Measure, pairs: Sequence[_Pair], each: Sequence[tuple[float, ...]]) -> str:
    """From where to where it goes: at the only point, or at those of the least and the most flows."""
    order = sorted(range(len(pairs)), key=lambda index: pairs[index].beside[0]["flows"])
    shown = [order[0], order[-1]] if len(pairs) > 1 else order
    words = []
    for index in shown:
        solo, beside = each[index]
        flows = f" with {counted(pairs[index].beside[0]['flows'], 'flow')}" if len(pairs) > 1 else ""
        words.append(f"from {measure.write(solo)} to {measure.write(beside)}{flows}")
    return ", ".join(words)


def _of_equal_shares(
    pairs: Sequence[_Pair], asked_bps: Mapping[str, int], not_along: AbstractSet[str]
) -> str:
    """What harm to goodput equal shares by flow would do.

    Nothing where a side sends at a rate of its own, or where the two share no path.
    """
    beside = [pair.beside for pair in pairs if pair.beside[0].get("flows_beside")]
    lost = [1 - equal_share(rows[0]) for rows in beside]
    apart = any(row["trial_id"] in not_along for rows in beside for row in rows)
    if not lost or apart or any(is_paced(rows, asked_bps) for rows in beside):
        return ""
    least, most = min(lost), max(lost)
    between = format_number(most) if least == most else f"{format_number(least)} to {format_number(most)}"
    return f" (equal shares by flow of a full path: {between})"
