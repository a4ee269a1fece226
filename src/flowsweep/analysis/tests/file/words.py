"""What a trial of files is said to have done, at a terminal and in a report."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.wording import format_share


def moved_part(row: TrialRow) -> str | None:
    """Say how much of the job was done, and why it was over then; None where all was, or nobody knows."""
    moved = row.get("job_moved_share")
    if moved is None or moved >= 1:
        return None
    why = "time was up" if row["status"] == "ok" else "it broke off"
    return f"{format_share(moved)} of all files when {why}"
