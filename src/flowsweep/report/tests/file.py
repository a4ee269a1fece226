"""What trials found that carried files."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.report.goodput_words import shown_goodput
from flowsweep.wording import format_share


def job_words(row: TrialRow) -> str:
    """Goodput, and how much of the job was done where its time was up before."""
    found = shown_goodput([row])
    words = "no goodput" if found is None else found.words()
    moved = row.get("job_moved_share")
    return (
        words
        if moved is None or moved >= 1
        else f"{words}, {format_share(moved)} of all files when time was up"
    )
