"""What monitors ask for: one row per quantity, with its unit, its width and its OID if a router has it."""

from collections.abc import Mapping
from dataclasses import dataclass

SYS_UP_TIME = "1.3.6.1.2.1.1.3.0"
IF_NAME = "1.3.6.1.2.1.31.1.1.1.1"
_IF_TABLE = "1.3.6.1.2.1.2.2.1"
_IF_X_TABLE = "1.3.6.1.2.1.31.1.1.1"


@dataclass(frozen=True, slots=True)
class MonitoredQuantity:
    """One of the things that are counted or measured."""

    unit: str
    bits: int | None
    """After how many bits a counter begins again at 0; None: a gauge, which goes up and down."""
    oid: str | None = None
    """Column of RFC 2863's tables; the index of the interface comes behind it."""
    needed: bool = False
    """Whether an agent without it tells nothing worth keeping of the interface."""


UP_TIME = "uptime_cs"
"""Since whoever counts began, in hundredths of a second: it says whether counters are of one run."""
DISCONTINUITY = "discontinuity_cs"
"""`ifCounterDiscontinuityTime`: the `uptime_cs` at which an interface's counters last began anew."""
QUANTITIES: Mapping[str, MonitoredQuantity] = {
    UP_TIME: MonitoredQuantity("cs", None),
    DISCONTINUITY: MonitoredQuantity("cs", None, f"{_IF_X_TABLE}.19"),
    "in_bytes": MonitoredQuantity("bytes", 64, f"{_IF_X_TABLE}.6", needed=True),
    "out_bytes": MonitoredQuantity("bytes", 64, f"{_IF_X_TABLE}.10", needed=True),
    "in_errors": MonitoredQuantity("packets", 32, f"{_IF_TABLE}.14"),
    "out_errors": MonitoredQuantity("packets", 32, f"{_IF_TABLE}.20"),
    "in_discards": MonitoredQuantity("packets", 32, f"{_IF_TABLE}.13"),
    "out_discards": MonitoredQuantity("packets", 32, f"{_IF_TABLE}.19"),
    "in_packets": MonitoredQuantity("packets", 64),
    "out_packets": MonitoredQuantity("packets", 64),
    "cpu_busy": MonitoredQuantity("ticks", 64),
    "cpu_total": MonitoredQuantity("ticks", 64),
    "memory_available_bytes": MonitoredQuantity("bytes", None),
    "memory_total_bytes": MonitoredQuantity("bytes", None),
    "softnet_processed": MonitoredQuantity("packets", 32),
    "softnet_dropped": MonitoredQuantity("packets", 32),
    "softnet_time_squeeze": MonitoredQuantity("times", 32),
    "qdisc_dropped": MonitoredQuantity("packets", 32),
    "qdisc_overlimits": MonitoredQuantity("times", 32),
    "qdisc_requeues": MonitoredQuantity("times", 32),
    "temperature_mdegc": MonitoredQuantity("m°C", None),
}
OF_INTERFACES = tuple(name for name, quantity in QUANTITIES.items() if quantity.oid is not None)
"""What is asked of each interface of a router."""


def increase(before: int, after: int, bits: int) -> int | None:
    """How much a counter rose from one poll to the next.

    Args:
        before: Its value.
        after: Its value at the next poll, of the same run of whoever counts.
        bits: Its width, after which it begins again at 0 (RFC 2578, 7.1.6 and 7.1.10).

    Returns:
        The rise; None where it went back in a way that no wrap explains: it was reset. A counter that went
        back wrapped if it was in its upper half and rose by less than half its range.
    """
    if after >= before:
        return after - before
    risen = after + (1 << bits) - before
    half = 1 << (bits - 1)
    return risen if before >= half and risen < half else None
