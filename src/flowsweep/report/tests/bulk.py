"""What trials found that send for a time."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.report.goodput_words import shown_goodput
from flowsweep.wording import format_share


def goodput_words(row: TrialRow) -> str:
    """Goodput, and the share of datagrams that were lost."""
    found = shown_goodput([row])
    words = "no goodput" if found is None else found.words()
    lost = row.get("loss")
    return words if lost is None else f"{words}, {format_share(lost)} lost"
