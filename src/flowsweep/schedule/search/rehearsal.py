"""How many trials a search will probably take: its own decisions, over responses that are made up."""

import math
from typing import NamedTuple

import numpy as np

from flowsweep.plan.searching.model import Beside, BestSearch, OfPlateau
from flowsweep.schedule.search.tried import Tried

SCATTER = 0.03
"""Standard deviation of log goodput between repeats."""
_CORNERS = np.linspace(0.2, 0.8, 7)
"""Where in the range, as shares of its logarithm, goodput reaches its plateau."""
_SEED = 20010829
_PLATEAU_BPS = 1e8
"""Any rate would do: a budget of bytes is left out."""


class Rehearsed(NamedTuple):
    """Trials that searches took."""

    least: int
    median: int
    most: int


def rehearsed(search: OfPlateau, trial_ns: int, beside: Beside) -> Rehearsed:
    """Carry a search out a few times without traffic.

    Args:
        search: What is wanted; what it may send does not count.
        trial_ns: How long a trial measures.
        beside: What it takes beside that.

    Returns:
        How many trials that took where goodput rises in proportion to the window up to a corner, at one of
        seven places of the range, and repeats scatter by 3 %.
    """
    wanted = search.model_copy(update={"bytes_max": None})
    generator = np.random.default_rng(_SEED)
    low, high = math.log(search.low), math.log(search.high)
    counts = sorted(
        _trials(wanted, trial_ns, beside, low + (high - low) * float(share), generator) for share in _CORNERS
    )
    return Rehearsed(counts[0], counts[len(counts) // 2], counts[-1])


def _trials(
    search: OfPlateau, trial_ns: int, beside: Beside, corner: float, generator: np.random.Generator
) -> int:
    # SciPy is loaded where a search decides, here as everywhere.
    from flowsweep.schedule.search.plateau import decide

    tried: tuple[Tried, ...] = ()
    number = 0
    while windows := decide(search, trial_ns, tried, beside=beside).levels:
        number += 1
        logs = math.log(_PLATEAU_BPS) + np.minimum(np.log(windows) - corner, 0.0)
        logs += generator.normal(0, SCATTER, len(windows))
        tried += tuple(map(Tried, windows, [number] * len(windows), logs.tolist()))
    return len(tried)


_LOWER = 0.5
"""By how much the worst of several settings is below the best, natural logarithm."""
_TIMES = 7


def rehearsed_best(search: BestSearch, settings: int, trial_ns: int, beside: Beside) -> Rehearsed:
    """Carry a search for the best out a few times without traffic.

    Returns:
        How many trials that took where the settings' goodputs lie anywhere down to 39 % below the best, and
        repeats scatter by 3 %.
    """
    from flowsweep.schedule.search.best import decide_best

    wanted = search.model_copy(update={"bytes_max": None})
    generator = np.random.default_rng(_SEED)
    counts = []
    for _ in range(_TIMES):
        levels = math.log(_PLATEAU_BPS) - generator.uniform(0, _LOWER, settings)
        tried: tuple[Tried, ...] = ()
        number = 0
        while chosen := decide_best(wanted, trial_ns, settings, tried, beside=beside).settings:
            number += 1
            logs = levels[list(chosen)] + generator.normal(0, SCATTER, len(chosen))
            tried += tuple(map(Tried, chosen, [number] * len(chosen), logs.tolist()))
        counts.append(len(tried))
    counts.sort()
    return Rehearsed(counts[0], counts[len(counts) // 2], counts[-1])
