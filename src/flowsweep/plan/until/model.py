"""When a trial may end before its duration is over."""

from flowsweep.frozen import Frozen


class Until(Frozen):
    """It ends as soon as its mean goodput after slow start is known."""

    share: float
    """Half of the 95 % interval of the mean, over the mean."""
    at_least_ns: int
    """How long it lasts at least."""
