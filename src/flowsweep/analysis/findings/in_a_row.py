"""Trials to which the same happened one after the other: when that was, and whether chance explains it."""

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import TypeVar

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import SIGNIFICANCE
from flowsweep.grouping import grouped
from flowsweep.wording import direction_of

FEWEST_IN_A_ROW = 3
_NAMED = 3
"""Runs that a sentence names, at most."""
_AnyRow = TypeVar("_AnyRow", bound=TrialRow)
_Anything = TypeVar("_Anything")


def in_time(rows: Sequence[_AnyRow]) -> list[_AnyRow]:
    """Sort trials by their start; nothing where that of one is not known."""
    if not all(row["started_at"] for row in rows):
        return []
    return sorted(rows, key=started)


def started(row: TrialRow) -> datetime:
    """When a trial began, of which that is known."""
    return datetime.fromisoformat(str(row["started_at"]))


def runs_of(rows: Sequence[_Anything], happened: Callable[[_Anything], bool]) -> list[list[_Anything]]:
    """Each run of trials, in the order given, to all of which it happened."""
    return [list(run) for hit, run in groupby(rows, happened) if hit]


def long_runs(rows: Sequence[_AnyRow], happened: Callable[[_AnyRow], bool]) -> list[list[_AnyRow]]:
    """Find runs that random order does not explain, direction by direction; the first to begin comes first.

    Args:
        rows: Those to which it may have happened.
        happened: Whether it happened to a trial.

    Returns:
        Runs of three trials or more, so long that in random order fewer than 0.05 of that length are expected
        in their direction (`expected_runs`). None where it happened to all of a direction's, or where a start
        is not known.
    """
    found = [run for own in grouped(in_time(rows), direction_of).values() for run in _long(own, happened)]
    return sorted(found, key=lambda run: started(run[0]))


def _long(own: Sequence[_AnyRow], happened: Callable[[_AnyRow], bool]) -> Iterator[list[_AnyRow]]:
    hits = sum(map(happened, own))
    for run in runs_of(own, happened):
        if len(run) >= FEWEST_IN_A_ROW and expected_runs(len(run), hits, len(own)) < SIGNIFICANCE:
            yield run


def expected_runs(length: int, hits: int, trials: int) -> float:
    """How many runs of that length or longer there are on average, where all orders are as likely.

    Mood, The distribution theory of runs, Annals of Mathematical Statistics 11, 1940. It is no less than the
    probability that there is one.
    """
    return (trials - hits + 1) * all_in_places(length, hits, trials)


def all_in_places(length: int, hits: int, trials: int) -> float:
    """How probable it is in random order that all of so many places, as the last ones, are hits."""
    return math.prod((hits - place) / (trials - place) for place in range(length))


def span(first: TrialRow, last: TrialRow) -> str:
    """Say when trials began, in words: "from 2026-03-01 12:00 to 13:00 UTC"."""
    begin, end = started(first), started(last)
    date = "" if begin.date() == end.date() else "%Y-%m-%d "
    clock = "%H:%M" if (end - begin).total_seconds() >= 60 else "%H:%M:%S"
    return f"from {begin:%Y-%m-%d {clock}} to {end:{date}{clock}} UTC"


def runs_in_words(runs: Sequence[Sequence[TrialRow]], hits: int, *, several: bool) -> str:
    """Name the longest of some runs: "12 in a row from … to … UTC, and 5 from … to … UTC"; nothing of none.

    Args:
        runs: From `long_runs`.
        hits: How many trials there are to which it happened.
        several: Whether the trials are of several directions, so that each run's has to be said.
    """
    longest = sorted(runs, key=len, reverse=True)[:_NAMED]
    named: list[str] = []
    for run in (run for run in runs if run in longest):
        count = f"all {hits}" if len(run) == hits else f"{len(run)}"
        of = f" of {direction_of(run[0])}" if several else ""
        named.append(f"{count}{of}{' in a row' if not named else ''} {span(run[0], run[-1])}")
    if more := len(runs) - len(longest):
        named.append(f"{more} more such run{'' if more == 1 else 's'}")
    return ", and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else "".join(named)
