"""How goodput was taken, at which end, as which figure, of which part of a trial; where A and B differ."""

from collections.abc import Callable, Iterable, Sequence

from flowsweep.analysis.comparing.points import Point, Points
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.grouping import grouped
from flowsweep.wording import counted, format_seconds

_Part = Callable[[TrialRow], str]
"""One thing that a trial's goodput is, in words."""
_ENDS = {"sender": "what the sender counts", "receiver": "what the receiver counts", "job": "of a whole job"}
_FIGURES = {"median": "a median of intervals", "mean": "a mean"}


def unlike_ends(first: Points, second: Points, common: Sequence[Point]) -> frozenset[Point]:
    """Find the points at which some trials count what was sent and others what was received.

    Args:
        first: Trials of A that take part, by point.
        second: Of B.
        common: Points of both.
    """
    return frozenset(_mixed(_end, first, second, common))


def measured_unlike(first: Points, second: Points, common: Sequence[Point]) -> tuple[str, ...]:
    """Say at how many points goodput of A and B is not the same quantity, and what follows.

    Args:
        first: Trials of A that take part, by point.
        second: Of B.
        common: Points of both.
    """
    of_figures = [point for point in common if _of(_figure, first[point]) != _of(_figure, second[point])]
    timed = [point for point in common if not any(map(_ends_when_known, (*first[point], *second[point])))]
    found = (
        (
            _said(_end, first, second, _mixed(_end, first, second, common)),
            "what was sent may not have arrived, and nothing is decided there",
        ),
        (_said(_figure, first, second, of_figures), "a stall lowers a mean, and hardly a median"),
        (
            _said(_counted_part, first, second, _mixed(_counted_part, first, second, timed)),
            "how trials begin, as in slow start, counts where less is left out",
        ),
    )
    return tuple(f"{said}: {why}." for lines, why in found for said in lines)


def _mixed(part: _Part, first: Points, second: Points, common: Sequence[Point]) -> list[Point]:
    return [point for point in common if len(_of(part, first[point]) | _of(part, second[point])) > 1]


def _said(part: _Part, first: Points, second: Points, points: Sequence[Point]) -> list[str]:
    """What goodput is in A and in B, for each two of these that occur."""
    alike = grouped(points, lambda point: (_named(part, first[point]), _named(part, second[point])))
    return [
        f"Goodput is {in_a} in A and {in_b} in B at {counted(len(of_pair), 'point')}"
        for (in_a, in_b), of_pair in alike.items()
    ]


def _named(part: _Part, rows: Iterable[TrialRow]) -> str:
    return " or ".join(sorted(_of(part, rows)))


def _of(part: _Part, rows: Iterable[TrialRow]) -> set[str]:
    return {part(row) for row in rows}


def _end(row: TrialRow) -> str:
    return _ENDS[_method(row).partition("_")[0]]


def _figure(row: TrialRow) -> str:
    return _FIGURES[_method(row).rpartition("_")[2]]


def _method(row: TrialRow) -> str:
    return row.get("goodput_method") or "receiver_median"


def _ends_when_known(row: TrialRow) -> bool:
    """Whether a trial looked for where its mean begins, so that its repeats omit unlike times."""
    return row.get("until_share") is not None


def _counted_part(row: TrialRow) -> str:
    omitted_s = row.get("omit_s")
    return f"of what follows the first {format_seconds(omitted_s)}" if omitted_s else "of the whole duration"
