"""Whether a source's own bursts may be what was lost: it fell behind its pace, and caught up at once."""

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import BITS_PER_BYTE, SECOND_MS
from flowsweep.packets import udp_header_bytes

_IN_RUNS = 2
"""Datagrams lost in a row, on average: a path that is full all the time loses one here and one there."""
_OVERDUE = 1 / 2
"""Of a burst, what the largest lag must account for; the rest may be of another moment, or of the timer."""
_LOST_AT_MOST = 0.05
"""Of all datagrams: bursts of a source that keeps up but for moments are few, more is plain overload."""
_IPV4 = 4


def may_be_own_bursts(row: TrialRow) -> bool:
    """Whether all runs of lost datagrams fit into bursts in which a late source caught up.

    A queue that is shorter than a burst drops the rest of it, at a rate that the path carries otherwise.

    Args:
        row: Of the summary, of datagrams.

    Returns:
        False where the source was never so late that its longest burst was overdue, where a run is longer
        than that burst, where datagrams were lost one by one, and where any of that is not known. False too
        where more than 5 % is lost, or more was offered than the path is known to carry: then it was full.
    """
    loss = row.get("loss")
    if loss is None or loss > _LOST_AT_MOST or _is_offered_too_much(row):
        return False
    lost, runs, longest = row.get("lost"), row.get("loss_bursts"), row.get("loss_burst_max")
    burst, lag_ms, spacing_ms = row.get("burst_max"), row.get("pacing_lag_max_ms"), _spacing_ms(row)
    if not lost or not runs or longest is None or burst is None or lag_ms is None or spacing_ms is None:
        return False
    return lost >= _IN_RUNS * runs and longest <= burst and lag_ms >= _OVERDUE * burst * spacing_ms


def _is_offered_too_much(row: TrialRow) -> bool:
    """Whether the rate asked for is, with headers, above what the plan's emulated links carry."""
    rate_bps, length_bytes, path_bps = (
        row.get("rate_sum_bps"),
        row.get("length_bytes"),
        row.get("path_rate_bps"),
    )
    if not rate_bps or not length_bytes or not path_bps:
        return False
    packet_bytes = length_bytes + udp_header_bytes(row.get("family") or _IPV4)
    return rate_bps * packet_bytes / length_bytes > path_bps


def _spacing_ms(row: TrialRow) -> float | None:
    """The time between datagrams of a flow that its pace asks for."""
    rate_bps, length_bytes = row.get("rate_sum_bps"), row.get("length_bytes")
    if not rate_bps or not length_bytes:
        return None
    return SECOND_MS * BITS_PER_BYTE * length_bytes * row["flows"] / rate_bps
