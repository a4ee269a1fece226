"""Trials since goodput stepped: no trial had the goodput that is the median of both sides of a step."""

from collections.abc import Sequence
from statistics import median

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.report.goodput_words import first_bps
from flowsweep.wording import direction_of


def steps_of(findings: Sequence[Finding]) -> list[Finding]:
    """Those of steps that were found; their evidence is the trials since then."""
    return [one for one in findings if one.kind == "step" and one.decision == "effect"]


def since_steps(
    trials: Sequence[TrialRow], findings: Sequence[Finding]
) -> tuple[list[TrialRow], list[TrialRow]]:
    """Split trials where their goodput stepped.

    Args:
        trials: Rows of a summary.
        findings: Of the same campaign.

    Returns:
        The trials since the last step of their sweep and direction, and those before one; all and none, if
        there was none. An emulated link that carries more since then than it does in the long run has no
        `link_payload_bps` there: what it carried is no sign of data that waited.
    """
    since, before = list(trials), list[TrialRow]()
    for step in steps_of(findings):
        own = [row for row in since if _is_of(row, step)]
        early = [row for row in own if row["trial_id"] not in step.evidence]
        late = [row for row in own if row["trial_id"] in step.evidence]
        others = [row for row in since if not _is_of(row, step)]
        since, before = [*others, *_unbounded(late)], [*before, *early]
    return since, before


def _is_of(row: TrialRow, step: Finding) -> bool:
    of_sweep = (row["sweep"], row["mode"]) == (step.sweep, step.mode)
    return of_sweep and step.direction in (None, direction_of(row))


def _unbounded(rows: list[TrialRow]) -> list[TrialRow]:
    reached = [found for row in rows if (found := first_bps(row)) is not None]
    carried = [found for row in rows if (found := row.get("link_payload_bps")) is not None]
    if not reached or not carried or median(reached) <= max(carried):
        return rows
    return [{**row, "link_payload_bps": None} for row in rows]
