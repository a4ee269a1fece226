"""The report of some trials as text, for whoever shows it without a file; imported when one is asked for."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from flowsweep.archive import Archive
from flowsweep.report.render import render
from flowsweep.report.report_data import report_data
from flowsweep.run.outcome import Missed


def report_text(excerpt: Archive, missed: Sequence[Missed] = ()) -> str:
    """Make the page that `flowsweep report` writes, of what is in the excerpt alone.

    Args:
        excerpt: Some trials of an archive. Its plan, and when it was begun, are those of the whole.
        missed: What was due beside these trials and did not run.
    """
    found = report_data(excerpt)
    starts = [row["started_at"] for row in found.trials if not row.get("imported_from")]
    begun = min(map(datetime.fromisoformat, filter(None, starts)), default=found.created_at)
    return render(replace(found, created_at=begun, trials_planned=None, missed=tuple(missed)))
