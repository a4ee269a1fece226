"""What round-trip times teach: how load makes them grow, and what a byte more costs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

import scipy

from flowsweep.analysis.axes import axes_needed, level_of, setting_axes, setting_words
from flowsweep.analysis.findings.by_point import (
    METHOD,
    PointMean,
    between_words,
    left_out_words,
    unlike_points,
    whole_repeats,
)
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.intervals import half_width
from flowsweep.analysis.statistics.observations import Scope, by_sweep, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import CONFIDENCE, EQUIVALENCE_MARGIN, MILLISECOND_NS
from flowsweep.grouping import grouped
from flowsweep.wording import counted, format_milliseconds, format_number

_REPEATS_NEEDED = 3
"""For an interval over repeats."""
_LENGTHS_NEEDED = 3
"""Two points always lie on a line."""

_Trial = tuple[TrialRow, float, float]
"""A trial with its medians when idle and under load, in ms."""
_Ends = tuple[tuple[float, float], tuple[float, float]]
"""The least and the most when idle, and under load, in ms; of points that are alike twice the mean."""


def rtt_hypotheses(summary: Sequence[TrialRow]) -> list[Hypothesis]:
    """Ask how much load adds to the round-trip time, and how it grows with the size of a message.

    Args:
        summary: Rows of `flowsweep.analysis.summary`, of all tests.

    Returns:
        For each sweep and direction with a probe one, whose effect is in s; for each with trials of
        test rtt of three lengths or more one for each echo and setting, in ns/byte.
    """
    ok = [row for row in summary if row["status"] == "ok"]
    probed = [
        row
        for row in ok
        if row.get("rtt_idle_ms") is not None
        and (row.get("rtt_loaded_ms"), row.get("rtt_loaded_loss")) != (None, None)
    ]
    asked = [
        row for row in ok if None not in (row.get("rtt_probe_min_ms"), row["length_bytes"], row.get("echo"))
    ]
    hypotheses = [
        _under_load(scope, rows)
        for scope, rows in by_sweep(probed, directions=True).items()
        if any(row["rtt_loaded_ms"] is not None for row in rows)
    ]
    for scope, rows in by_sweep(asked, directions=True).items():
        hypotheses += _over_lengths(scope, rows)
    return hypotheses


def _under_load(scope: Scope, rows: Sequence[TrialRow]) -> Hypothesis:
    """The growth of the median, in the mean over points that all repeats have: repeats are independent."""
    where = str(scope.direction)
    found = [
        (row, idle_ms, loaded_ms)
        for row in rows
        if (idle_ms := row["rtt_idle_ms"]) is not None and (loaded_ms := row["rtt_loaded_ms"]) is not None
    ]
    repeats = [[found[place] for place in own] for own in whole_repeats([row for row, _, _ in found])]
    counts = len(found), len(rows), len(found) - sum(map(len, repeats))
    growths_ms = [fmean(loaded_ms - idle_ms for _, idle_ms, loaded_ms in own) for own in repeats]
    growth_ms = fmean(growths_ms)
    low_ms = high_ms = p_value = None
    if len(repeats) >= _REPEATS_NEEDED and len(set(growths_ms)) > 1:
        tested = scipy.stats.ttest_1samp(growths_ms, 0.0)
        low_ms, high_ms = map(float, tested.confidence_interval(CONFIDENCE))
        p_value = float(tested.pvalue)
    counted_in = [one for own in repeats for one in own]
    idle_alike, points = _idle_of(
        unlike_points([(row, loaded_ms - idle_ms) for row, idle_ms, loaded_ms in found]),
        {row["trial_id"]: idle_ms for row, idle_ms, _ in found},
    )
    mean_ms = fmean(fmean(idle_ms for _, idle_ms, _ in own) for own in repeats)
    ends = ((mean_ms, mean_ms), (mean_ms + growth_ms, mean_ms + growth_ms))
    if not points and _may_differ_when_idle(counted_in):
        ends = _ends_of_points(counted_in)
    most = (points[-1].value, points[-1].low, points[-1].high) if points else (growth_ms, low_ms, high_ms)
    return Hypothesis(
        "latency",
        scope,
        partial(
            _said_of_load,
            where,
            ends,
            (growth_ms, low_ms, high_ms),
            counts,
            points=points,
            idle_alike=idle_alike,
        ),
        trial_ids(row for row, _, _ in (found if points else counted_in)),
        Estimate(*_in_seconds(most)),
        p_value=p_value,
        method=(
            "median under load less median when idle, of each trial; mean over the points of each repeat, "
            f"t interval and t test over {counted(len(repeats), 'repeat')}{f'; {METHOD}' if points else ''}"
        ),
        figure="rtt_time",
    )


def _idle_of(points: Sequence[PointMean], idle_ms: Mapping[str, float]) -> tuple[bool, tuple[PointMean, ...]]:
    """Tell whether points are alike when idle, by trial_id; if not, name the idle time of each with it."""
    means_ms = [fmean(idle_ms[trial_id] for trial_id in point.trials) for point in points]
    if not points or max(means_ms) <= min(means_ms) * (1 + EQUIVALENCE_MARGIN):
        return True, tuple(points)
    return False, tuple(
        replace(point, name=f"{point.name}, idle {format_milliseconds(own_ms)}")
        for point, own_ms in zip(points, means_ms, strict=True)
    )


def _of_points(trials: Sequence[_Trial]) -> list[list[_Trial]]:
    axes = setting_axes([row for row, *_ in trials])
    return list(grouped(trials, lambda one: tuple(level_of(one[0], axis) for axis in axes)).values())


def _may_differ_when_idle(trials: Sequence[_Trial]) -> bool:
    """Whether no trial may have had the mean over points: they differ when idle, or several ran once."""
    return len(trials) == len(_of_points(trials)) > 1 or bool(
        unlike_points([(row, idle_ms) for row, idle_ms, _ in trials])
    )


def _ends_of_points(trials: Sequence[_Trial]) -> _Ends:
    """The least and the most mean of a point when idle, and under load."""
    points = _of_points(trials)
    idle_ms = [fmean(idle_ms for _, idle_ms, _ in point) for point in points]
    loaded_ms = [fmean(loaded_ms for *_, loaded_ms in point) for point in points]
    return _least_and_most(idle_ms), _least_and_most(loaded_ms)


def _least_and_most(times_ms: Sequence[float]) -> tuple[float, float]:
    """Twice the mean of times that differ by no more than what is of practical effect."""
    if max(times_ms) <= min(times_ms) * (1 + EQUIVALENCE_MARGIN):
        return fmean(times_ms), fmean(times_ms)
    return min(times_ms), max(times_ms)


def _in_seconds(
    found_ms: tuple[float, float | None, float | None],
) -> tuple[float, str, float | None, float | None]:
    value_ms, low_ms, high_ms = found_ms
    return (
        value_ms / 1e3,
        "s",
        None if low_ms is None else low_ms / 1e3,
        None if high_ms is None else high_ms / 1e3,
    )


def _said_of_load(
    where: str,
    ends: _Ends,
    found: tuple[float, float | None, float | None],
    trials: tuple[int, int, int],
    decision: Decision,
    *,
    points: Sequence[PointMean],
    idle_alike: bool,
) -> str:
    """`trials`: how many count, of how many, and of how many of these means of repeats are without.

    Those that do not count lost half of the probes under load or more. `idle_alike`: all `points` have the
    idle time that `ends` begins with.
    """
    count, of, apart = trials
    lost = of - count
    without = (
        f" That is without {counted(lost, 'trial')} that lost half of the probes under load, or more."
        if lost
        else ""
    )
    if points:
        idle_ms = ends[0][0] if idle_alike else None
        return f"{where}: {_said_of_points(points, idle_ms, found, count, decision)}.{without}"
    without += left_out_words(apart)
    growth_ms, low_ms, high_ms = found
    if low_ms is None or high_ms is None:
        idle, loaded = (_from_to(format_milliseconds, end) for end in ends)
        return (
            f"{where}: the round trip is {idle} idle and {loaded} under load "
            f"({counted(count - apart, 'trial')}: not tested).{without}"
        )
    unit, per_ms = ("ms", 1.0) if max(map(max, ends)) >= 1 else ("us", 1e3)

    def write(time_ms: float) -> str:
        return format_number(time_ms * per_ms)

    idle, loaded = (_from_to(write, end) for end in ends)
    if decision == "undecided":
        growth = _with_unit(write, unit, growth_ms, low_ms, high_ms)
        times = f"{idle} {unit} idle, {loaded} {unit} loaded, {growth} more"
        return f"{where}: whether the round trip takes longer under load is not clear: {times}.{without}"
    way, by = "grows", _with_unit(write, unit, growth_ms, low_ms, high_ms)
    if growth_ms < 0:
        way, by = "falls", _with_unit(write, unit, -growth_ms, -high_ms, -low_ms)
    are_alike = ends[0][0] == ends[0][1]
    said = f"from {idle} to {loaded} {unit}, by {by}" if are_alike else f"by {by} (idle {idle} {unit})"
    return f"{where}: under load the round trip {way} {said}.{without}"


def _with_unit(write: Callable[[float], str], unit: str, value: float, low: float, high: float) -> str:
    return f"{write(value)} {unit} [{write(low)}, {write(high)}]"


def _said_of_points(
    points: Sequence[PointMean],
    idle_ms: float | None,
    found: tuple[float, float | None, float | None],
    count: int,
    decision: Decision,
) -> str:
    """`idle_ms`: of all points, if they are alike; `found`: the mean over them, with its interval."""
    growth_ms, low_ms, _ = found
    by_point = f"by {between_words(points, format_milliseconds)}"
    way = "grows" if points[0].value >= 0 else "changes"
    if low_ms is None:
        from_idle = "" if idle_ms is None else f" from {format_milliseconds(idle_ms)}"
        tested = f" ({counted(count, 'trial')}: not tested)"
        return f"under load the round trip {way}{from_idle} {by_point}{tested}"
    from_idle = ""
    if idle_ms is not None:
        unit, per_ms = ("ms", 1.0) if max(idle_ms, idle_ms + growth_ms) >= 1 else ("us", 1e3)
        from_idle = f" from {format_number(idle_ms * per_ms)} {unit}"
    if decision == "undecided":
        lead = "whether the round trip takes longer under load is not clear in the mean over points"
        return f"{lead}:{from_idle} it changes {by_point}"
    return f"under load the round trip {way}{from_idle} {by_point}"


def _from_to(write: Callable[[float], str], ends_ms: tuple[float, float]) -> str:
    least, most = map(write, ends_ms)
    return least if least == most else f"{least} to {most}"


def _over_lengths(scope: Scope, rows: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """What a byte more takes, there and back, from the quickest answer of each trial."""
    axes = axes_needed(rows, lambda row: (row["echo"], row["length_bytes"]))

    def name(row: TrialRow) -> str:
        """Of the line that a trial is of: paths of IPv4 and IPv6, for example, have none in common."""
        return ", ".join(part for part in (row["echo"], setting_words(row, axes)) if part)

    groups = grouped(rows, name)
    for line in sorted(groups):
        own = [
            (row["trial_id"], length, least_ms)
            for row in groups[line]
            if (length := row["length_bytes"]) is not None
            and (least_ms := row["rtt_probe_min_ms"]) is not None
        ]
        if len({length for _, length, _ in own}) >= _LENGTHS_NEEDED:
            yield _of_line(scope, line, own)


def _of_line(scope: Scope, name: str, trials: Sequence[tuple[str, int, float]]) -> Hypothesis:
    """`trials`: each with its length in bytes and its least time in ms."""
    least_ns = [least_ms * MILLISECOND_NS for *_, least_ms in trials]
    found: tuple[float, float | None, float | None] = (0.0, None, None)
    # Times that all are alike have no scatter that tells how far off the line may be.
    if len(set(least_ns)) > 1:
        line = scipy.stats.linregress([length for _, length, _ in trials], least_ns)
        half = half_width(float(line.stderr), len(trials) - 2)
        found = float(line.slope), float(line.slope) - half, float(line.slope) + half
    return Hypothesis(
        "message_size",
        scope,
        partial(_said_of_size, str(scope.direction), name, found, trials[0][-1]),
        tuple(trial_id for trial_id, *_ in trials),
        Estimate(found[0], "ns/byte", *found[1:]),
        axis="length_bytes",
        figure="rtt_size",
        method="least squares of the minimum round-trip time of each trial over the payload; t interval",
    )


def _said_of_size(
    where: str, name: str, found: tuple[float, float | None, float | None], least_ms: float, _: Decision
) -> str:
    """`least_ms`: of all trials, where all are alike and have no interval."""
    slope, low, high = found
    if low is None or high is None:
        same = f"longer messages take no longer, {format_milliseconds(least_ms)} at each length"
        return f"{where}: {same}, there and back ({name})."
    if low <= 0 <= high:
        lead = f"{where}: whether longer messages take longer is not clear"
        return f"{lead}: {_with_ends(slope, low, high)} more for each byte more, there and back ({name})."
    if slope < 0:
        less = _with_ends(-slope, -high, -low)
        return f"{where}: each byte more takes {less} less, there and back ({name})."
    return f"{where}: each byte more takes {_with_ends(slope, low, high)} longer, there and back ({name})."


def _with_ends(slope: float, low: float, high: float) -> str:
    return f"{format_number(slope)} ns [{format_number(low)}, {format_number(high)}]"
