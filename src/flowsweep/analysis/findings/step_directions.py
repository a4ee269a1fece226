"""Of which directions a step is, and which of their trials ran since then."""

import math
from collections.abc import Callable, Sequence
from datetime import datetime

from flowsweep.analysis.axes import AXIS_NAMES, level_of
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.statistics.median_change import median_change
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.grouping import grouped
from flowsweep.wording import direction_of

_LEAST_PART = 1 / 2
"""Of a step in the mean of several directions, what one of them must show by itself to have stepped."""
_ERRORS = 2.0
"""Standard errors that its own change must be above."""


def steps_of(findings: Sequence[Finding]) -> list[Finding]:
    """Those of steps that were found; their evidence is the trials since then."""
    return [one for one in findings if one.kind == "step" and one.decision == "effect"]


def stepped_directions(trials: Sequence[TrialRow], step: Finding) -> tuple[list[str], list[str]]:
    """Tell the directions that show a step themselves from those that show it in the mean with others alone.

    Args:
        trials: Rows of a summary.
        step: A finding of the same campaign.

    Returns:
        Those that changed the same way, by half of the step or more and by more than two standard errors of
        their own (`median_change` of logarithms, by point); and the others.
    """
    ways = grouped((row for row in trials if is_of(row, step)), direction_of)
    if len(ways) == 1 or step.effect is None:
        return list(ways), []
    size = math.log1p(step.effect / 100)
    shown = [way for way, own in ways.items() if _shows(own, size, step)]
    return shown, [way for way in ways if way not in shown]


def split_at_steps(
    trials: Sequence[TrialRow],
    findings: Sequence[Finding],
    late_as: Callable[[list[TrialRow]], list[TrialRow]] = list,
) -> tuple[list[TrialRow], list[TrialRow]]:
    """Split trials where their goodput stepped.

    Args:
        trials: Rows of a summary.
        findings: Of the same campaign.
        late_as: What to return in place of the trials since one step of the directions that show it.

    Returns:
        The trials since the last step of their sweep and direction, and those before one; all and none, if
        there was none. Of a step in the mean of several directions only those count that show it themselves.
    """
    since, before = list(trials), list[TrialRow]()
    for step in steps_of(findings):
        stepped = set(stepped_directions(since, step)[0])
        own = [row for row in since if is_of(row, step) and direction_of(row) in stepped]
        late = {row["trial_id"]: row for row in late_as(since_step(own, step))}
        early = {row["trial_id"]: row for row in own if row["trial_id"] not in late}
        since = [late.get(row["trial_id"], row) for row in since if row["trial_id"] not in early]
        before += early.values()
    return since, before


def is_of(row: TrialRow, step: Finding) -> bool:
    """Whether a trial is of the sweep, mode and directions of a step."""
    of_sweep = (row["sweep"], row["mode"]) == (step.sweep, step.mode)
    return of_sweep and step.direction in (None, direction_of(row))


def since_step(rows: Sequence[TrialRow], step: Finding) -> list[TrialRow]:
    """Those that began with the first trial of a step's evidence or later, also what came to nothing."""
    evidence = set(step.evidence)
    began = min((at for row in rows if row["trial_id"] in evidence and (at := _began(row))), default=None)
    if began is None:
        return [row for row in rows if row["trial_id"] in evidence]
    return [row for row in rows if row["trial_id"] in evidence or ((at := _began(row)) and at >= began)]


def _began(row: TrialRow) -> datetime | None:
    return datetime.fromisoformat(row["started_at"]) if row["started_at"] else None


def _shows(rows: Sequence[TrialRow], size: float, step: Finding) -> bool:
    """Whether one direction changed as a step did, or nobody can tell; size: natural logarithm."""
    late = {row["trial_id"] for row in since_step(rows, step)}
    carried = [(row, math.log(bps)) for row in rows if row["status"] == "ok" and (bps := row["goodput_bps"])]
    points = grouped(carried, lambda one: tuple(level_of(one[0], axis) for axis in AXIS_NAMES)).values()
    before, after = (
        [[log for row, log in point if (row["trial_id"] in late) is is_late] for point in points]
        for is_late in (False, True)
    )
    found = median_change(zip(before, after, strict=True))
    if found is None:
        return True
    return math.copysign(found.value, found.value * size) >= max(
        _LEAST_PART * abs(size), _ERRORS * found.error
    )
