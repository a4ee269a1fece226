"""What the queue of a full path adds to round trips, by TCP's own measurement, as time and as bytes."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from statistics import fmean, median
from types import MappingProxyType

from flowsweep.analysis.axes import level_of
from flowsweep.analysis.background.words import background_names
from flowsweep.analysis.findings.by_point import (
    METHOD,
    METHOD_POSITIVE,
    PointMean,
    between_words,
    left_out_words,
    unlike_points,
    whole_repeats,
)
from flowsweep.analysis.findings.ecmp import on_unlike_paths
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.modes import is_other_path
from flowsweep.analysis.statistics.means import geometric_mean
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow, trial_ids
from flowsweep.analysis.summarising.trial_row import goodput_of, known
from flowsweep.analysis.tests.tcp.least_round_trips import LeastRoundTripRow
from flowsweep.analysis.verdicts import QUEUE
from flowsweep.wording import counted, format_milliseconds, format_size, some_of, with_interval

BLOAT_MS = 20.0
"""A queue that adds less is not noticed by those who share the path: a frame of a call lasts as long."""
_FEWEST_ALIKE = 2
"""Trials of each path, where their minimum round trips come in groups."""
_FEWEST_OF_ERA = 4
"""Trials before and after a path became longer; of fewer that scatter all may be longer by chance."""
_METHOD = (
    "median smoothed round trip less the minimum of the {}, of trials that the path limits: mean of "
    "logarithms by repeat, t interval over repeats; bytes are goodput × that time (Little 1961)"
)
_described = partial(Hypothesis, "bufferbloat", figure="limits")


@dataclass(frozen=True, slots=True)
class _Queued:
    """A trial in whose queue something waits."""

    row: ObservedRow
    least_ms: float
    """Of the path that its flows took."""

    @property
    def wait_ms(self) -> float:
        return known(self.row["rtt_median_ms"]) - self.least_ms


def bufferbloat_hypotheses(
    observed: Observations,
    round_trips: Mapping[str, Sequence[LeastRoundTripRow]] = MappingProxyType({}),
    back: AbstractSet[str] = frozenset(),
) -> list[Hypothesis]:
    """Describe what waits in each direction's queue when the path is full.

    Args:
        observed: Trials of one sweep and mode.
        round_trips: Rows of `least_round_trips`, by trial_id, of trials with several flows.
        back: Trials beside which background traffic goes the other way (`OtherWays`): its queue adds, too.

    Returns:
        One description for each direction in which the queue adds at least BLOAT_MS and as much as the
        minimum round trip (Gettys and Nichols, "Bufferbloat: dark buffers in the Internet", 2011). The effect
        is what it adds, in s, with an interval where there are three repeats. Trials that a window, a rate or
        a CPU limits take no part: what lengthens their round trips is not a queue of theirs. Nor do trials
        whose flows take paths of unlike length: how much of their round trips is queue is not known. Beside
        background traffic the minimum round trip is that of all trials that took a path (`_least_of_path`).
    """
    found = []
    for _, rows in observed.by_direction(lambda row: row.get("rtt_min_ms")):
        full = [row for row in rows if row.get("verdict") == QUEUE]
        unlike = on_unlike_paths(full, round_trips)
        least_ms = _least_of_path(rows, observed.factors)
        queued = [
            # Of a queue that others keep filled not even the handshake sees the end.
            _Queued(row, least_ms[row["trial_id"]] if background_names(row) else known(row["rtt_min_ms"]))
            for row in full
            if row["trial_id"] not in unlike
        ]
        waits = [one for one in queued if (one.row.get("rtt_median_ms") or 0.0) > one.least_ms]
        if waits and (hypothesis := _hypothesis(observed, waits, len(full), len(unlike), back)) is not None:
            found.append(hypothesis)
    return found


def _least_of_path(rows: Sequence[ObservedRow], factors: Sequence[str]) -> dict[str, float]:
    """The minimum round trip of the path that each trial of a direction took, as far as it shows, in ms.

    Trials fall on paths of unlike length where their minimum round trips come in narrow groups far apart, or
    where all of them are longer, or shorter, from some time on. What scatters is a queue that others fill,
    and so is what goes with the settings, as where many flows never let it run empty.
    """
    found = (_narrow_groups(rows), _eras(rows))
    paths = next((paths for paths in found if _have_points_in_common(paths, factors)), [list(rows)])
    least_ms = [min(map(_least_ms, path)) for path in paths]
    return {row["trial_id"]: least for path, least in zip(paths, least_ms, strict=True) for row in path}


def _have_points_in_common(paths: Sequence[Sequence[ObservedRow]], factors: Sequence[str]) -> bool:
    """Whether trials with the same settings fell on several of these paths."""
    on_each = [{tuple(level_of(row, axis) for axis in factors) for row in path} for path in paths]
    return sum(map(len, on_each)) > len(set().union(*on_each))


def _narrow_groups(rows: Sequence[ObservedRow]) -> list[list[ObservedRow]]:
    """Groups of alike minimum round trips; none where these scatter."""
    groups: list[list[ObservedRow]] = []
    for row in sorted(rows, key=_least_ms):
        if groups and not _longer(_least_ms(row), _least_ms(groups[-1][-1])):
            groups[-1].append(row)
        else:
            groups.append([row])
    narrow = all(
        len(group) >= _FEWEST_ALIKE and not _longer(_least_ms(group[-1]), _least_ms(group[0]))
        for group in groups
    )
    return groups if narrow else []


def _eras(rows: Sequence[ObservedRow]) -> list[list[ObservedRow]]:
    """Parts of the campaign between which the path became longer, or shorter, for all trials."""
    few = _FEWEST_OF_ERA
    eras: list[list[ObservedRow]] = []
    began = 0
    for place in range(few, len(rows) - few + 1):
        if place - began >= few and _apart(rows[place - few : place], rows[place : place + few]):
            eras.append(list(rows[began:place]))
            began = place
    found: list[list[ObservedRow]] = []
    for era in [*eras, list(rows[began:])]:
        if found and not _apart(found[-1], era):
            found[-1] += era
        else:
            found.append(era)
    return found


def _apart(before: Sequence[ObservedRow], after: Sequence[ObservedRow]) -> bool:
    """Whether all of the one took a longer path than any of the other."""
    (first, *_, last), (after_first, *_, after_last) = (
        sorted(map(_least_ms, era)) for era in (before, after)
    )
    return _longer(after_first, last) or _longer(first, after_last)


def _longer(one_ms: float, other_ms: float) -> bool:
    return is_other_path(one_ms - other_ms, other_ms)


def _least_ms(row: ObservedRow) -> float:
    return known(row["rtt_min_ms"])


def _hypothesis(
    observed: Observations, waits: Sequence[_Queued], full: int, unlike: int, back: AbstractSet[str]
) -> Hypothesis | None:
    rows = [one.row for one in waits]
    direction, repeats = rows[0][DIRECTION], whole_repeats(rows)
    added_ms = geometric_mean(
        [geometric_mean([waits[place].wait_ms for place in own]).value for own in repeats]
    )
    points = unlike_points([(one.row, one.wait_ms) for one in waits], positive=True)
    most = points[-1] if points else added_ms
    if most.value < max(BLOAT_MS, median(one.least_ms for one in waits)):
        return None
    waiting = {one.row["trial_id"]: goodput_of(one.row) * one.wait_ms / 8_000 for one in waits}
    if points:
        longer = between_words(points, format_milliseconds)
        of_points = [fmean(waiting[trial] for trial in point.trials) for point in (points[0], points[-1])]
        bytes_words = " and ".join(map(format_size, of_points))
    else:
        longer = with_interval(format_milliseconds, added_ms.value, added_ms.low, added_ms.high)
        bytes_words = format_size(geometric_mean(list(waiting.values())).value)
    without = "" if points else left_out_words(len(rows) - sum(map(len, repeats)))
    added = Estimate(
        most.value / 1e3, "s", *(None if end is None else end / 1e3 for end in (most.low, most.high))
    )
    shared = any(background_names(row) for row in rows)
    whose = " of these trials waiting, beside what others have in it" if shared else " waiting"
    # Packets wait in the one and their acknowledgements in the other.
    both_ways = any(row.get("simultaneous") or row["trial_id"] in back for row in rows)
    whose_queue = "the queues of both directions together add" if both_ways else "its queue adds"
    longer_for_all = (
        "Round trips of all that shares the path are as much longer"
        if both_ways
        else "All that shares the path waits as long"
    )
    held = "" if both_ways else f" ({bytes_words}{whose})"
    # Where others fill the queue, a smaller window here leaves them the more room.
    shorter = "" if shared else ", or a window nearer to bandwidth × delay,"
    claim = (
        f"{direction}: where the path is full {whose_queue} {longer} to {_least_words(waits, shared=shared)}"
        f"{held} in {some_of(len(rows), full, 'trial')} (medians of trials, the highest "
        f"{format_milliseconds(max(one.wait_ms for one in waits))}).{without}{_unlike_words(unlike)} "
        f"{longer_for_all}: CoDel at the bottleneck{shorter} shortens it; fair queueing spares what "
        "fills no queue of its own."
    )
    method = _METHOD.format(_least_of(waits, shared=shared)) + _method_words(points)
    return _described(observed.scope(direction), claim, trial_ids(rows), added, method=method)


def _method_words(points: Sequence[PointMean]) -> str:
    words = [METHOD] if points else []
    if any(point.low is not None for point in points):
        words.append(METHOD_POSITIVE)
    return "".join(f"; {one}" for one in words)


def _least_of(waits: Sequence[_Queued], *, shared: bool) -> str:
    """Of what the minimum round trip is taken."""
    if not shared:
        return "trial"
    return "direction" if len({one.least_ms for one in waits}) == 1 else "path"


def _least_words(waits: Sequence[_Queued], *, shared: bool) -> str:
    """The round trip without a queue; of each path where trials took paths of unlike length."""
    least_ms, most_ms = (choose(one.least_ms for one in waits) for choose in (min, max))
    if not is_other_path(most_ms - least_ms, least_ms):
        return f"a round trip of {format_milliseconds(least_ms)}"
    return (
        f"round trips of {format_milliseconds(least_ms)} to {format_milliseconds(most_ms)}, the least of "
        f"each {'path' if shared else 'trial'}, as trials took paths of unlike length"
    )


def _unlike_words(unlike: int) -> str:
    if not unlike:
        return ""
    return (
        f" That is without {counted(unlike, 'trial')} whose flows took paths of unlike length: how much of "
        "their round trips is queue is not known."
    )
