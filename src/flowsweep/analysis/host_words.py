"""Columns of a summary that say how the hosts and the path were in a trial, and their names in sentences."""

from collections.abc import Callable

from flowsweep.wording import counted, format_number, format_share


def _round_trip(milliseconds: float) -> str:
    return f"{format_number(milliseconds)} ms"


def _count(count: float) -> str:
    return counted(round(count), "packet")


HOST_COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "cpu_send": ("CPU load of the busiest sending thread", format_share),
    "cpu_recv": ("CPU load of the busiest receiving thread", format_share),
    "cores_busy_send": ("load of the sender's cores", format_share),
    "cores_busy_recv": ("load of the receiver's cores", format_share),
    "softirq_core_recv": ("software interrupts of the receiver", format_share),
    "throttled_send_share": ("time the sender was held back by a CPU quota", format_share),
    "throttled_recv_share": ("time the receiver was held back by a CPU quota", format_share),
    "host_dropped_packets": ("packets that the hosts dropped", _count),
    "retransmits": ("segments sent again", _count),
    "rtt_median_ms": ("median round-trip time", _round_trip),
}
"""What each is called, and how to write a value."""
