"""What trials found that send for a time."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.report.goodput_words import shown_goodput
from flowsweep.wording import format_share


def goodput_words(row: TrialRow) -> str:
    """Goodput, and the share of datagrams that were lost, of all that were sent.

    Other tools leave what was omitted out of both.
    """
    lost = row.get("loss")
    of_all = ", omitted time included" if lost and row.get("omit_s") and not row.get("imported_from") else ""
    return goodput_and(row, None if lost is None else f"{format_share(lost)} lost{of_all}")


def goodput_and(row: TrialRow, more: str | None) -> str:
    """Goodput, and what else a test says of it."""
    found = shown_goodput([row])
    words = "no goodput" if found is None else found.words()
    return words if more is None else f"{words}, {more}"
