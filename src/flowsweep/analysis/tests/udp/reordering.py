"""Datagrams that came after later ones, or more than once, direction by direction."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, Literal

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Scope, by_sweep, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.wording import counted, format_share, some_of

_LATE: Final = "reordered"
_AGAIN: Final = "duplicates"
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
        where that is no more than 0.1 %, that of those that came again (unit "1"). Trials of which one of
        these is not known, as the file of another tool may not say it, have no part in its share.
    """
    whole = (row for row in summary if row["status"] == "ok" and row.get("datagrams"))
    for scope, rows in by_sweep(whole, directions=True).items():
        late, again = ([row for row in rows if row[name] is not None] for name in (_LATE, _AGAIN))
        if max(_share(late, _LATE), _share(again, _AGAIN)) > _NOTED:
            yield _hypothesis(scope, late, again, len(rows))


def _share(rows: Sequence[TrialRow], name: Literal["reordered", "duplicates"]) -> float:
    """Of all datagrams of trials of which it is known; 0 of none."""
    came = sum(known(row["datagrams"]) for row in rows)
    return sum(known(row[name]) for row in rows) / came if came else 0.0


def _hypothesis(scope: Scope, late: Sequence[TrialRow], again: Sequence[TrialRow], trials: int) -> Hypothesis:
    """`late`, `again`: trials of which it is known how many came late, and again; `trials`: all there are."""
    said = []
    late_share, again_share = _share(late, _LATE), _share(again, _AGAIN)
    if late_share > _NOTED:
        said.append(
            f"{format_share(late_share)} of the datagrams came after later ones{_most(late)}"
            f"{_known_of(late, trials)}{_extent(late)}"
        )
    if again_share > _NOTED:
        of_which = "" if said else " of the datagrams"
        said.append(f"{format_share(again_share)}{of_which} came again{_known_of(again, trials)}")
    ways = _WAYS if late_share > _NOTED else ""
    claim = f"{scope.direction}: {', and '.join(said)}{ways}."
    effect = late_share if late_share > _NOTED else again_share
    used = {
        row["trial_id"]: row
        for share, rows in ((late_share, late), (again_share, again))
        for row in rows
        if share > _NOTED
    }
    return _described(scope, claim, trial_ids(used.values()), Estimate(effect, "1"))


def _known_of(rows: Sequence[TrialRow], trials: int) -> str:
    return "" if len(rows) == trials else f" (known of {some_of(len(rows), trials, 'trial')})"


def _extent(rows: Sequence[TrialRow]) -> str:
    """How much earlier later ones came, if the trials in which datagrams came late say so."""
    late = [row for row in rows if row[_LATE]]
    extents = [extent for row in late if (extent := row["reordering_extent_max"]) is not None]
    if not extents:
        return ""
    of_which = "" if len(extents) == len(late) else f" (known of {some_of(len(extents), len(late), 'trial')})"
    return f", the first of which came up to {counted(max(extents), 'datagram')} earlier{of_which}"


def _most(rows: Sequence[TrialRow]) -> str:
    """In which trials fewest and most did, where trials differ."""
    shares = [_share([row], _LATE) for row in rows]
    ends = [format_share(share) for share in (min(shares), max(shares))]
    return "" if ends[0] == ends[1] else f" ({ends[0]} to {ends[1]} in {counted(len(rows), 'trial')})"
