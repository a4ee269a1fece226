"""Trials that ended well and carried nothing: no finding on goodput can have them, so that one names them."""

from collections.abc import Iterator, Sequence

from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.wording import counted

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
    groups: dict[tuple[str, str | None], list[TrialRow]] = {}
    for row in sorted(summary, key=lambda row: row["order_index"]):
        if row["status"] == "ok" and row["goodput_bps"] is not None:
            groups.setdefault((row["sweep"], row["mode"]), []).append(row)
    for (sweep, mode), rows in groups.items():
        empty = [row["trial_id"] for row in rows if row["goodput_bps"] == 0]
        if empty:
            yield _hypothesis(sweep, mode, len(rows), empty)


def _hypothesis(sweep: str, mode: str | None, trials: int, empty: Sequence[str]) -> Hypothesis:
    named = ", ".join(empty[:_NAMED]) + (f" and {len(empty) - _NAMED} more" if len(empty) > _NAMED else "")
    others = trials - len(empty)
    rest = f"; what is said of goodput is of the other {others}" if others else ""
    claim = f"{len(empty)} of {counted(trials, 'trial')} carried nothing, 0 bit/s: {named}{rest}."
    return Hypothesis(
        kind="empty",
        sweep=sweep,
        mode=mode,
        say=lambda _: claim,
        effect=len(empty) / trials,
        effect_unit="1",
        n=trials,
        method="trials that ended well with a goodput of 0 bit/s, counted",
        evidence=tuple(empty),
        figure=FigureKey("time_series", sweep, mode),
    )
