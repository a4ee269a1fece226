"""What the responses of one trial look like beyond its summary: how late, in which order, how steady."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from flowsweep.defaults import SECOND_NS

_LATE_PERCENT = 95


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
    by_second_ns: tuple[float, ...]
    """Median of the probes sent in each second, of the seconds with a response."""


def responses(echoes: Iterable[Mapping[str, Any]]) -> Responses | None:
    """Look at the probes of one trial.

    Args:
        echoes: Rows of the table `echoes`: sequence, sent_ns, rtt_ns (null: lost).

    Returns:
        None where no probe was answered.
    """
    sent = list(echoes)
    answered = [row for row in sent if row["rtt_ns"] is not None]
    if not answered:
        return None
    times = sorted(row["rtt_ns"] for row in answered)
    ranked = [*times, *[None] * (len(sent) - len(answered))]
    seconds: dict[int, list[int]] = {}
    for row in answered:
        seconds.setdefault(row["sent_ns"] // SECOND_NS, []).append(row["rtt_ns"])
    return Responses(
        least_ns=times[0],
        median_ns=_median(ranked),
        late_ns=ranked[-(-len(ranked) * _LATE_PERCENT // 100) - 1],
        most_ns=times[-1],
        reordered=_reordered(answered),
        by_second_ns=tuple(median(seconds[second]) for second in sorted(seconds)),
    )


def _median(ranked: Sequence[int | None]) -> float | None:
    low, high = ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]
    return None if low is None or high is None else (low + high) / 2


def _reordered(answered: Sequence[Mapping[str, Any]]) -> int:
    latest, count = -1, 0
    for row in sorted(answered, key=lambda row: (row["sent_ns"] + row["rtt_ns"], row["sequence"])):
        count += row["sequence"] < latest
        latest = max(latest, row["sequence"])
    return count
