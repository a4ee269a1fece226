"""Datagrams that came after later ones, or more than once, direction by direction."""

from collections.abc import Iterator, Sequence
from functools import partial

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Scope, by_sweep, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.wording import counted, format_share

_NOTED = 0.001
"""A share of datagrams up to which nobody needs to know."""
_WAYS = ": parallel paths or links can do that, and devices with several queues"
"""A queue from which comes first what went in first cannot, however much it makes delays vary."""
_described = partial(
    Hypothesis,
    "reordering",
    method=(
        "datagrams that came after one with a higher number (RFC 4737), and those that came again "
        "(RFC 5560), of all that came"
    ),
)


def reordering_hypotheses(summary: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Say which share of the datagrams came out of order or twice, where that is more than 0.1 %.

    Args:
        summary: Rows of a campaign.

    Yields:
        One description for each sweep and direction with so many; the effect is the share out of order, or,
        where that is no more than 0.1 %, that of those that came again (unit "1").
    """
    whole = (row for row in summary if row["status"] == "ok" and row.get("datagrams"))
    for scope, rows in by_sweep(whole, directions=True).items():
        came = sum(known(row["datagrams"]) for row in rows)
        out_of_order = sum(row["reordered"] or 0 for row in rows) / came
        again = sum(row["duplicates"] or 0 for row in rows) / came
        if max(out_of_order, again) > _NOTED:
            yield _hypothesis(scope, rows, out_of_order, again)


def _hypothesis(scope: Scope, rows: Sequence[TrialRow], out_of_order: float, again: float) -> Hypothesis:
    said = []
    if out_of_order > _NOTED:
        said.append(
            f"{format_share(out_of_order)} of the datagrams came after later ones{_most(rows)}, "
            f"the first of which came up to {counted(_extent(rows), 'datagram')} earlier"
        )
    if again > _NOTED:
        of_which = "" if said else " of the datagrams"
        said.append(f"{format_share(again)}{of_which} came again")
    ways = _WAYS if out_of_order > _NOTED else ""
    claim = f"{scope.direction}: {', and '.join(said)}{ways}."
    effect = out_of_order if out_of_order > _NOTED else again
    return _described(scope, claim, trial_ids(rows), Estimate(effect, "1"))


def _extent(rows: Sequence[TrialRow]) -> int:
    return max(row["reordering_extent_max"] or 0 for row in rows)


def _most(rows: Sequence[TrialRow]) -> str:
    """In which trials fewest and most did, where trials differ."""
    shares = [(row["reordered"] or 0) / known(row["datagrams"]) for row in rows]
    ends = [format_share(share) for share in (min(shares), max(shares))]
    return "" if ends[0] == ends[1] else f" ({ends[0]} to {ends[1]} in {counted(len(rows), 'trial')})"
