"""What measurements of round-trip times found."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.report.tests.row import Headline
from flowsweep.wording import format_milliseconds, format_share


def round_trip_words(row: TrialRow) -> str:
    """The median round trip, and the share of probes that were lost."""
    median_ms = row.get("rtt_probe_median_ms")
    if median_ms is None:
        return "no response"
    lost = row.get("rtt_probe_loss")
    words = f"median round trip {format_milliseconds(median_ms)}"
    return f"{words}, {format_share(lost)} lost" if lost else words


def _range_of_times(low_ms: float, high_ms: float) -> str:
    low, high = format_milliseconds(low_ms), format_milliseconds(high_ms)
    return f"each {high}" if low == high else f"{low} to {high}"


MEDIAN_ROUND_TRIP = Headline("rtt_probe_median_ms", "median round trip", format_milliseconds, _range_of_times)
