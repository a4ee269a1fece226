"""Trials that ended well and carried nothing: no finding on goodput can have them, so that one names them."""

from collections.abc import Iterator, Sequence
from functools import partial

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Scope, by_sweep
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.wording import counted

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
        trials that ended well. Other findings work on the logarithm of goodput and leave them out.
    """
    ended_well = [row for row in summary if row["status"] == "ok" and row["goodput_bps"] is not None]
    for scope, rows in by_sweep(sorted(ended_well, key=lambda row: row["order_index"])).items():
        empty = [row["trial_id"] for row in rows if row["goodput_bps"] == 0]
        if empty:
            yield _hypothesis(scope, len(rows), empty)


def _hypothesis(scope: Scope, trials: int, empty: Sequence[str]) -> Hypothesis:
    named = ", ".join(empty[:_NAMED]) + (f" and {len(empty) - _NAMED} more" if len(empty) > _NAMED else "")
    others = trials - len(empty)
    rest = f"; what is said of goodput is of the other {others}" if others else ""
    claim = f"{len(empty)} of {counted(trials, 'trial')} carried nothing, 0 bit/s: {named}{rest}."
    return _counted(scope, claim, tuple(empty), Estimate(len(empty) / trials, "1"), trials=trials)
