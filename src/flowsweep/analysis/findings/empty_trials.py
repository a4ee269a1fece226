"""Trials that ended well and carried nothing: no finding on goodput can have them, so that one names them."""

from collections.abc import Iterator, Sequence
from functools import partial

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.findings.in_a_row import FEWEST_IN_A_ROW, in_time, runs_of, span
from flowsweep.analysis.statistics.observations import Scope, by_sweep
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.wording import counted, direction_of

_counted = partial(
    Hypothesis,
    "empty",
    figure="time_series",
    method="trials that ended ok with a goodput of 0 bit/s, counted",
)
_NAMED = 3
"""Trials that the sentence names, at most."""


def empty_hypotheses(summary: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Count the trials with a goodput of 0 bit/s, sweep by sweep and mode by mode.

    Args:
        summary: Rows of a campaign; `goodput_bps` in bit/s, null of tests without goodput.

    Yields:
        One description for each sweep and mode with such trials; the effect is their share (unit "1") of the
        trials that ended well. Where they followed each other, as in an outage, the sentence says when that
        was. Other findings work on the logarithm of goodput and leave them out.
    """
    ended_well = [row for row in summary if row["status"] == "ok" and row["goodput_bps"] is not None]
    for scope, rows in by_sweep(sorted(ended_well, key=lambda row: row["order_index"])).items():
        empty = [row["trial_id"] for row in rows if row["goodput_bps"] == 0]
        if empty:
            yield _hypothesis(scope, len(rows), empty, _in_a_row(rows))


def _hypothesis(scope: Scope, trials: int, empty: Sequence[str], in_a_row: str) -> Hypothesis:
    named = ", ".join(empty[:_NAMED]) + (f" and {len(empty) - _NAMED} more" if len(empty) > _NAMED else "")
    others = trials - len(empty)
    rest = f"; what is said of goodput is of the other {others}" if others else ""
    claim = f"{len(empty)} of {counted(trials, 'trial')} carried nothing, 0 bit/s{in_a_row}: {named}{rest}."
    return _counted(scope, claim, tuple(empty), Estimate(len(empty) / trials, "1"), trials=trials)


def _in_a_row(rows: Sequence[TrialRow]) -> str:
    """Say when the longest run of trials without a byte was; nothing if it is short, or has all of them.

    Trials of directions without such a one do not end a run: what is cut off may be one way.
    """
    cut_off = {direction_of(row) for row in rows if row["goodput_bps"] == 0}
    own = [row for row in rows if direction_of(row) in cut_off]
    runs = runs_of(in_time(own), lambda row: row["goodput_bps"] == 0)
    longest = max(runs, key=len, default=[])
    if len(longest) < FEWEST_IN_A_ROW or len(longest) == len(own):
        return ""
    of_all = "all" if len(runs) == 1 else f"{len(longest)} of them"
    return f", {of_all} in a row {span(longest[0], longest[-1])}"
