"""Trials since goodput stepped: no trial had the goodput that is the median of both sides of a step."""

import math
from collections.abc import Sequence
from datetime import datetime
from statistics import fmean, median

from flowsweep.analysis.axes import AXIS_NAMES, level_of
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.grouping import grouped
from flowsweep.report.goodput_words import first_bps
from flowsweep.scatter import NORMAL_MAD
from flowsweep.wording import direction_of

_LEAST_PART = 1 / 2
"""Of a step in the mean of several directions, what one of them must show by itself to be split there."""
_ERRORS = 2.0
"""Standard errors that its own change must be above."""
_OF_MEDIAN = 1.2533
"""Standard error of a median over that of a mean, of many normal values."""


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
        there was none. Of a step in the mean of several directions only those count that show it themselves.
        An emulated link that carries more since then than it does in the long run has no
        `link_payload_bps` there: what it carried is no sign of data that waited.
    """
    since, before = list(trials), list[TrialRow]()
    for step in steps_of(findings):
        stepped = set(stepped_directions(since, step)[0])
        own = [row for row in since if _is_of(row, step) and direction_of(row) in stepped]
        late = {row["trial_id"]: row for row in _unbounded(_late(own, step))}
        early = {row["trial_id"]: row for row in own if row["trial_id"] not in late}
        since = [late.get(row["trial_id"], row) for row in since if row["trial_id"] not in early]
        before += early.values()
    return since, before


def stepped_directions(trials: Sequence[TrialRow], step: Finding) -> tuple[list[str], list[str]]:
    """Tell the directions that show a step themselves from those that show it in the mean with others alone.

    Args:
        trials: Rows of a summary.
        step: A finding of the same campaign.

    Returns:
        Those that changed the same way, by half of the step or more and by more than two standard errors of
        their own (medians of logarithms by point, spread by median absolute deviations); and the others.
    """
    ways = grouped((row for row in trials if _is_of(row, step)), direction_of)
    if len(ways) == 1 or step.effect is None:
        return list(ways), []
    size = math.log1p(step.effect / 100)
    shown = [way for way, own in ways.items() if _shows(own, size, step)]
    return shown, [way for way in ways if way not in shown]


def _is_of(row: TrialRow, step: Finding) -> bool:
    of_sweep = (row["sweep"], row["mode"]) == (step.sweep, step.mode)
    return of_sweep and step.direction in (None, direction_of(row))


def _late(rows: Sequence[TrialRow], step: Finding) -> list[TrialRow]:
    """Those that began with the first trial of a step's evidence or later, also what came to nothing."""
    evidence = set(step.evidence)
    began = min((at for row in rows if row["trial_id"] in evidence and (at := _began(row))), default=None)
    if began is None:
        return [row for row in rows if row["trial_id"] in evidence]
    return [row for row in rows if row["trial_id"] in evidence or ((at := _began(row)) and at >= began)]


def _began(row: TrialRow) -> datetime | None:
    return datetime.fromisoformat(row["started_at"]) if row["started_at"] else None


def _shows(rows: Sequence[TrialRow], size: float, step: Finding) -> bool:
    """Whether one direction changed as a step did; size: natural logarithm."""
    late = {row["trial_id"] for row in _late(rows, step)}
    carried = [(row, math.log(bps)) for row in rows if row["status"] == "ok" and (bps := row["goodput_bps"])]
    changes, deviations, variance = [], list[float](), 0.0
    points = grouped(carried, lambda one: tuple(level_of(one[0], axis) for axis in AXIS_NAMES)).values()
    for point in points:
        sides = [[log for row, log in point if (row["trial_id"] in late) is after] for after in (False, True)]
        if all(sides):
            middles = [median(side) for side in sides]
            changes.append(middles[1] - middles[0])
            variance += sum(1 / len(side) for side in sides)
            deviations += [abs(log - middles[at]) for at, side in enumerate(sides) for log in side]
    if not changes:
        return True
    change = math.copysign(fmean(changes), fmean(changes) * size)
    error = NORMAL_MAD * _OF_MEDIAN * median(deviations) * math.sqrt(variance) / len(changes)
    return change >= max(_LEAST_PART * abs(size), _ERRORS * error)


def _unbounded(rows: list[TrialRow]) -> list[TrialRow]:
    reached = [found for row in rows if (found := first_bps(row)) is not None]
    carried = [found for row in rows if (found := row.get("link_payload_bps")) is not None]
    if not reached or not carried or median(reached) <= max(carried):
        return rows
    return [{**row, "link_payload_bps": None} for row in rows]
