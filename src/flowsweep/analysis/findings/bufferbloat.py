"""What the queue of a full path adds to round trips, by TCP's own measurement, as time and as bytes."""

from collections.abc import Sequence
from functools import partial

from flowsweep.analysis.background.words import background_names
from flowsweep.analysis.findings.by_point import METHOD, between_words, unlike_points
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.means import geometric_mean
from flowsweep.analysis.statistics.observations import DIRECTION, Observations, ObservedRow, trial_ids
from flowsweep.analysis.summarising.trial_row import goodput_of, known
from flowsweep.analysis.verdicts import QUEUE
from flowsweep.grouping import grouped
from flowsweep.wording import format_milliseconds, format_size, some_of, with_interval

BLOAT_MS = 20.0
"""A queue that adds less is not noticed by those who share the path: a frame of a call lasts as long."""
_METHOD = (
    "median smoothed round trip less the least of the direction, of trials that the path limits: mean of "
    "logarithms by repeat, t interval over repeats; bytes are goodput × that time (Little 1961)"
)
_described = partial(Hypothesis, "bufferbloat", figure="limits")


def bufferbloat_hypotheses(observed: Observations) -> list[Hypothesis]:
    """Describe what waits in each direction's queue when the path is full.

    Args:
        observed: Trials of one sweep and mode.

    Returns:
        One description for each direction in which the queue adds at least BLOAT_MS and as much as the least
        round trip (Gettys and Nichols, "Bufferbloat: dark buffers in the Internet", 2011). The effect is what
        it adds, in s, with an interval where there are three repeats. Trials that a window, a rate or
        a CPU limits take no part: what lengthens their round trips is not a queue of theirs.
    """
    found = []
    for _, rows in observed.by_direction(lambda row: row.get("rtt_min_ms")):
        full = [row for row in rows if row.get("verdict") == QUEUE]
        least_ms = min(known(row["rtt_min_ms"]) for row in rows)
        waits = [row for row in full if (row.get("rtt_median_ms") or 0.0) > least_ms]
        if waits and (hypothesis := _hypothesis(observed, waits, full, least_ms)) is not None:
            found.append(hypothesis)
    return found


def _hypothesis(
    observed: Observations, rows: Sequence[ObservedRow], full: Sequence[ObservedRow], least_ms: float
) -> Hypothesis | None:
    direction, repeats = rows[0][DIRECTION], grouped(rows, lambda row: row["repeat"]).values()
    waits_ms = ([known(row["rtt_median_ms"]) - least_ms for row in own] for own in repeats)
    added_ms = geometric_mean([geometric_mean(own).value for own in waits_ms])
    points = unlike_points([(row, known(row["rtt_median_ms"]) - least_ms) for row in rows])
    most = points[-1] if points else added_ms
    if most.value < max(BLOAT_MS, least_ms):
        return None
    waiting = [goodput_of(row) * (known(row["rtt_median_ms"]) - least_ms) / 8_000 for row in rows]
    if points:
        longer = between_words(points, format_milliseconds)
        bytes_words = f"{format_size(min(waiting))} to {format_size(max(waiting))}"
    else:
        longer = with_interval(format_milliseconds, added_ms.value, added_ms.low, added_ms.high)
        bytes_words = format_size(geometric_mean(waiting).value)
    added = Estimate(
        most.value / 1e3, "s", *(None if end is None else end / 1e3 for end in (most.low, most.high))
    )
    most_ms = max(known(row["rtt_median_ms"]) for row in rows) - least_ms
    shared = any(background_names(row) for row in rows)
    whose = " of these trials waiting, beside what others have in it" if shared else " waiting"
    # Where others fill the queue, a smaller window here leaves them the more room.
    shorter = "" if shared else ", or a smaller window,"
    claim = (
        f"{direction}: where the path is full its queue adds {longer} to a "
        f"round trip of {format_milliseconds(least_ms)} ({bytes_words}{whose}) in "
        f"{some_of(len(rows), len(full), 'trial')} (at most {format_milliseconds(most_ms)}). All that shares "
        f"the path waits as long: fair queueing or CoDel at the bottleneck{shorter} shortens it."
    )
    method = f"{_METHOD}; {METHOD}" if points else _METHOD
    return _described(observed.scope(direction), claim, trial_ids(rows), added, method=method)
