"""Trials whose emulated path was not what the plan says: named first, and left out of all conclusions."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Scope, by_sweep, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import LATE_PACKETS_SHARE
from flowsweep.wording import counted, format_share

_counted = partial(
    Hypothesis,
    "emulation",
    figure="time_series",
    method="trials whose emulated links counted late or lost packets of their own, counted",
)
UNTRUE_PATHS = {
    "late": f"more than {format_share(LATE_PACKETS_SHARE)} of the packets arrived over 1 ms late",
    "overloaded": "packets were lost that it should have carried",
}
"""Marks of `flowsweep.analysis.path_emulation` but "kept up", and what each means; the worst last, which is
named first."""


def trusted(summary: Sequence[TrialRow]) -> list[TrialRow]:
    """Leave out the trials whose emulated path this machine turned into another.

    Args:
        summary: Rows of a campaign.
    """
    return [row for row in summary if row.get("path_emulation") not in UNTRUE_PATHS]


def untrusted(summary: Sequence[TrialRow]) -> list[TrialRow]:
    """Return the trials that `trusted` leaves out."""
    return [row for row in summary if row.get("path_emulation") in UNTRUE_PATHS]


def late_hypotheses(summary: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Count the trials that are left out, sweep by sweep and mode by mode.

    Args:
        summary: Rows of a campaign.

    Yields:
        One description for each sweep and mode with such trials; the effect is their share (unit "1").
    """
    emulated = [row for row in summary if row.get("path_emulation") is not None]
    for scope, rows in by_sweep(sorted(emulated, key=lambda row: row["order_index"])).items():
        late = [row for row in rows if row["path_emulation"] in UNTRUE_PATHS]
        if late:
            yield _hypothesis(scope, rows, late)


def _hypothesis(scope: Scope, rows: Sequence[TrialRow], late: Sequence[TrialRow]) -> Hypothesis:
    marks = Counter(row["path_emulation"] for row in late)
    whys = [(marks[mark], meaning) for mark, meaning in UNTRUE_PATHS.items() if marks[mark]]
    why = ", ".join(meaning if len(whys) == 1 else f"in {count} {meaning}" for count, meaning in whys)
    others = len(rows) - len(late)
    rest = "no other finding uses them" if others else "nothing is concluded from them"
    claim = (
        f"This machine could not keep up with the emulated path in {len(late)} of "
        f"{counted(len(rows), 'trial')} ({why}): {rest}. Run the plan again while the machine has less to do."
    )
    return _counted(scope, claim, trial_ids(late), Estimate(len(late) / len(rows), "1"), trials=len(rows))
