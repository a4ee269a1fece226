"""What measurements of paths found."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.figures.grid.cells import format_range
from flowsweep.report.tests.row import Headline
from flowsweep.wording import format_rate

CAPACITY = Headline("path_capacity_bps", "capacity of the path", format_rate, format_range)


def narrow_hop(row: TrialRow) -> str:
    """Name the narrowest link of a measured path, "hop 2 of 3"; empty where it is not known."""
    hop, hops = row.get("path_narrow_hop"), row.get("path_hops")
    if hop is None:
        return ""
    return f"hop {hop} of {hops}" if hops else f"hop {hop}"


def capacity_words(row: TrialRow) -> str:
    """Capacity, and the link that has it."""
    capacity_bps = row.get("path_capacity_bps")
    words = "capacity not known" if capacity_bps is None else f"capacity {format_rate(capacity_bps)}"
    hop = narrow_hop(row)
    return f"{words}, narrowest at {hop}" if hop else words
