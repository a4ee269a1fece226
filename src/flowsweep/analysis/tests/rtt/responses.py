"""What the responses of one trial look like beyond its summary: how late, in which order, how steady."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

from flowsweep.defaults import SECOND_NS
from flowsweep.grouping import grouped

_LATE_PERCENT = 95


class Probe(TypedDict):
    """What is looked at of a row of the table `echoes`."""

    sequence: int
    sent_ns: int
    rtt_ns: int | None  # null: lost


@dataclass(frozen=True, slots=True)
class Responses:
    """Of the probes of one trial, of which at least one was answered in time.

    A probe without an answer took infinitely long (RFC 2681, section 4): null where a rank falls on one.
    """

    least_ns: int
    median_ns: float | None
    late_ns: int | None
    """95th percentile, by nearest rank."""
    most_ns: int
    """Of those that were answered."""
    reordered: int
    """Responses that arrived after one to a probe that was sent later (as RFC 4737, 3.3, of packets)."""
    by_second_ns: tuple[float | None, ...]
    """Median of the probes sent in each second, of the seconds in which any was sent."""


def responses(echoes: Iterable[Probe]) -> Responses | None:
    """Look at the probes of one trial.

    Args:
        echoes: Rows of the table `echoes`: sequence, sent_ns, rtt_ns (null: lost).

    Returns:
        None where no probe was answered.
    """
    sent = list(echoes)
    answered = [
        (row["sent_ns"], rtt_ns, row["sequence"]) for row in sent if (rtt_ns := row["rtt_ns"]) is not None
    ]
    if not answered:
        return None
    ranked = _ranked(sent)
    times = [rtt_ns for _, rtt_ns, _ in answered]
    seconds = grouped(sent, lambda row: row["sent_ns"] // SECOND_NS)
    return Responses(
        least_ns=min(times),
        median_ns=_median(ranked),
        late_ns=ranked[-(-len(ranked) * _LATE_PERCENT // 100) - 1],
        most_ns=max(times),
        reordered=_reordered(answered),
        by_second_ns=tuple(_median(_ranked(seconds[second])) for second in sorted(seconds)),
    )


def _ranked(probes: Sequence[Probe]) -> list[int | None]:
    """Times from the least to the greatest, and lost probes after them."""
    return sorted((row["rtt_ns"] for row in probes), key=lambda rtt_ns: (rtt_ns is None, rtt_ns or 0))


def _median(ranked: Sequence[int | None]) -> float | None:
    low, high = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
    return None if low is None or high is None else (low + high) / 2


def _reordered(answered: Sequence[tuple[int, int, int]]) -> int:
    """Of when each was sent, how long its answer took, and its number."""
    latest, count = -1, 0
    for _, sequence in sorted((sent_ns + rtt_ns, sequence) for sent_ns, rtt_ns, sequence in answered):
        count += sequence < latest
        latest = max(latest, sequence)
    return count
