"""What measurements of paths teach: the narrowest link, what of it is free, and the window it asks for."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median

import numpy as np

from flowsweep.analysis.axes import setting_axes, setting_words
from flowsweep.analysis.findings.finding import Decision
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.means import geometric_mean
from flowsweep.analysis.statistics.observations import Scope, by_sweep, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.analysis.tests.path.routes import route_hypotheses
from flowsweep.analysis.verdicts import SOME
from flowsweep.grouping import grouped
from flowsweep.wording import counted, direction, format_rate, with_interval

_WAYS = "packet pairs, trains that nothing held up, or probes of the narrow hop"
"""What tells a capacity, the first of them that does."""
_WINDOWS_ALIKE = 1.1
"""How many times another window one may be that counts as the same, as settings measure them."""
REPEATS_NEEDED = 3
"""For an interval over repeats; with fewer, it is from the least to the greatest end of the trials' own."""


def path_hypotheses(summary: Sequence[TrialRow]) -> list[Hypothesis]:
    """Describe each path that was measured: capacity and narrowest hop, and the bandwidth that is available.

    Args:
        summary: Rows of `flowsweep.analysis.summary`, of all tests.

    Returns:
        Two hypotheses at most for each sweep, direction and setting, with effects in bit/s of IP packets, and
        those of `route_hypotheses`. Nothing is tested.
    """
    measured = [row for row in summary if row.get("test") == "path" and row["status"] == "ok"]
    groups = by_sweep([row for row in measured if row["path_capacity_bps"]], directions=True)
    found = [hypothesis for scope, rows in groups.items() for hypothesis in _of_direction(scope, rows)]
    return [*found, *route_hypotheses(measured)]


def _of_direction(scope: Scope, rows: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Each setting by itself: packets of another IP version or DSCP may take another path."""
    for words, own in _settings(rows).items():
        yield from _of_path(scope, own, f"{scope.direction}, {words}" if words else str(scope.direction))


def _settings(rows: Sequence[TrialRow]) -> dict[str, list[TrialRow]]:
    """Rows of one direction by the words for their setting; empty where all have the same."""
    axes = setting_axes(rows)
    return grouped(rows, lambda row: setting_words(row, axes))


def _of_path(scope: Scope, measured: Sequence[TrialRow], where: str) -> Iterator[Hypothesis]:
    middle, low, high, method = _over_repeats(measured)
    yield Hypothesis(
        "path",
        scope,
        partial(_said_of_capacity, where, measured, (middle, low, high)),
        trial_ids(measured),
        Estimate(middle, "bit/s", low, high),
        method=method,
        figure="hop_capacity",
    )
    bracketed = [
        (row["trial_id"], low_bps / capacity_bps, high_bps / capacity_bps)
        for row in measured
        if (capacity_bps := row["path_capacity_bps"])
        and (low_bps := row["path_available_low_bps"]) is not None
        and (high_bps := row["path_available_high_bps"]) is not None
    ]
    if bracketed:
        # Of the capacity that is told: no trial has more free than it carries, and so have the medians.
        ends = np.median([ends for _, *ends in bracketed], axis=0) * middle
        free_low, free_high = ends.tolist()
        yield Hypothesis(
            "available",
            scope,
            partial(_said_of_available, where, (free_low, free_high), middle),
            tuple(trial_id for trial_id, *_ in bracketed),
            Estimate((free_low + free_high) / 2, "bit/s", free_low, free_high),
            figure="streams",
            method=(
                "trends of one-way delays in streams (Jain and Dovrolis 2002), as shares of the capacity of "
                "each trial; medians over trials, of the capacity of all"
            ),
        )


def _over_repeats(rows: Sequence[TrialRow]) -> tuple[float, float | None, float | None, str]:
    """Capacity with its interval, over repeats if there are enough, and how that was done."""
    capacities = [bps for row in rows if (bps := row["path_capacity_bps"])]
    mean = geometric_mean(capacities)
    if len(rows) < REPEATS_NEEDED:
        several = f"geometric mean over {counted(len(rows), 'trial')}, each by " if len(rows) > 1 else ""
        widest = ", the lowest and the highest end of all" if several else ""
        return mean.value, *_widest(rows), f"{several}{_WAYS}; interval over trains or probes{widest}"
    low, high = _no_narrower(mean.low, mean.high, rows)
    method = (
        f"geometric mean over {counted(len(rows), 'trial')}, each by {_WAYS}; t interval, no "
        "narrower than the median ends of the trials' own, as repeats may share an error"
    )
    return mean.value, low, high, method


def _widest(rows: Sequence[TrialRow]) -> tuple[float | None, float | None]:
    """Of trials that all have an interval: from the lowest end of them to the highest."""
    lows = [end for row in rows if (end := row["path_capacity_low_bps"]) is not None]
    highs = [end for row in rows if (end := row["path_capacity_high_bps"]) is not None]
    whole = len(lows) == len(highs) == len(rows)
    return (min(lows), max(highs)) if whole else (None, None)


def _no_narrower(
    low: float | None, high: float | None, rows: Sequence[TrialRow]
) -> tuple[float | None, float | None]:
    """Widen an interval over repeats to what each of them can tell: they may agree, and be off alike."""
    lows = [end for row in rows if (end := row["path_capacity_low_bps"]) is not None]
    highs = [end for row in rows if (end := row["path_capacity_high_bps"]) is not None]
    if low is None or high is None or not lows or not highs:
        return low, high
    return min(low, median(lows)), max(high, median(highs))


def _said_of_capacity(
    where: str, rows: Sequence[TrialRow], found: tuple[float, float | None, float | None], _: Decision
) -> str:
    middle, low, high = found
    rate = f"{with_interval(format_rate, middle, low, high)} of IP packets"
    narrow = Counter(row["path_narrow_hop"] for row in rows if row["path_narrow_hop"] is not None)
    hops = _length(rows)
    length = f" in {counted(hops, 'hop')}" if hops else ""
    carries = f"{where}: the path{length} carries {rate}"
    which = "which of its links is the narrowest"
    if not narrow:
        return f"{carries}; {which} cannot be told."
    hop, agreed = narrow.most_common(1)[0]
    if agreed < SOME * len(rows) or list(narrow.values()).count(agreed) > 1:
        named = ", ".join(f"hop {own} in {count}" for own, count in sorted(narrow.items()))
        return f"{carries}; {which} is not clear: {named} of {counted(len(rows), 'trial')}."
    hops = _length([row for row in rows if row["path_narrow_hop"] == hop])
    of_all = f" of {hops}" if hops else ""
    if agreed < len(rows):
        # The rate is of all trials: it was not measured for this hop alone.
        trials = f"{agreed} of {counted(len(rows), 'trial')} {'names' if agreed == 1 else 'name'}"
        return f"{carries}; {trials} hop {hop}{of_all} as its narrowest link, more than any other."
    return f"{where}: the narrowest link is hop {hop}{of_all}, {rate}."


def _length(rows: Sequence[TrialRow]) -> int | None:
    """In hops, as most trials counted it."""
    hops = Counter(hops for row in rows if (hops := row["path_hops"]) is not None)
    return hops.most_common(1)[0][0] if hops else None


def _said_of_available(where: str, ends: tuple[float, float], capacity_bps: float, _: Decision) -> str:
    low, high = (format_rate(end) for end in ends)
    return f"{where}: between {low} and {high} of {format_rate(capacity_bps)} are free."


def path_windows(summary: Sequence[TrialRow]) -> dict[str, float]:
    """Predict windows, as a laboratory of 2002 did with ping and pipechar.

    Args:
        summary: Rows of `flowsweep.analysis.summary`, all of a campaign.

    Returns:
        By direction ("source → sink") capacity × minimum round-trip time in bytes, the median over the trials
        that measured that path; directions without any are left out, and those with settings, such as IP
        versions, whose medians differ by more than a tenth: they are of paths that have no window in common.
    """
    measured = [row for row in summary if row["status"] == "ok" and row.get("path_window_bytes")]
    found = {}
    for where, rows in grouped(measured, lambda row: direction(row["src"], row["dst"])).items():
        windows = [_window(own) for own in _settings(rows).values()]
        if max(windows) <= min(windows) * _WINDOWS_ALIKE:
            found[where] = _window(rows)
    return found


def _window(rows: Sequence[TrialRow]) -> float:
    return float(median(known(row["path_window_bytes"]) for row in rows))
