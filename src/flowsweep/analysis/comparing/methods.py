"""How goodput was taken, by `goodput_method`: at which end, and as which figure; where A and B are unlike."""

from collections.abc import Callable, Iterable, Sequence

from flowsweep.analysis.comparing.points import Point, Points
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.grouping import grouped
from flowsweep.wording import counted

_ENDS = {"sender": "what the sender counts", "receiver": "what the receiver counts", "job": "of a whole job"}
_FIGURES = {"median": "the median of intervals", "mean": "the mean of a whole trial"}


def unlike_ends(first: Points, second: Points, common: Sequence[Point]) -> frozenset[Point]:
    """Find the points at which some trials count what was sent and others what was received.

    Args:
        first: Trials of A that take part, by point.
        second: Of B.
        common: Points of both.
    """
    return frozenset(point for point in common if len(_of(_end, first[point]) | _of(_end, second[point])) > 1)


def measured_unlike(first: Points, second: Points, common: Sequence[Point]) -> tuple[str, ...]:
    """Say at how many points goodput of A and B is not the same quantity, and what follows.

    Args:
        first: Trials of A that take part, by point.
        second: Of B.
        common: Points of both.
    """
    of_ends = unlike_ends(first, second, common)
    of_figures = [p for p in common if _of(_figure, first[p]) != _of(_figure, second[p])]
    ends = _said(first, second, [point for point in common if point in of_ends], _end, _ENDS)
    figures = _said(first, second, of_figures, _figure, _FIGURES)
    return (
        *(f"{said}: what was sent may not have arrived, and nothing is decided there." for said in ends),
        *(f"{said}: a stall lowers a mean, and hardly a median." for said in figures),
    )


def _said(
    first: Points,
    second: Points,
    points: Sequence[Point],
    part: Callable[[TrialRow], str],
    words: dict[str, str],
) -> list[str]:
    """What goodput is in A and in B, for each two of these that occur."""
    alike = grouped(
        points, lambda point: (_named(first[point], part, words), _named(second[point], part, words))
    )
    return [
        f"Goodput is {in_a} in A and {in_b} in B at {counted(len(of_pair), 'point')}"
        for (in_a, in_b), of_pair in alike.items()
    ]


def _named(rows: Iterable[TrialRow], part: Callable[[TrialRow], str], words: dict[str, str]) -> str:
    return " or ".join(words[name] for name in sorted(_of(part, rows)))


def _of(part: Callable[[TrialRow], str], rows: Iterable[TrialRow]) -> set[str]:
    return {part(row) for row in rows}


def _end(row: TrialRow) -> str:
    return _method(row).partition("_")[0]


def _figure(row: TrialRow) -> str:
    return _method(row).rpartition("_")[2]


def _method(row: TrialRow) -> str:
    return row.get("goodput_method") or "receiver_median"
