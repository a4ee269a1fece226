"""When a trial may end before its duration is over."""

from flowsweep import defaults
from flowsweep.frozen import Frozen


class Until(Frozen):
    """It ends as soon as its mean goodput after slow start is known."""

    share: float
    """Half of the 95 % interval of the mean, over the mean."""
    at_least_ns: int
    """How long it lasts at least."""

    def shortest_ns(self, omit_ns: int, interval_ns: int, sample_interval_ns: int) -> int:
        """How long it lasts at least with what has to count: the engine looks after whole intervals, twice.

        Where 16 round trips take longer, it is longer.
        """
        batches_ns = defaults.KNOWN_BATCHES_MIN * defaults.KNOWN_BATCH_SAMPLES * sample_interval_ns
        apart = -(-defaults.KNOWN_LOOK_EVERY_NS // interval_ns)
        first = max(apart, defaults.MINIMUM_BINS)
        looks_before = max(0, -(-(batches_ns - first * interval_ns) // (apart * interval_ns)))
        intervals = first + (looks_before + defaults.KNOWN_LOOKS - 1) * apart
        return max(self.at_least_ns, omit_ns + intervals * interval_ns)
