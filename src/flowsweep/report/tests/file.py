"""What trials found that carried files."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.file.words import moved_part
from flowsweep.report.goodput_words import shown_goodput


def job_words(row: TrialRow) -> str:
    """Goodput, and how much of the job was done where not all was."""
    found = shown_goodput([row])
    words = "no goodput" if found is None else found.words()
    moved = moved_part(row)
    return words if moved is None else f"{words}, {moved}"
