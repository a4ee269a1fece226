"""What measurements of round-trip times found."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.report.tests.row import Headline
from flowsweep.wording import format_milliseconds, format_share


def round_trip_words(row: TrialRow) -> str:
    """The median round trip, or the least where there is none, and the share of probes that were lost."""
    median_ms, lost = row.get("rtt_probe_median_ms"), row.get("rtt_probe_loss")
    if median_ms is not None:
        words = f"median round trip {format_milliseconds(median_ms)}"
        return f"{words}, {format_share(lost)} lost" if lost else words
    least_ms = row.get("rtt_probe_min_ms")
    if least_ms is None:
        return "no response"
    # A lost probe counts as infinitely long, and so does the median where half of them are (RFC 2681).
    of_them = "half of the probes or more" if lost is None else format_share(lost)
    return f"minimum round trip {format_milliseconds(least_ms)}, no median: {of_them} lost"


def _range_of_times(low_ms: float, high_ms: float) -> str:
    low, high = format_milliseconds(low_ms), format_milliseconds(high_ms)
    return f"each {high}" if low == high else f"{low} to {high}"


MEDIAN_ROUND_TRIP = Headline("rtt_probe_median_ms", "median round trip", format_milliseconds, _range_of_times)
