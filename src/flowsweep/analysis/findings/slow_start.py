"""How long slow start took, and whether what is omitted covers it."""

from collections.abc import Mapping, Sequence
from functools import partial

from flowsweep.analysis.background.words import background_names
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.means import geometric_mean
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, trial_ids
from flowsweep.analysis.tests.tcp.slow_start import SOUGHT_NS, SPEED_SHARE, SlowStartRow
from flowsweep.defaults import SECOND_NS
from flowsweep.wording import counted, format_duration, format_margin

_METHOD = (
    f"time from the first byte of the last flow until the sum over flows reached "
    f"{format_margin(SPEED_SHARE)} of the trial's goodput; geometric mean, Student's t"
)
_described = partial(Hypothesis, "slow_start", method=_METHOD, figure="duration")


def slow_start_hypotheses(observed: Observations, reached: Mapping[str, SlowStartRow]) -> list[Hypothesis]:
    """Describe how long trials took to come up to speed.

    Args:
        observed: Trials of one sweep and mode.
        reached: By trial_id; times in ns.

    Returns:
        One description, none where no trial has samples. The effect is the geometric mean over the trials, in
        s, with its interval (`geometric_mean`).
    """
    rows = [row for row in observed.rows if row["trial_id"] in reached]
    if not rows:
        return []
    times_ns = [reached[row["trial_id"]]["slow_start_ns"] for row in rows]
    mean_ns = geometric_mean(times_ns)
    mean_s = mean_ns.in_unit(SECOND_NS)
    took = Estimate(mean_s.value, "s", mean_s.low, mean_s.high)
    return [
        _described(observed.scope(), _said(observed, rows, times_ns, mean_ns.value), trial_ids(rows), took)
    ]


def _said(
    observed: Observations, rows: Sequence[ObservedRow], times_ns: Sequence[int], mean_ns: float
) -> str:
    least, most = (format_duration(time_ns) for time_ns in (min(times_ns), max(times_ns)))
    spread = "" if least == most else f" on average ({least} to {most})"
    took = (
        f"Goodput reached {format_margin(SPEED_SHARE)} of what it became within "
        f"{format_duration(mean_ns)}{spread}, in {counted(len(rows), 'trial')}"
    )
    # Of a far end without an engine there are no samples, and of a short trial no whole interval.
    slow = len([row for row in observed.rows if row["bins"]]) - len(rows)
    never = f"; {counted(slow, 'trial')} did not within {format_duration(SOUGHT_NS)}" if slow > 0 else ""
    omits_s = [row["omit_s"] or 0.0 for row in rows]
    longer_s = [
        omit_s for omit_s, time_ns in zip(omits_s, times_ns, strict=True) if time_ns > omit_s * SECOND_NS
    ]
    if not longer_s and any(background_names(row) for row in rows):
        return f"{took}{never}. Beside background traffic goodput may go on changing for longer than that."
    if not longer_s:
        return (
            f"{took}{never}: what is omitted of each trial covers that. A loss in which slow start ends may "
            "still follow."
        )
    whole = longer_s.count(0.0)
    said = [f"Nothing is omitted of {counted(whole, 'trial')}"] if whole else []
    if short := len(longer_s) - whole:
        were = "was" if short == 1 else "were"
        said.append(f"{counted(short, 'trial')} {were} still speeding up when the omitted time ended")
    return f"{took}{never}. {'. '.join(said)}: that time is included in the mean."
