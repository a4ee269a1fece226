"""Do both directions between two hosts take routes of one length, and does each keep to its own?"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Scope, by_sweep, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.wording import counted, direction

_CLEAR_SHARE = 2 / 3
"""Of the trials of a direction that must have counted the same hops for it to have a length."""
_FEWEST = 2
"""Trials of each direction: a single one may have been answered late by the other end."""
_described = partial(
    Hypothesis,
    "routes",
    method="lowest hop limit at which the other end answered, compared by direction and IP version",
    figure="hop_times",
)


def route_hypotheses(measured: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Compare the number of hops of each direction with itself over the trials, and with that of the other.

    Args:
        measured: Rows of a summary: measurements of paths that ended ok.

    Yields:
        One description for a direction whose number of hops differs between trials, one for two hosts whose
        directions differ in it by most of their trials; the effect is then the difference (unit "1"). IP
        versions are apart, as they may be routed apart. Routes of equal length are not known to be the same,
        and nothing is said of them.
    """
    versions = {row.get("family") for row in measured}
    for version in versions:
        own = [row for row in measured if row.get("family") == version and row["path_hops"] is not None]
        named = f" by IPv{version}" if version and len(versions) > 1 else ""
        yield from _of_version(by_sweep(own, directions=True), named)


def _of_version(ways: Mapping[Scope, Sequence[TrialRow]], version: str) -> Iterator[Hypothesis]:
    for scope, rows in ways.items():
        lengths = _lengths(rows)
        if len(lengths) > 1:
            yield _described(scope, _said_of_change(f"{scope.direction}{version}", lengths), trial_ids(rows))
    for scope, rows in ways.items():
        src, dst = rows[0]["src"], rows[0]["dst"]
        back = ways.get(scope._replace(direction=direction(dst, src)), [])
        if min(len(rows), len(back)) < _FEWEST or src > dst:
            continue
        there, here = _length(rows), _length(back)
        if there is not None and here is not None and there != here:
            yield _unlike(scope, (there, here), version, [*rows, *back])


def _lengths(rows: Sequence[TrialRow]) -> Mapping[int | None, int]:
    """How many trials counted how many hops, the most frequent first."""
    return dict(Counter(row["path_hops"] for row in rows).most_common())


def _length(rows: Sequence[TrialRow]) -> int | None:
    hops, trials = next(iter(_lengths(rows).items()))
    return hops if trials >= _CLEAR_SHARE * len(rows) else None


def _unlike(scope: Scope, hops: tuple[int, int], version: str, rows: Sequence[TrialRow]) -> Hypothesis:
    there, back = hops
    src, dst = rows[0]["src"], rows[0]["dst"]
    claim = (
        f"{direction(src, dst)} has {counted(there, 'hop')}{version}, {direction(dst, src)} {back}: the "
        "directions take different routes, or a tunnel hides hops of one. What is measured of one direction "
        "need not hold for the other."
    )
    return _described(scope._replace(direction=None), claim, trial_ids(rows), Estimate(there - back, "1"))


def _said_of_change(where: str, lengths: Mapping[int | None, int]) -> str:
    seen = ", ".join(
        f"{counted(hops or 0, 'hop')} in {counted(trials, 'trial')}" for hops, trials in lengths.items()
    )
    return (
        f"{where}: the number of hops differs between trials, {seen}: the route changed, or load is shared "
        "between several. Such trials are no repeats of each other."
    )
