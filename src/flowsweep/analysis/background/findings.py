"""What a trial's own traffic takes of what it shares with background traffic, over repeats."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from statistics import median

from flowsweep.analysis.background.words import background_names, own_name, place_of, share_interval
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow, trial_ids
from flowsweep.analysis.summarising.trial_row import known
from flowsweep.grouping import grouped
from flowsweep.wording import counted, format_number, format_share

MOST_POINTS = 6
"""Of a direction with more, one sentence says from where to where shares go."""
_METHOD = "t interval of the mean log odds of the share, over trials of the same point"
_described = partial(Hypothesis, "share", method=_METHOD, figure="shares")


def share_hypotheses(observed: Observations, not_along: AbstractSet[str] = frozenset()) -> list[Hypothesis]:
    """Describe how trials and the traffic beside them share a path.

    Args:
        observed: Trials of one sweep and mode.
        not_along: Trials beside which some traffic goes another way (`OtherWays`): no path is shared with it.

    Returns:
        One for each direction and point with shares; of many points one for the direction. They describe:
        what share is fair is for a person to say. The effect is the share (unit "1").

    Method:
        The share s is that of the goodput of all traffic, over the time that all of it ran
        (`flowsweep.analysis.background.shares`). Its log odds, ln(s / (1 − s)), are those of a ratio of
        goodputs; their mean over repeats has a t interval, which is turned back into shares.
    """
    shared = replace(observed, rows=tuple(row for row in observed.rows if row.get("share") is not None))
    return [
        hypothesis
        for where, rows in shared.by_direction()
        for hypothesis in _hypotheses(observed, where, rows, not_along)
    ]


def _hypotheses(
    observed: Observations, direction: str, rows: Sequence[ObservedRow], not_along: AbstractSet[str]
) -> Iterable[Hypothesis]:
    together = not any(row["trial_id"] in not_along for row in rows)
    factors = [factor for factor in observed.factors if factor != DIRECTION]
    points = grouped(rows, lambda row: tuple(str(row.get(factor)) for factor in factors))
    if len(points) <= MOST_POINTS:
        return [
            _of_point(
                observed,
                direction,
                own,
                place_of([(name, own[0].get(name)) for name in factors]),
                together=together,
            )
            for own in points.values()
        ]
    return [_of_direction(observed, direction, rows, points=len(points), together=together)]


def _of_point(
    observed: Observations, direction: str, rows: Sequence[ObservedRow], where: str, *, together: bool
) -> Hypothesis:
    share, low, high = share_interval([known(row["share"]) for row in rows])
    between = "" if low is None or high is None else f" [{_percent(low)}, {_percent(high)}]"
    average = " on average" if len(rows) > 1 else ""
    jain = format_number(median(known(row["jain_flows"]) for row in rows)) if together else ""
    index = f", Jain's index over the flows {jain}" if together else ""
    claim = (
        f"{direction}: {own_name(rows[0])} takes {format_share(share)}{between}{average} of "
        f"{_whole(rows[0], together=together)}{where}; {counted(len(rows), 'trial')}{index}."
    )
    return _described(observed.scope(direction), claim, trial_ids(rows), Estimate(share, "1", low, high))


def _of_direction(
    observed: Observations, direction: str, rows: Sequence[ObservedRow], *, points: int, together: bool
) -> Hypothesis:
    ordered = sorted(known(row["share"]) for row in rows)
    claim = (
        f"{direction}: {own_name(rows[0])} takes {format_share(ordered[0])} to {format_share(ordered[-1])} "
        f"of {_whole(rows[0], together=together)}, over {counted(points, 'point')}."
    )
    return _described(observed.scope(direction), claim, trial_ids(rows), Estimate(median(ordered), "1"))


def _whole(row: ObservedRow, *, together: bool) -> str:
    """What a share is of; of traffic that may go another way it is nothing that both take part in."""
    if together:
        return f"the goodput that it shares with {background_names(row)}"
    return f"the goodput of all traffic, that of {background_names(row)} included"


def _percent(share: float) -> str:
    return format_number(share * 100)
