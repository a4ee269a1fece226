"""What a search for the least that is enough believes, of windows and of numbers of flows."""

import math
from dataclasses import dataclass

_NEARLY = 1e-9
"""What a whole number loses as a logarithm and back, as a share of it."""


@dataclass(frozen=True, slots=True)
class Lower:
    """Levels beyond what is enough at which goodput is lower again."""

    at: tuple[tuple[int, float], ...]
    """Windows in bytes, or numbers of flows, ascending, each with its goodput in bit/s; one at least."""
    sure: bool
    """Whether they are shown not to be enough, and lower than a smaller level; else they look so."""
    up_to: int | None
    """The largest level below all of them that is shown to be enough; None where none is."""
    again: int | None
    """The largest level beyond all of them that is shown to be enough; None where none is."""
    highest: tuple[int, float]
    """The level with the highest goodput of all, and that."""


@dataclass(frozen=True, slots=True)
class Belief:
    """What a search believes."""

    enough: float
    """The smallest window that is enough, in bytes; or a number of flows, of which the next whole one is."""
    low: float | None
    high: float | None
    """Ends of its interval; None where it is open."""
    plateau_bps: float
    """Goodput of windows beyond, a geometric mean."""
    lower: Lower | None = None
    """Where goodput is lower again, if it is."""

    @property
    def reach(self) -> float | None:
        """The farther end of the interval from the estimate, as a share of it."""
        if self.low is None or self.high is None:
            return None
        return max(self.high / self.enough, self.enough / self.low) - 1

    @property
    def in_whole(self) -> tuple[int, int | None, int | None]:
        """The fewest flows that are enough, and the ends of the interval of that; None where it is open."""
        low = None if self.low is None else _whole_above(self.low)
        high = None if self.high is None else whole_from(self.high)
        return max(whole_from(self.enough), low or 1), low, high


def _whole_above(low: float) -> int:
    """The first whole number that is more than what is known not to be enough."""
    return math.floor(low * (1 + _NEARLY)) + 1


def whole_from(enough: float) -> int:
    """The first whole number that is no less than what is known to be enough."""
    return math.ceil(enough * (1 - _NEARLY))
