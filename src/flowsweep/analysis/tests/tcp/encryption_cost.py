"""What encryption costs: CPU time of flows that are protected, beside others that differ in nothing else."""

from collections.abc import Sequence
from statistics import fmean

import scipy

from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, trial_ids
from flowsweep.analysis.summarising.columns import COST_COLUMNS
from flowsweep.axes import ENCRYPTION
from flowsweep.defaults import CONFIDENCE
from flowsweep.wording import counted, format_number, with_interval

_PAIRS_NEEDED = 3
"""For an interval."""
_METHOD = (
    "CPU time of all flows' threads by the bytes that they sent or read, in pairs of trials of one repeat "
    "that differ in encryption only; mean difference, with a t interval that takes the pairs as independent"
)
Pair = tuple[ObservedRow, ObservedRow]
"""Plain, and protected."""


def encryption_hypotheses(observed: Observations) -> list[Hypothesis]:
    """Describe for each direction what protecting its flows cost.

    Args:
        observed: Trials of one sweep and mode.

    Returns:
        One for each direction and kind of encryption with trials of both; it only describes. The effect is
        the CPU time of both ends together that a gigabyte took more (unit "s/GB").
    """
    found = []
    for direction, rows in observed.by_direction(_has_costs):
        plain = {_place(row): row for row in rows if row["encryption"] == ENCRYPTION.default}
        pairs: dict[str, list[Pair]] = {}
        for row in rows:
            kind, beside = row["encryption"], plain.get(_place(row))
            if beside is not None and kind is not None and kind != ENCRYPTION.default:
                pairs.setdefault(kind, []).append((beside, row))
        found += [_hypothesis(observed, direction, kind, own) for kind, own in pairs.items()]
    return found


def _has_costs(row: ObservedRow) -> bool:
    return all(row.get(column) is not None for column in COST_COLUMNS)


def _place(row: ObservedRow) -> tuple[str, ...]:
    """All that two trials of a pair have in common."""
    return tuple(
        repr(row.get(column)) for column in (*POINT_COLUMNS, "repeat") if column != ENCRYPTION.column
    )


def _hypothesis(observed: Observations, direction: str, kind: str, pairs: Sequence[Pair]) -> Hypothesis:
    estimate = _estimate([_cost(protected) - _cost(plain) for plain, protected in pairs])
    plain, protected = (_means(rows) for rows in zip(*pairs, strict=True))
    ends = [
        f"{more} at the {end} in place of {less}"
        for end, more, less in zip(("sender", "receiver"), protected, plain, strict=True)
    ]
    value, low, high = estimate
    if low is not None and high is not None and low <= 0 <= high:
        more = f"{with_interval(_written, *estimate)} more for a gigabyte"
        took = f"whether {kind} costs CPU time is not clear: {more}"
    elif value < 0:
        less = (-value, None if high is None else -high, None if low is None else -low)
        took = f"a gigabyte took {with_interval(_written, *less)} of CPU time less with {kind}"
    else:
        took = f"a gigabyte took {with_interval(_written, *estimate)} of CPU time more with {kind}"
    claim = (
        f"{direction}: {took}, both ends together: {' and '.join(ends)} (mean of "
        f"{counted(len(pairs), 'pair')} of trials that differ in nothing else)."
    )
    return Hypothesis(
        "encryption",
        observed.scope(direction),
        claim,
        trial_ids([row for pair in pairs for row in pair]),
        Estimate(estimate[0], "s/GB", *estimate[1:]),
        method=_METHOD,
        axis=ENCRYPTION.column,
        figure=FigureKey("cpu", *observed.scope(direction), "goodput_bps"),
    )


def _cost(row: ObservedRow) -> float:
    return sum(_costs(row))


def _costs(row: ObservedRow) -> tuple[float, float]:
    return row["cpu_send_s_per_gb"] or 0.0, row["cpu_recv_s_per_gb"] or 0.0


def _means(rows: Sequence[ObservedRow]) -> tuple[str, str]:
    """Of either end."""
    send, receive = zip(*map(_costs, rows), strict=True)
    return _written(fmean(send)), _written(fmean(receive))


def _written(cost: float) -> str:
    return f"{format_number(cost)} s"


def _estimate(costs: Sequence[float]) -> tuple[float, float | None, float | None]:
    """Mean, and the ends of its interval where there are pairs enough."""
    mean = fmean(costs)
    if len(costs) < _PAIRS_NEEDED or len(set(costs)) == 1:
        return mean, None, None
    low, high = scipy.stats.ttest_1samp(costs, 0.0).confidence_interval(CONFIDENCE)
    return mean, float(low), float(high)
