"""What the fluid model predicts for the trials of a campaign, beside what their summaries say."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.prediction.points import predicted_trials
from flowsweep.schedule import planned_links

if TYPE_CHECKING:
    from flowsweep.archive import Archive

PREDICTED = "predicted_goodput_bps"
"""Of a row: the model's mean goodput; absent where it says nothing of the trial."""


def with_predictions(rows: Sequence[TrialRow], archive: "Archive") -> list[TrialRow]:
    """Add what is predicted to the rows of an archive's trials over emulated links of its plan.

    Of real paths nothing is known but what the trials themselves say.
    """
    links = planned_links(archive.campaign.plan)
    if not links:
        return list(rows)
    trials = {record.trial_id: record.trial for record in archive.records.values()}
    known = [trials[row["trial_id"]] for row in rows if row["trial_id"] in trials]
    predicted = predicted_trials(known, links)
    return [
        cast("TrialRow", {**row, PREDICTED: found.goodput_bps})
        if (found := predicted.get(row["trial_id"])) is not None
        else row
        for row in rows
    ]
