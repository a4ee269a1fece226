"""Searches for the fewest flows and then a window, in virtual time, where each depends on the other.

Steps are those of a real sweep (`followed`), so that what passes from the first search to the second does.
"""

import math
from dataclasses import dataclass

import numpy as np

from flowsweep.schedule import Learned, Trial, followed, plateau_states, schedule
from flowsweep.schedule.search.plateau import Decision
from flowsweep.schedule.search.response import ALLOWED
from plan_support import plan_of
from searched_responses import PLATEAU, Noise

MOST_FLOWS = 32
LOW_BYTES, HIGH_BYTES = 16 << 10, 16 << 20
TRIALS = 90
SWEEP = f"""
find = "plateau"
flows = {{ from = 1, to = {MOST_FLOWS} }}
window = {{ from = "{LOW_BYTES}B", to = "{HIGH_BYTES}B" }}
duration = "4s"
at_most = {{ trials = {TRIALS} }}
"""
_WINDOWS = np.geomspace(LOW_BYTES / 8, 8 * HIGH_BYTES, 40_000)


@dataclass(frozen=True, slots=True)
class BothCase:
    """Each flow carries what its window lets through, up to a share of the path; the path bounds their sum.

    So the window that is enough becomes smaller with every flow, and the fewest flows depend on the window.
    """

    enough_flows: float
    """That carry all there is, with windows that do not limit them."""
    window_bytes: float
    """From which on a flow carries its share."""
    sharpness: float
    """Of both bends."""

    def log_goodput(self, flows: int, window_bytes: np.ndarray) -> np.ndarray:
        """Of a trial, natural logarithm of bit/s."""
        of_flow = self._bent(np.log(window_bytes / self.window_bytes))
        return PLATEAU + self._bent(of_flow + math.log(flows / self.enough_flows))

    def fewest_flows(self) -> int:
        """With the largest window; where the plateau is that of any number of flows."""
        counts = range(1, MOST_FLOWS + 1)
        logs = [float(self.log_goodput(flows, np.array([HIGH_BYTES]))[0]) for flows in counts]
        plateau = PLATEAU + float(self._bent(np.array([40.0]))[0])
        return next(flows for flows, log in zip(counts, logs, strict=True) if log >= plateau - ALLOWED)

    def enough_bytes(self, flows: int) -> float:
        """The smallest window that is enough with so many flows."""
        logs = self.log_goodput(flows, _WINDOWS)
        return float(_WINDOWS[np.searchsorted(logs, logs[-1] - ALLOWED)])

    def _bent(self, size: np.ndarray) -> np.ndarray:
        """Proportional below 0, level above."""
        return -np.logaddexp(0, -self.sharpness * np.asarray(size)) / self.sharpness


@dataclass(frozen=True, slots=True)
class SearchedBoth:
    """What both searches came to."""

    trials: int
    flows: Decision
    window: Decision | None
    """None where none followed."""
    with_flows: int | None
    """How many flows the window was searched with."""


def drawn_case(generator: np.random.Generator, sharpness: float) -> BothCase:
    """Two to twelve flows of any windows that the range has beside it."""
    return BothCase(
        enough_flows=generator.uniform(2, 12),
        window_bytes=math.exp(generator.uniform(math.log(100e3), math.log(2e6))),
        sharpness=sharpness,
    )


def searched_both(case: BothCase, noise: Noise, generator: np.random.Generator, seed: int) -> SearchedBoth:
    """Carry both out."""
    (slot,) = schedule(plan_of(SWEEP), seed)
    drawn = noise(generator, TRIALS + 10)
    learned: dict[str, Learned] = {}
    while (step := followed(slot, learned)[1]) is not None:
        (trial,) = step.trials
        learned[trial.trial_id] = math.exp(_log_goodput(case, trial) + drawn[len(learned)])
    (_, of_flows), *rest = plateau_states(slot, learned)
    first, window = rest[0] if rest else (None, None)
    return SearchedBoth(len(learned), of_flows, window, None if first is None else first.parameters.flows)


def _log_goodput(case: BothCase, trial: Trial) -> float:
    window_bytes = trial.parameters.window_bytes
    assert window_bytes is not None
    return float(case.log_goodput(trial.parameters.flows, np.array([window_bytes]))[0])
