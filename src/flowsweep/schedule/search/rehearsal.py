"""How many trials a search will probably take: its own decisions, over responses that are made up."""

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from flowsweep.defaults import SECOND_NS
from flowsweep.plan.searching.model import (
    FIRST_WINDOWS,
    Beside,
    BestSearch,
    FlowsSearch,
    OfPlateau,
    SearchInRounds,
)
from flowsweep.schedule.search.levels import Floats
from flowsweep.schedule.search.tried import Tried

SCATTER = 0.03
"""Standard deviation of log goodput between repeats."""
_CORNERS = np.linspace(0.2, 0.8, 7)
"""Where in the range, as shares of its logarithm, goodput reaches its plateau."""
_SEED = 20010829


class Terms(NamedTuple):
    """What is known of a search's trials beforehand."""

    trial_ns: int
    """How long one measures, at most."""
    beside: Beside
    """What it takes beside that."""
    lasts_ns: int | None = None
    """How long one measures that ends as early as it may; None: as long as at most."""
    rate_bps: float | None = None
    """The most that goodput can be; None where nothing bounds it: then a budget of bytes is left out."""


class Rehearsed(NamedTuple):
    """Trials that searches took."""

    least: int
    median: int
    most: int
    known: bool = True
    """Whether one of them came to its end before its budget was used up."""


def rehearsed(search: OfPlateau, terms: Terms, trials_max: int) -> Rehearsed:
    """Carry a search out a few times without traffic, and the one that follows it, if one does.

    Args:
        search: What is wanted.
        terms: What its trials are like.
        trials_max: As many as they are at most.

    Returns:
        How many trials that took where goodput rises in proportion to the window up to a corner, at one of
        seven places of the range, and repeats scatter by 3 %.
    """
    took = _of_one(search, terms)
    then = search.then if isinstance(search, FlowsSearch) else None
    if then is None:
        return _rehearsed(took, trials_max)
    left = search.bytes_max
    if left is not None and terms.rate_bps is not None:
        spent = _rehearsed(took, trials_max).median * _bytes_of(terms)
        left = round(left - spent)
        if left < FIRST_WINDOWS[0] * _bytes_of(terms):
            return _rehearsed([(count, False) for count, _ in took], trials_max)
    more = _of_one(then.model_copy(update={"bytes_max": left}), terms)
    pairs = zip(sorted(took), sorted(more), strict=True)
    return _rehearsed([(one + other, known and also) for (one, known), (other, also) in pairs], trials_max)


def _bytes_of(terms: Terms) -> float:
    """Of one trial, at the most goodput that there can be."""
    sends_ns = (terms.lasts_ns or terms.trial_ns) + terms.beside.pad_ns
    return (terms.rate_bps or 0.0) * sends_ns / (8 * SECOND_NS)


def _of_one(search: OfPlateau, terms: Terms) -> list[tuple[int, bool]]:
    """Of each corner: trials, and whether the search ended before its budget did."""
    # SciPy is loaded where a search decides, here as everywhere.
    from flowsweep.schedule.search.plateau import decide

    wanted, plateau = _bounded(search, terms)
    generator = np.random.default_rng(_SEED)
    low, high = math.log(search.low), math.log(search.high)
    took = []
    for share in _CORNERS:
        corner = low + (high - low) * float(share)
        tried: tuple[Tried, ...] = ()
        number = 0
        while (found := decide(wanted, terms.trial_ns, tried, beside=terms.beside)).levels:
            number += 1
            logs = plateau + np.minimum(np.log(found.levels) - corner, 0.0)
            logs += generator.normal(0, SCATTER, len(found.levels))
            tried += _tried(found.levels, number, logs, terms)
        took.append((len(tried), found.end != "budget"))
    return took


_LOWER = 0.5
"""By how much the worst of several settings is below the best, natural logarithm."""
_TIMES = 7


def rehearsed_best(search: BestSearch, settings: int, terms: Terms, trials_max: int) -> Rehearsed:
    """Carry a search for the best out a few times without traffic.

    Returns:
        How many trials that took where the settings' goodputs lie anywhere down to 39 % below the best, and
        repeats scatter by 3 %.
    """
    from flowsweep.schedule.search.best import decide_best

    wanted, plateau = _bounded(search, terms)
    generator = np.random.default_rng(_SEED)
    took = []
    for _ in range(_TIMES):
        levels = plateau - generator.uniform(0, _LOWER, settings)
        tried: tuple[Tried, ...] = ()
        number = 0
        while (found := decide_best(wanted, terms.trial_ns, settings, tried, beside=terms.beside)).settings:
            number += 1
            logs = levels[list(found.settings)] + generator.normal(0, SCATTER, len(found.settings))
            tried += _tried(found.settings, number, logs, terms)
        took.append((len(tried), found.end != "budget"))
    return _rehearsed(took, trials_max)


_InRounds = TypeVar("_InRounds", bound=SearchInRounds)
_ANY_BPS = 1e8
"""Any rate would do where what is sent does not count."""


def _bounded(search: _InRounds, terms: Terms) -> tuple[_InRounds, float]:
    """The search, and its plateau as a natural logarithm; the most that goodput can be."""
    if terms.rate_bps is None:
        return search.model_copy(update={"bytes_max": None}), math.log(_ANY_BPS)
    return search, math.log(terms.rate_bps)


def _tried(levels: Sequence[int], number: int, logs: Floats, terms: Terms) -> tuple[Tried, ...]:
    many = len(levels)
    return tuple(map(Tried, levels, [number] * many, logs.tolist(), [terms.lasts_ns] * many))


def _rehearsed(took: Sequence[tuple[int, bool]], trials_max: int) -> Rehearsed:
    counts = sorted(min(count, trials_max) for count, _ in took)
    known = any(whether and count <= trials_max for count, whether in took)
    return Rehearsed(counts[0], counts[len(counts) // 2], counts[-1], known)
