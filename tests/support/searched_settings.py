"""Searches for the best of several settings whose goodputs are known, in virtual time."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from flowsweep.defaults import SECOND_NS
from flowsweep.plan.searching.model import BestSearch
from flowsweep.schedule.search.best import BestDecision, decide_best
from flowsweep.schedule.search.tried import Tried
from searched_responses import Noise, correlated, drifting, heavy_tailed, independent

PRECISION = 0.1
GOODPUT = math.log(1e9)
"""Of the best setting, natural logarithm of bit/s."""


@dataclass(frozen=True, slots=True)
class SearchedSettings:
    """What a search came to."""

    decided: BestDecision
    tried: tuple[Tried, ...]
    failed: tuple[int, ...]


def stalling(share: float, stalled: float = 0.05) -> Noise:
    """Independent, and one trial of so many carries 5 to 60 % of what it would."""

    def made(generator: np.random.Generator, trials: int) -> np.ndarray:
        stalls = generator.random(trials) < stalled
        lost = np.log(generator.uniform(0.05, 0.6, trials))
        return generator.normal(0, share, trials) + np.where(stalls, lost, 0.0)

    return made


def with_bad_state(share: float, bad: float, slow: float = 0.4) -> Noise:
    """Independent, and so large a share of trials carries 40 % of what the others do; the mean stays."""
    lost = math.log(slow)

    def made(generator: np.random.Generator, trials: int) -> np.ndarray:
        states = np.where(generator.random(trials) < bad, lost, 0.0) - bad * lost
        return generator.normal(0, share, trials) + states

    return made


BAD_STATE = with_bad_state(0.01, 0.4)
UNLIKE = independent(0.01)
"""Of each setting once, four or sixteen times as much."""
NOISE: Mapping[str, Noise] = {
    "1 %": independent(0.01),
    "5 %": independent(0.05),
    "2 %, t(4)": heavy_tailed(0.02),
    "2 %, AR(1) 0.7": correlated(0.02, 0.7),
    "1 %, drift −20 %": drifting(0.01, -0.2),
    "1 %, one of 20 stalls": stalling(0.01),
    "1, 4 or 16 % by setting": UNLIKE,
    "1 %, two of 5 at 40 %": BAD_STATE,
}


def _anywhere(generator: np.random.Generator, settings: int) -> np.ndarray:
    return -generator.uniform(0, 0.6, settings)


def _near(generator: np.random.Generator, settings: int) -> np.ndarray:
    return -generator.uniform(0, 0.12, settings)


def _alike(_: np.random.Generator, settings: int) -> np.ndarray:
    return np.zeros(settings)


def _one_ahead(generator: np.random.Generator, settings: int) -> np.ndarray:
    """By 15 %."""
    levels = np.full(settings, -math.log(1.15))
    levels[generator.integers(settings)] = 0.0
    return levels


LEVELS: Mapping[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "down to −45 %": _anywhere,
    "within 11 %": _near,
    "all alike": _alike,
    "one 15 % ahead": _one_ahead,
}
"""How goodputs of settings lie: natural logarithms, of the best about 0."""


def asked(trials: int = 200, **more: int) -> BestSearch:
    """A search to 10 %."""
    return BestSearch(precision=PRECISION, trials_max=trials, **more)


def searched(
    levels: Sequence[float] | np.ndarray,
    noise: Noise,
    generator: np.random.Generator,
    search: BestSearch,
    failing: int = -1,
) -> SearchedSettings:
    """Go through a search; the failing setting never works. Noise of one name differs between settings."""
    disturbed = noise(generator, search.trials_max)
    scatter = generator.choice([1.0, 4.0, 16.0], len(levels)) if noise is UNLIKE else np.ones(len(levels))
    tried: tuple[Tried, ...] = ()
    failed: tuple[int, ...] = ()
    round_ = 0
    while True:
        decided = decide_best(search, SECOND_NS, len(levels), tried, failed)
        if not decided.settings:
            return SearchedSettings(decided, tried, failed)
        round_ += 1
        for setting in map(int, generator.permutation(decided.settings)):
            if setting == failing:
                failed += (setting,)
                continue
            log = GOODPUT + float(levels[setting]) + float(scatter[setting] * disturbed[len(tried)])
            tried += (Tried(setting, round_, log),)


def shortfall(found: SearchedSettings, levels: np.ndarray) -> float:
    """By how much what was found is below the best in truth: natural logarithm."""
    belief = found.decided.belief
    return math.inf if belief is None else float(levels.max() - levels[belief.best])
