"""Datagrams that came after later ones, or more than once, direction by direction."""

from collections.abc import Iterator, Sequence
from functools import partial

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Scope, by_sweep, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.wording import counted, format_milliseconds, format_share

_NOTED = 0.001
"""A share of datagrams up to which nobody needs to know."""
_US_PER_MS = 1e3
_described = partial(
    Hypothesis,
    "reordering",
    method=(
        "datagrams that came after one with a higher number (RFC 4737), and those that came again "
        "(RFC 5560), of all that came; delay variation is the 99th percentile of delays above the least "
        "of their flow"
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
    why = _why(rows) if out_of_order > _NOTED else ""
    claim = f"{scope.direction}: {', and '.join(said)}{why}."
    effect = out_of_order if out_of_order > _NOTED else again
    return _described(scope, claim, trial_ids(rows), Estimate(effect, "1"))


def _extent(rows: Sequence[TrialRow]) -> int:
    return max(row["reordering_extent_max"] or 0 for row in rows)


def _most(rows: Sequence[TrialRow]) -> str:
    """In which trials fewest and most did, where trials differ."""
    shares = [(row["reordered"] or 0) / known(row["datagrams"]) for row in rows]
    ends = [format_share(share) for share in (min(shares), max(shares))]
    return "" if ends[0] == ends[1] else f" ({ends[0]} to {ends[1]} in {counted(len(rows), 'trial')})"


def _why(rows: Sequence[TrialRow]) -> str:
    """Delays that vary by more than datagrams are apart let later ones overtake."""
    varied = [
        (delay_ms, apart_us / _US_PER_MS)
        for row in rows
        if (delay_ms := row["delay_variation_ms"]) and (apart_us := row["spacing_send_median_us"])
    ]
    if not varied or not all(delay_ms > apart_ms for delay_ms, apart_ms in varied):
        return ""
    delay_ms, apart_ms = max(varied)
    return (
        f": delays vary by up to {format_milliseconds(delay_ms)}, more than the "
        f"{format_milliseconds(apart_ms)} between datagrams, which is a likely cause"
    )
