"""Trials since goodput stepped: no trial had the goodput that is the median of both sides of a step."""

from collections.abc import Sequence
from statistics import median

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.step_directions import is_of, since_step, stepped_directions, steps_of
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.report.goodput_words import first_bps
from flowsweep.wording import direction_of


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
        own = [row for row in since if is_of(row, step) and direction_of(row) in stepped]
        late = {row["trial_id"]: row for row in _unbounded(since_step(own, step))}
        early = {row["trial_id"]: row for row in own if row["trial_id"] not in late}
        since = [late.get(row["trial_id"], row) for row in since if row["trial_id"] not in early]
        before += early.values()
    return since, before


def _unbounded(rows: list[TrialRow]) -> list[TrialRow]:
    reached = [found for row in rows if (found := first_bps(row)) is not None]
    carried = [found for row in rows if (found := row.get("link_payload_bps")) is not None]
    if not reached or not carried or median(reached) <= max(carried):
        return rows
    return [{**row, "link_payload_bps": None} for row in rows]
