"""Whether what a plan is said to take is about as much, or the most that it may be."""

from collections.abc import Iterable

from flowsweep.plan.model import Sweep
from flowsweep.plan.searching.model import SearchInRounds


def may_take_less(sweep: Sweep) -> bool:
    """Whether it searches, or its trials end when they know."""
    return isinstance(sweep.search, SearchInRounds) or sweep.until is not None


def about_or_at_most(sweeps: Iterable[Sweep]) -> str:
    """The word before what sweeps are said to take."""
    return "at most" if any(map(may_take_less, sweeps)) else "about"
