"""Words for the axes of a grid and their levels, as sentences use them."""

from collections.abc import Callable
from typing import Any

from flowsweep.defaults import SECOND_NS
from flowsweep.wording import format_duration, format_rate, format_size

AXIS_NAMES = {
    "window_sum_bytes": "window sum", "window_bytes": "window per flow",
    "window_send_bytes": "send window per flow", "window_recv_bytes": "receive window per flow",
    "flows": "number of flows", "flows_per_pair": "flows per pair of hosts", "sources": "number of sources",
    "sinks": "number of sinks", "length_bytes": "length", "congestion_asked": "congestion control",
    "duration_s": "duration", "rate_bps": "application rate per flow",
    "rate_sum_bps": "rate of all flows", "spacing_ns": "spacing", "gso": "GSO", "gro": "GRO",
    "pacing_rate_bps": "pacing rate per flow", "mss_bytes": "MSS", "dscp": "DSCP", "no_delay": "no delay",
    "affinity": "choice of CPUs", "family": "IP version",
}  # fmt: skip

UNORDERED = frozenset({"congestion_asked", "affinity", "family", "dscp", "no_delay", "gso", "gro"})
"""Axes whose levels are only told apart."""


_UNLIMITED = frozenset({"rate_bps", "rate_sum_bps", "pacing_rate_bps"})


def level_words(axis: str, level: object) -> str:
    """Write a level of an axis with its unit: "512 KiB", "16"; "the host's default" where none was set."""
    if level is None or level == ():
        return "unlimited" if axis in _UNLIMITED else "the host's default"
    write = _WRITE.get(axis)
    return write(level) if write else str(level)


_WRITE: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(
        (
            "window_sum_bytes", "window_bytes", "window_send_bytes", "window_recv_bytes", "length_bytes",
        ),
        format_size,
    ),
    "duration_s": lambda seconds: format_duration(seconds * SECOND_NS),
    "rate_bps": format_rate,
    "rate_sum_bps": format_rate,
    "spacing_ns": format_duration,
    "pacing_rate_bps": format_rate,
    "mss_bytes": lambda size: f"{size} B",
    **dict.fromkeys(("no_delay", "gso", "gro"), lambda value: "on" if value else "off"),
    "affinity": lambda cpus: "CPU " + ", ".join(map(str, cpus)),
    "family": lambda version: f"IPv{version}",
}  # fmt: skip
