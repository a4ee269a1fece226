"""Trials since goodput stepped: no trial had the goodput that is the median of both sides of a step."""

from collections.abc import Sequence
from statistics import median

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.step_directions import split_at_steps
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.report.goodput_words import first_bps


def since_steps(
    trials: Sequence[TrialRow], findings: Sequence[Finding]
) -> tuple[list[TrialRow], list[TrialRow]]:
    """Split trials where their goodput stepped, as `split_at_steps`.

    An emulated link that carries more since then than it does in the long run has no `link_payload_bps`
    there: what it carried is no sign of data that waited.
    """
    return split_at_steps(trials, findings, _unbounded)


def _unbounded(rows: list[TrialRow]) -> list[TrialRow]:
    reached = [found for row in rows if (found := first_bps(row)) is not None]
    carried = [found for row in rows if (found := row.get("link_payload_bps")) is not None]
    if not reached or not carried or median(reached) <= max(carried):
        return rows
    return [{**row, "link_payload_bps": None} for row in rows]
