"""Do flows of one trial take unlike paths, as where routers spread them by addresses and ports (ECMP)?"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from flowsweep.analysis.findings.hypothesis import NO_ESTIMATE, Estimate, Hypothesis
from flowsweep.analysis.findings.modes import is_other_path
from flowsweep.analysis.statistics.means import GeometricMean, geometric_mean
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, trial_ids
from flowsweep.analysis.tests.tcp.least_round_trips import LeastRoundTripRow
from flowsweep.wording import counted, format_change, format_milliseconds, format_number, some_of

_FEWEST = 3
"""Flows of a path; fewer are strays."""
_LEAST_SHARE = 0.05
"""Of all flows that a path has."""
_APART = 3.0
"""Times as far as a path's own round trips spread must the next path's be: differences of logarithms."""
_METHOD = (
    "minimum round trip of each flow (TCP_INFO tcpi_min_rtt, handshake included), of all trials of a "
    "direction with several flows; paths are at least a tenth and 0.5 ms apart, and three times as far as "
    "the round trips of one spread; bytes acknowledged per flow, within trials, geometric mean, Student's t "
    "over trials"
)
_described = partial(Hypothesis, "ecmp", method=_METHOD)


@dataclass(frozen=True, slots=True)
class _Path:
    """Flows whose minimum round trips are alike."""

    flows: tuple[LeastRoundTripRow, ...]
    """The shortest round trip first."""

    @property
    def least_us(self) -> int:
        return self.flows[0]["least_us"]

    @property
    def most_us(self) -> int:
        return self.flows[-1]["least_us"]


def ecmp_hypotheses(
    observed: Observations, round_trips: Mapping[str, Sequence[LeastRoundTripRow]]
) -> Iterator[Hypothesis]:
    """Describe the paths of unlike length that flows of the same trials take.

    Args:
        observed: Trials of one sweep and mode.
        round_trips: Rows of `least_round_trips`, by trial_id; times in µs.

    Yields:
        One description for each direction in which there are such paths. The effect is by how many percent a
        flow on the longest of them carries more or less than one on the shortest in the same trial, with its
        interval from three trials on. A path that became longer between trials is none, as no trial has both;
        nor are round trips that vary, as where flows start beside background traffic. Trials between groups
        of hosts take no part: their flows have unlike ends.
    """
    for direction, rows in observed.by_direction(lambda row: _takes_part(row, round_trips)):
        flows = [flow for row in rows for flow in round_trips[row["trial_id"]]]
        paths = _paths(flows)
        several = _of_several(rows, paths)
        if not several:
            continue
        carried = _carried(several, paths)
        yield _described(
            observed.scope(direction),
            _said(direction, paths, len(flows), some_of(len(several), len(rows), "trial"), carried),
            trial_ids(several),
            NO_ESTIMATE if carried is None else Estimate(*_in_percent(carried)),
            trials=len(rows),
        )


def on_unlike_paths(
    rows: Sequence[ObservedRow], round_trips: Mapping[str, Sequence[LeastRoundTripRow]]
) -> frozenset[str]:
    """Name the trials of a direction whose flows take paths of unlike length: trial_id."""
    own = [row for row in rows if _takes_part(row, round_trips)]
    paths = _paths(flow for row in own for flow in round_trips[row["trial_id"]]) if own else []
    return frozenset(trial_ids(_of_several(own, paths)))


def _of_several(rows: Sequence[ObservedRow], paths: Sequence[_Path]) -> list[ObservedRow]:
    return [row for row in rows if _paths_of(row["trial_id"], paths) > 1]


def _takes_part(row: ObservedRow, round_trips: Mapping[str, Sequence[LeastRoundTripRow]]) -> bool:
    of_pair = (row.get("sources") or 1, row.get("sinks") or 1) == (1, 1)
    return of_pair and not row.get("subflows_used") and len(round_trips.get(row["trial_id"], ())) > 1


def _paths(flows: Iterable[LeastRoundTripRow]) -> list[_Path]:
    """Split flows where their minimum round trips leave a gap; nothing where gaps are no clear ones."""
    ordered = sorted(flows, key=lambda flow: flow["least_us"])
    groups = [[ordered[0]]]
    for before, flow in pairwise(ordered):
        apart_us = flow["least_us"] - before["least_us"]
        if is_other_path(apart_us / 1_000, before["least_us"] / 1_000):
            groups.append([])
        groups[-1].append(flow)
    fewest = max(_FEWEST, _LEAST_SHARE * len(ordered))
    paths = [_Path(tuple(group)) for group in groups if len(group) >= fewest]
    spread = max((math.log(path.most_us / path.least_us) for path in paths), default=0.0)
    clear = all(math.log(far.least_us / near.most_us) >= _APART * spread for near, far in pairwise(paths))
    return paths if clear and len(paths) > 1 else []


def _paths_of(trial_id: str, paths: Sequence[_Path]) -> int:
    return sum(any(flow["trial_id"] == trial_id for flow in path.flows) for path in paths)


def _carried(rows: Sequence[ObservedRow], paths: Sequence[_Path]) -> GeometricMean | None:
    """How many times what a flow on the shortest path carried one on the longest did, in the same trial."""
    ratios = []
    for row in rows:
        near, far = (
            [flow["acked_bytes"] or 0 for flow in path.flows if flow["trial_id"] == row["trial_id"]]
            for path in (paths[0], paths[-1])
        )
        if near and far and all(near) and all(far):
            ratios.append(geometric_mean(far).value / geometric_mean(near).value)
    return geometric_mean(ratios) if ratios else None


def _in_percent(carried: GeometricMean) -> tuple[float, str, float | None, float | None]:
    low, high = (None if end is None else 100 * (end - 1) for end in (carried.low, carried.high))
    return 100 * (carried.value - 1), "%", low, high


def _said(direction: str, paths: Sequence[_Path], of: int, trials: str, carried: GeometricMean | None) -> str:
    lengths = [
        f"{_between(path)} ({len(path.flows)} of {counted(of, 'flow')})"
        if number == 0
        else f"{_between(path)} ({len(path.flows)})"
        for number, path in enumerate(paths)
    ]
    listed = f"{', '.join(lengths[:-1])} or {lengths[-1]}"
    return (
        f"{direction}: flows of the same trial take paths of unlike length, there or back, in {trials}: "
        f"their minimum round trips are {listed}, as where routers spread flows by addresses and ports "
        f"(ECMP).{_carried_words(carried, paths)} Its ports decide which path a flow takes, so that trials "
        "of few flows differ by chance."
    )


def _between(path: _Path) -> str:
    least, most = (format_milliseconds(each / 1_000) for each in (path.least_us, path.most_us))
    return least if least == most else f"{least} to {most}"


def _carried_words(carried: GeometricMean | None, paths: Sequence[_Path]) -> str:
    if carried is None:
        return ""
    which = "the longer" if len(paths) == 2 else "the longest"
    other = "the shorter" if len(paths) == 2 else "the shortest"
    percent, _, low, high = _in_percent(carried)
    size = f"{format_number(carried.value)} times"
    if low is not None and high is not None:
        size = f"{size} ({format_change(percent, low, high)})"
    return f" A flow on {which} carries {size} what one on {other} does in the same trial."
