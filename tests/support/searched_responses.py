"""Searches for the plateau in virtual time, over responses of which the smallest enough window is known."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from flowsweep.defaults import CONFIDENCE, SECOND_NS
from flowsweep.plan.searching.model import FlowsSearch, OfPlateau, WindowSearch
from flowsweep.schedule.search.belief import Belief
from flowsweep.schedule.search.plateau import End, decide
from flowsweep.schedule.search.response import ALLOWED
from flowsweep.schedule.search.tried import Tried

LOW_BYTES, HIGH_BYTES = 64 << 10, 64 << 20
PLATEAU = math.log(1e9)
_CORNERS = (math.log(2e5), math.log(1e7))

Response = Callable[[float], float]
"""From the logarithm of a window in bytes to that of goodput in bit/s."""
Noise = Callable[[np.random.Generator, int], np.ndarray]


def asked(precision: float = 0.1, trials: int = 60, confidence: float = CONFIDENCE) -> WindowSearch:
    """A search over 64 KiB to 64 MiB."""
    return WindowSearch(
        of="window_sum_bytes",
        low_bytes=LOW_BYTES,
        high_bytes=HIGH_BYTES,
        precision=precision,
        confidence=confidence,
        trials_max=trials,
    )


def asked_flows(most: int = 32, precision: float = 0.1, trials: int = 60) -> FlowsSearch:
    """A search over 1 to `most` flows."""
    return FlowsSearch(
        low_flows=1, high_flows=most, window_shared=False, precision=precision, trials_max=trials
    )


@dataclass(frozen=True, slots=True)
class Case:
    """A response whose truth is known."""

    response: Response
    enough_bytes: float | None
    """None: no window of the range is, or all are."""
    fails_above_bytes: float = math.inf
    """Trials with larger windows fail."""


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search came to."""

    trials: int
    end: End | None
    belief: Belief | None


def smooth(sharpness: float, corner: float) -> Case:
    """Proportional below, level above."""

    def response(size: float) -> float:
        return PLATEAU - float(np.logaddexp(0, -sharpness * (size - corner))) / sharpness

    return Case(response, math.exp(corner - math.log(math.expm1(sharpness * ALLOWED)) / sharpness))


def _bent(extra: Callable[[float, float], float]) -> Callable[[np.random.Generator], Case]:
    """A corner with something beyond it, that does not move where goodput is a margin below its highest."""

    def made(generator: np.random.Generator) -> Case:
        corner = generator.uniform(*_CORNERS)

        def response(size: float) -> float:
            return PLATEAU + min(size - corner, 0.0) + extra(size, corner)

        return Case(response, math.exp(corner - ALLOWED))

    return made


def _smooth(sharpness: float) -> Callable[[np.random.Generator], Case]:
    return lambda generator: smooth(sharpness, generator.uniform(*_CORNERS))


def _two_levels(generator: np.random.Generator) -> Case:
    """Level from a corner on, and 20 % more from a second one on, eight times as large."""
    corner = generator.uniform(math.log(2e5), math.log(1e6))

    def response(size: float) -> float:
        low = min(size - corner, 0.0)
        return PLATEAU + low + min(max(size - corner - math.log(8), 0.0), math.log(1.2))

    return Case(response, math.exp(corner + math.log(8) + math.log(1.2) - ALLOWED))


def _failing(generator: np.random.Generator) -> Case:
    """A corner; from three to twelve times as large a window on, trials fail."""
    corner = generator.uniform(*_CORNERS)
    return replace(smooth(15.0, corner), fails_above_bytes=math.exp(corner) * generator.uniform(3, 12))


CASES: Mapping[str, Callable[[np.random.Generator], Case]] = {
    "corner": _smooth(100.0),
    "soft": _smooth(15.0),
    "shoulder": _smooth(4.0),
    "flat": lambda _: Case(lambda _size: PLATEAU, None),
    "rising": lambda _: Case(lambda size: PLATEAU + size, None),
    "declining": _bent(lambda size, corner: -0.08 * max(0.0, size - corner - math.log(3))),
    "falls off": _bent(lambda size, corner: -0.15 if size > corner + math.log(4) else 0.0),
    "dip": _bent(lambda size, corner: -0.2 if math.log(6) < size - corner < math.log(12) else 0.0),
    "two levels": _two_levels,
    "fails above": _failing,
}


def searched(
    case: Case,
    noise: Noise,
    generator: np.random.Generator,
    search: OfPlateau,
    fails: Callable[[float], bool] = lambda _: False,
) -> Searched:
    """Carry a search out; noise is drawn for all its trials at once, in the order in which they run."""
    drawn = noise(generator, search.trials_max + 10)
    tried: list[Tried] = []
    failed: list[int] = []
    round_ = 0
    while True:
        decision = decide.__wrapped__(search, SECOND_NS, tuple(tried), tuple(failed))
        if not decision.levels:
            return Searched(len(tried) + len(failed), decision.end, decision.belief)
        round_ += 1
        for window in generator.permutation(decision.levels).tolist():
            if window > case.fails_above_bytes or fails(window):
                failed.append(window)
            else:
                log_goodput = case.response(math.log(window)) + drawn[len(tried)]
                tried.append(Tried(window, round_, float(log_goodput)))


def independent(spread: float) -> Noise:
    """Normal noise."""
    return lambda generator, count: generator.normal(0, spread, count)


def heavy_tailed(spread: float) -> Noise:
    """Student's t with 4 degrees of freedom."""
    return lambda generator, count: spread * generator.standard_t(4, count) / math.sqrt(2)


def correlated(spread: float, correlation: float) -> Noise:
    """AR(1)."""

    def draw(generator: np.random.Generator, count: int) -> np.ndarray:
        steps = generator.normal(0, spread * math.sqrt(1 - correlation**2), count)
        values = np.empty(count)
        value = generator.normal(0, spread)
        for at, step in enumerate(steps):
            value = correlation * value + step
            values[at] = value
        return values

    return draw


def drifting(spread: float, over_all: float) -> Noise:
    """Normal noise, and a steady drift by so much over 60 trials."""
    return lambda generator, count: generator.normal(0, spread, count) + over_all * np.arange(count) / 60


def holds(found: Searched, case: Case) -> bool | None:
    """Whether the interval holds the truth; None where none was claimed, or there is none to hold.

    An interval without any end says nothing, and holds nothing.
    """
    if found.belief is None or case.enough_bytes is None:
        return None
    low, high = found.belief.low, found.belief.high
    if low is None and high is None:
        return False
    slack = 1.006  # half a step of the grid on which the estimate lies
    return (low is None or low <= case.enough_bytes * slack) and (
        high is None or high * slack >= case.enough_bytes
    )


def has_both_ends(belief: Belief) -> bool:
    """Whether its interval is open on neither side: only then can it be missed on both."""
    return belief.low is not None and belief.high is not None


def false_plateau(found: Searched, case: Case) -> bool:
    """Whether a plateau is claimed where the range has none, or one that begins elsewhere."""
    if found.end != "precise":
        return False
    return case.enough_bytes is None or not holds(found, case)
