"""What a trial found, in a few words; which, depends on what it asked for."""

from flowsweep.figures.axis import Row
from flowsweep.report.answers import narrow_hop
from flowsweep.report.goodput_words import shown_goodput
from flowsweep.wording import format_milliseconds, format_rate, format_share


def result_words(row: Row) -> str:
    """Tell the result of a summary's row, and its status unless it is `ok`."""
    told = _RESULTS.get(row["test"], _goodput)(row)
    return told if row["status"] == "ok" else f"{row['status']}, {told}"


def _goodput(row: Row) -> str:
    found = shown_goodput([row])
    told = "no goodput" if found is None else found.words()
    lost = row.get("loss")
    return told if lost is None else f"{told}, {format_share(lost)} lost"


def _capacity(row: Row) -> str:
    capacity_bps = row.get("path_capacity_bps")
    told = "capacity not known" if capacity_bps is None else f"capacity {format_rate(capacity_bps)}"
    hop = narrow_hop(row)
    return f"{told}, narrowest at {hop}" if hop else told


def _round_trip(row: Row) -> str:
    median_ms = row.get("rtt_probe_median_ms")
    if median_ms is None:
        return "no response"
    lost = row.get("rtt_probe_loss")
    told = f"median round trip {format_milliseconds(median_ms)}"
    return f"{told}, {format_share(lost)} lost" if lost else told


_RESULTS = {"path": _capacity, "rtt": _round_trip}
