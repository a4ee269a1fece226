"""Repeats of a point of which some are what the sender counted, and others what the receiver did."""

from collections import Counter
from collections.abc import Iterator, Sequence

from flowsweep.analysis.summarising.trial_row import TrialRow


def counted_at_both_ends(points: Sequence[Sequence[TrialRow]]) -> Iterator[str]:
    """Say how many of the repeats shown are of which end, where a point has both, as only imported ones may.

    Args:
        points: Rows of a summary, the repeats of each point that is shown.
    """
    ends: Counter[str] = Counter()
    for own in points:
        told = Counter(str(row.get("goodput_method")).partition("_")[0] for row in own)
        if told["sender"] and told["receiver"]:
            ends += told
    if ends:
        yield (
            f"{ends['sender']} of {ends.total()} repeats behind the highest goodput are what the sender "
            f"counted, {ends['receiver']} what the receiver did: what a sender counts may still be under "
            "way, or lost."
        )
