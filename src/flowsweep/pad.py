"""How much longer than asked sources send."""

from flowsweep import defaults


def pad_of(duration_ns: int, pairs: int = 1) -> int:
    """Say how much longer pairs of hosts send together, so that the last bin of all flows is whole."""
    least_ns = defaults.PAD_NS if pairs == 1 else defaults.PAD_OF_PAIRS_NS
    return least_ns + round(duration_ns * defaults.PAD_PER_DURATION)
