"""What a search knows of one trial."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from flowsweep.defaults import SECOND_NS


class Tried(NamedTuple):
    """One trial of a search that was whole."""

    level: int
    """The window in bytes; in a search for the best setting the number of the setting."""
    round: int
    log_goodput: float
    """Natural logarithm of bit/s."""


def sent_bytes(tried: Sequence[Tried], trial_ns: int) -> float:
    """What trials sent together that took so long each."""
    return sum(math.exp(one.log_goodput) for one in tried) * _bytes_per_bps(trial_ns)


def most_bytes(tried: Sequence[Tried], trial_ns: int) -> float:
    """What a trial sends with the highest goodput so far; 0 before the first."""
    return max((math.exp(one.log_goodput) for one in tried), default=0.0) * _bytes_per_bps(trial_ns)


def _bytes_per_bps(trial_ns: int) -> float:
    return trial_ns / (8 * SECOND_NS)
