"""Defaults that follow from other values."""

from flowsweep import defaults
from flowsweep.defaults import BITS_PER_BYTE, SECOND_NS


def pad_of(duration_ns: int, pairs: int = 1) -> int:
    """Say how much longer pairs of hosts send together, so that the last bin of all flows is whole."""
    least_ns = defaults.PAD_NS if pairs == 1 else defaults.PAD_OF_PAIRS_NS
    return least_ns + round(duration_ns * defaults.PAD_PER_DURATION)


def lab_queue_bytes(rate_bps: int) -> int:
    """Return the queue of an emulated link of this rate where a plan names none: bytes of IP packets."""
    wanted = rate_bps * defaults.LAB_QUEUE_NS // (BITS_PER_BYTE * SECOND_NS)
    return min(max(wanted, defaults.LAB_QUEUE_MINIMUM_BYTES), defaults.QUEUE_MAX_BYTES)
