"""The report of an archive as text, for whoever shows it without a file; imported when one is asked for."""

from flowsweep.archive import Archive
from flowsweep.report.render import render
from flowsweep.report.report_data import report_data


def report_text(archive: Archive) -> str:
    """Make the page that `flowsweep report` writes."""
    return render(report_data(archive))
