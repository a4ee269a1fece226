"""Directions whose last trials all failed: nobody who reads how much they carried may miss that."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.findings.in_a_row import FEWEST_IN_A_ROW, all_in_places, in_time, started
from flowsweep.analysis.statistics.observations import Scope, trial_ids
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import SIGNIFICANCE
from flowsweep.grouping import grouped
from flowsweep.wording import counted, direction_of

_NAMED = 3
"""Directions that have a sentence each, at most."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """Trials at the end of a direction that all failed."""

    direction: str
    rows: Sequence[TrialRow]
    of: int
    """All trials of the direction."""

    def said(self) -> str:
        count = len(self.rows)
        if count == self.of:
            return f"None of the {count} trials of {self.direction} ended ok."
        since = f"since {started(self.rows[0]):%Y-%m-%d %H:%M} UTC"
        return f"None of the last {count} trials of {self.direction}, {since}, ended ok."


def last_trial_hypotheses(summary: Sequence[TrialRow]) -> Iterator[Hypothesis]:
    """Look for directions whose last trials all failed, whatever they were to measure.

    Trials in which flows broke are not looked at: they carried something.

    Args:
        summary: Rows of a campaign.

    Yields:
        One description, if there are such directions and some trial of the campaign ended well. The last
        three or more have to have failed, and in random order, given how many failed, that has a probability
        of at most 0.05; or all of a direction's did. Nothing of a direction of which a start is not known.
        Its scope is that of the last trial of the direction with most of them.
    """
    if not any(row["status"] == "ok" for row in summary):
        return
    whole = [row for row in summary if not row.get("flows_broken")]
    found = [
        _Ended(direction, last, len(rows))
        for direction, rows in grouped(whole, direction_of).items()
        if (last := _last(in_time(rows)))
    ]
    if not found:
        return
    found.sort(key=lambda ended: -len(ended.rows))
    sentences = [ended.said() for ended in found[:_NAMED]]
    if (more := len(found) - _NAMED) > 0:
        sentences.append(f"Nor did the last ones of {counted(more, 'further direction')}.")
    longest = found[0].rows
    yield Hypothesis(
        "failures",
        Scope(longest[-1]["sweep"], longest[-1]["mode"]),
        " ".join(sentences),
        tuple(trial for ended in found for trial in trial_ids(ended.rows)),
        axis="started_at",
        figure="time_series",
        method="trials of each direction in the order in which they began, counted from the last one",
    )


def _last(rows: Sequence[TrialRow]) -> Sequence[TrialRow]:
    """Those after the last trial that ended well; nothing of so few that it may be chance."""
    count = next((at for at, row in enumerate(reversed(rows)) if row["status"] == "ok"), len(rows))
    failed = sum(row["status"] != "ok" for row in rows)
    by_chance = count < len(rows) and all_in_places(count, failed, len(rows)) > SIGNIFICANCE
    return () if count < FEWEST_IN_A_ROW or by_chance else rows[-count:]


def tells_last_trials(finding: Finding) -> bool:
    """Whether a finding is of `last_trial_hypotheses`."""
    return (finding.kind, finding.axis, finding.decision) == ("failures", "started_at", "described")
