"""Who gets more of what is shared, flow by flow, and how that goes with the number of flows and the path."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from statistics import median

from flowsweep.analysis.background.asked import is_paced
from flowsweep.analysis.background.log_means import LogMean, log_means
from flowsweep.analysis.background.words import background_names, own_name, place_of
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow, trial_ids
from flowsweep.analysis.summarising.trial_row import known
from flowsweep.defaults import EQUIVALENCE_MARGIN, FEWEST_FOR_INTERVAL
from flowsweep.grouping import grouped
from flowsweep.wording import (
    counted,
    format_margin,
    format_milliseconds,
    format_number,
    format_share,
    with_interval,
)

RTT_FACTOR = 1.5
"""Paths whose minimum round trips differ by less are as far for what this is about."""
_METHOD = (
    "t test of the mean log ratio of goodput per flow against 0, over trials; variances of all points of the "
    "campaign moderated (Smyth 2004)"
)
_METHOD_CHANGE = (
    "t test of the difference of mean log ratios of goodput per flow, over trials; variances of all points "
    "of the campaign moderated (Smyth 2004)"
)
_of_flows = partial(Hypothesis, "fairness", figure="shares")

_DSCP = "dscp"
_PER_PAIR = "flows_per_pair"
"""Says nothing beside `flows`, where trials are of one pair of hosts."""
_Levels = tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """A point in one direction of one sweep."""

    observed: Observations
    rows: Sequence[ObservedRow]
    levels: _Levels
    """Factor and level, without the direction."""
    mean: LogMean
    """Log ratio of goodput per flow: the trial's own over that of what runs beside it."""
    starved: int
    """Further trials in which one side got nothing, which have no such ratio."""

    @property
    def direction(self) -> str:
        return self.rows[0][DIRECTION]

    @property
    def testable(self) -> bool:
        whole = not self.starved and self.mean.variance is not None
        return whole and len(self.rows) >= FEWEST_FOR_INTERVAL

    @property
    def names(self) -> tuple[str, str]:
        """The trial's own traffic, and what runs beside it."""
        return own_name(self.rows[0]), background_names(self.rows[0])

    @property
    def rtt_ms(self) -> float | None:
        """The minimum round trip, median over the trials."""
        known_ms = [rtt_ms for row in self.rows if (rtt_ms := row.get("rtt_min_ms")) is not None]
        return median(known_ms) if known_ms else None


def fairness_hypotheses(
    comparable: Sequence[Observations],
    *,
    asked_bps: Mapping[str, int] | None = None,
    not_along: AbstractSet[str] = frozenset(),
    margin: float = EQUIVALENCE_MARGIN,
) -> list[Hypothesis]:
    """Ask of trials with background traffic who gets more, flow by flow.

    Args:
        comparable: Trials of every sweep and mode of a campaign.
        asked_bps: What the traffic beside each trial is asked to send (`background_asked_bps`); without it
            background traffic counts as traffic that takes what it can get.
        not_along: Trials beside which some traffic goes another way (`OtherWays`): they share nothing with it
            that could be equal, and take no part.
        margin: Of practical equivalence, relative.

    Returns:
        One for each direction and point: whether a flow of the trial's own gets more or less than one of what
        runs beside it, against equal shares; one for each direction with several numbers of flows, from the
        least to the most; one for each sweep whose paths have unlike round trips, from the nearest to the
        furthest, and one for each direction in which those of several DSCPs have. The effect is a ratio (unit
        "1"): of no effect it is 1. Points at which either side sends at a rate of its own, and gets it or
        asks for less than equal shares, are described and not compared (max-min fairness: Bertsekas and
        Gallager, Data Networks, 1992, section 6.5.2).

    Method:
        With share s of m flows beside k, y = ln(s / (1 − s)) − ln(m / k) is the log ratio of the goodput of
        a flow on each side: 0 where all flows get the same. Fewer than three trials of a point test nothing.
    """
    found = _places(comparable, not_along)
    paced = [place for place in found if is_paced(place.rows, asked_bps or {})]
    places = [place for place in found if place not in paced]
    return [
        *map(_not_compared, paced),
        *(_equal_share(place, margin=margin) for place in places),
        *_by_flows(places, margin=margin),
        *_by_path(places, margin=margin),
        *_by_dscp(places, margin=margin),
    ]


def flow_log_ratio(row: ObservedRow) -> float | None:
    """Log ratio of goodput per flow of a trial's own traffic over what ran beside it; None if not known."""
    share, beside = row.get("share"), row.get("flows_beside")
    if share is None or not beside or not 0 < share < 1:
        return None
    return math.log(share / (1 - share)) - math.log(row["flows"] / beside)


def equal_share(row: ObservedRow) -> float:
    """Of the trial's own traffic, where each flow gets the same."""
    return row["flows"] / (row["flows"] + known(row["flows_beside"]))


def _places(comparable: Sequence[Observations], not_along: AbstractSet[str]) -> list[_Place]:
    rows: dict[tuple[int, str, _Levels], list[ObservedRow]] = {}
    starved: Counter[tuple[int, str, _Levels]] = Counter()
    for number, observed in enumerate(comparable):
        pairs = any(row["flows"] != row["flows_per_pair"] for row in observed.rows)
        left_out = {DIRECTION} if pairs else {DIRECTION, _PER_PAIR}
        factors = [factor for factor in observed.factors if factor not in left_out]
        for row in observed.rows:
            if row["trial_id"] in not_along:
                continue
            levels = tuple((factor, _hashable(row.get(factor))) for factor in factors)
            if flow_log_ratio(row) is not None:
                rows.setdefault((number, row[DIRECTION], levels), []).append(row)
            elif row.get("share") is not None and row.get("flows_beside"):
                starved[number, row[DIRECTION], levels] += 1
    values = {key: [known(flow_log_ratio(row)) for row in own] for key, own in rows.items()}
    means = log_means(values)
    return [_Place(comparable[key[0]], own, key[2], means[key], starved[key]) for key, own in rows.items()]


def _not_compared(place: _Place) -> Hypothesis:
    own, beside = place.names
    claim = (
        f"{place.direction}: a flow of {own} and one of {beside} are not compared with equal "
        f"shares{place_of(place.levels)}: one of them sends at a set rate, and gets that rate or was set "
        "below its equal share."
    )
    return _of_flows(
        place.observed.scope(place.direction), claim, trial_ids(place.rows), method="rates that the plan sets"
    )


def _hashable(level: object) -> object:
    return tuple(level) if isinstance(level, list) else level


def _equal_share(place: _Place, *, margin: float) -> Hypothesis:
    row, (own, beside) = place.rows[0], place.names
    ratio = _ratio(place.mean, testable=place.testable)
    share = 1 / (1 + math.exp(-place.mean.value - math.log(row["flows"] / known(row["flows_beside"]))))
    where = place_of(place.levels)
    shares = f"{own} takes {format_share(share)}, equal shares by flow are {format_share(equal_share(row))}"

    def claim(decision: Decision) -> str:
        if decision == "effect":
            more = "more" if place.mean.value > 0 else "less"
            said = f"a flow of {own} gets {more} than one of {beside}, {_shown(ratio)} times as much{where}"
        elif decision == "no practical effect":
            said = (
                f"a flow of {own} gets as much as one of {beside}, to within {format_margin(margin)}: "
                f"{_shown(ratio)} times{where}"
            )
        else:
            said = (
                f"whether a flow of {own} or one of {beside} gets more is undecided: {_shown(ratio)} times "
                f"as much in {counted(len(place.rows), 'trial')}{where}"
            )
        starved = (
            f" {counted(place.starved, 'further trial')} left out: one side got nothing."
            if place.starved
            else ""
        )
        return f"{place.direction}: {said}; {shares}.{starved}"

    return _of_flows(
        place.observed.scope(place.direction),
        claim,
        trial_ids(place.rows),
        ratio,
        method=_METHOD,
        p_value=place.mean.p_value if place.testable else None,
        untestable=not place.testable,
        within_margin=place.testable and place.mean.within(margin),
    )


def _by_flows(places: Sequence[_Place], *, margin: float) -> Iterator[Hypothesis]:
    """From the least to the most flows, at the same levels of all other factors."""
    groups = grouped(
        places, lambda place: (id(place.observed), place.direction, _without_flows(place), place.names)
    )
    for group in groups.values():
        ordered = sorted(group, key=lambda place: place.rows[0]["flows"])
        first, last = ordered[0], ordered[-1]
        if first.rows[0]["flows"] == last.rows[0]["flows"]:
            continue
        few, many = (counted(place.rows[0]["flows"], "flow") for place in (first, last))
        yield _change(
            (first, last),
            f"{first.direction}: ",
            (f"with {few}", f"with {many}"),
            place_of(_without_flows(first)),
            axis="flows",
            margin=margin,
        )


def _without_flows(place: _Place) -> _Levels:
    return _without(place, ("flows", _PER_PAIR))


def _without(place: _Place, factors: Sequence[str]) -> _Levels:
    return tuple(one for one in place.levels if one[0] not in factors)


def _by_path(places: Sequence[_Place], *, margin: float) -> Iterator[Hypothesis]:
    """From the nearest to the furthest path of a sweep, at the same levels of all factors."""
    groups = grouped(places, lambda place: (id(place.observed), place.levels, place.names))
    for first, last in _nearest_and_furthest(groups.values()):
        over = (_over(first, first.direction), _over(last, last.direction))
        yield _change((first, last), "", over, place_of(first.levels), axis=DIRECTION, margin=margin)


def _by_dscp(places: Sequence[_Place], *, margin: float) -> Iterator[Hypothesis]:
    """Likewise where a network has another path for another DSCP, in each direction."""
    groups = grouped(
        places, lambda place: (id(place.observed), place.direction, _without(place, (_DSCP,)), place.names)
    )
    for ends in _nearest_and_furthest(groups.values()):
        near, far = (_over(place, f"DSCP {place.rows[0].get(_DSCP)}") for place in ends)
        where = place_of(_without(ends[0], (_DSCP,)))
        yield _change(ends, f"{ends[0].direction}: ", (near, far), where, axis=_DSCP, margin=margin)


def _nearest_and_furthest(groups: Iterable[Sequence[_Place]]) -> Iterator[tuple[_Place, _Place]]:
    """Of each group whose minimum round trips differ."""
    for group in groups:
        ordered = sorted(
            (place for place in group if place.rtt_ms is not None), key=lambda one: known(one.rtt_ms)
        )
        if ordered and known(ordered[-1].rtt_ms) >= RTT_FACTOR * known(ordered[0].rtt_ms):
            yield ordered[0], ordered[-1]


def _over(place: _Place, which: str) -> str:
    return f"over a round trip of {format_milliseconds(known(place.rtt_ms))} ({which})"


def _change(
    ends: tuple[_Place, _Place], start: str, at: tuple[str, str], where: str, *, axis: str, margin: float
) -> Hypothesis:
    first, last = ends
    change = last.mean.plus(first.mean.times(-1.0))
    testable = first.testable and last.testable
    ratio = _ratio(change, testable=testable)
    own, beside = first.names
    ratios = f"{_times(first.mean)} times {at[0]}, {_times(last.mean)} times {at[1]}"

    def claim(decision: Decision) -> str:
        if decision == "effect":
            more = "more" if change.value > 0 else "less"
            said = f"a flow of {own} gets {more}, against one of {beside}, {at[1]} than {at[0]}"
        elif decision == "no practical effect":
            said = (
                f"what a flow of {own} gets, against one of {beside}, is the same {at[1]} as {at[0]}, to "
                f"within {format_margin(margin)}"
            )
        else:
            said = (
                f"whether a flow of {own} gets more or less, against one of {beside}, {at[1]} than {at[0]} "
                "is undecided"
            )
        text = f"{start}{said}{where}: {ratios}; the second is {_shown(ratio)} times the first."
        return text if start else text[0].upper() + text[1:]

    rows = [*first.rows, *last.rows]
    return _of_flows(
        first.observed.scope(first.direction if start else None),
        claim,
        trial_ids(rows),
        ratio,
        method=_METHOD_CHANGE,
        axis=axis,
        p_value=change.p_value if testable else None,
        untestable=not testable,
        within_margin=testable and change.within(margin),
    )


def _ratio(mean: LogMean, *, testable: bool) -> Estimate:
    ends = mean.interval if testable else None
    low, high = (None, None) if ends is None else map(math.exp, ends)
    return Estimate(math.exp(mean.value), "1", low, high)


def _shown(ratio: Estimate) -> str:
    return with_interval(format_number, known(ratio.effect), ratio.low, ratio.high)


def _times(mean: LogMean) -> str:
    return format_number(math.exp(mean.value))
