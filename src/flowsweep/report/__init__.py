"""One offline HTML page that tells a campaign."""

from flowsweep.report.write import write_report

__all__ = ["write_report"]
