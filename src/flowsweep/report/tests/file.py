"""What trials found that carried files."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.file.words import moved_part
from flowsweep.report.tests.bulk import goodput_and


def job_words(row: TrialRow) -> str:
    """Goodput, and how much of the job was done where not all was."""
    return goodput_and(row, moved_part(row))
