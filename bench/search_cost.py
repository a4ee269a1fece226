"""How long a search takes to choose its next windows once it has 500 trials behind it.

Usage: python bench/search_cost.py     # on a machine left alone

The search is carried out in virtual time over a shoulder, with noise and a precision that it does not reach.
Writes the figures with facts of the machine to bench/results/search-cost.json, and a part of
docs/explanation/benchmarks.md.
"""

import math
import sys
import time
from collections.abc import Callable
from statistics import median, quantiles

import numpy as np
from pydantic import BaseModel, ConfigDict

from against.command import options_with_rounds, told
from against.machine import Machine
from flowsweep.defaults import SECOND_NS
from flowsweep.plan.searching.model import WindowSearch
from flowsweep.schedule.search.plateau import decide
from flowsweep.schedule.search.tried import Tried

TRIALS = 500
NOISE = 0.03
SHARPNESS = 4.0
SEED = 20261126
MOST_S = 0.05


class SearchResult(BaseModel):
    """All that was measured."""

    model_config = ConfigDict(frozen=True)

    machine: Machine
    trials: int
    windows: int
    """Different ones among them."""
    took_s: tuple[float, ...]
    """One decision, of all trials, in every round."""
    median_s: float
    met: bool


def main() -> int:
    """Measure, print and write the figures; 1 if the limit was missed."""
    arguments = options_with_rounds(__doc__, rounds=21).parse_args()
    machine = Machine.now()
    tried, choose = _searched()
    took_s = tuple(_timed(choose) for _ in range(arguments.rounds))
    result = SearchResult(
        machine=machine,
        trials=len(tried),
        windows=len({one.level for one in tried}),
        took_s=took_s,
        median_s=median(took_s),
        met=median(took_s) <= MOST_S,
    )
    return told("search_cost", result, part(result), dry=arguments.dry)


def _searched() -> tuple[tuple[Tried, ...], Callable[[], object]]:
    """Trials of a search, and what chooses the windows after them."""
    search = WindowSearch(
        of="window_sum_bytes", low_bytes=64 << 10, high_bytes=64 << 20, precision=0.01, trials_max=2 * TRIALS
    )
    generator = np.random.default_rng(SEED)
    tried: tuple[Tried, ...] = ()
    round_ = 0
    while len(tried) < TRIALS:
        round_ += 1
        windows = decide.__wrapped__(search, SECOND_NS, tried).levels
        if not windows:
            raise ValueError(f"the search ended after {len(tried)} trials")
        tried += tuple(Tried(window, round_, _log_goodput(window, generator)) for window in windows)
    return tried, lambda: decide.__wrapped__(search, SECOND_NS, tried)


def _log_goodput(window: int, generator: np.random.Generator) -> float:
    """Of a path of 1 Gbit/s that 1 MB fills, with noise."""
    below = math.log(window / 1e6)
    return math.log(1e9) - float(np.logaddexp(0, -SHARPNESS * below)) / SHARPNESS + generator.normal(0, NOISE)


def _timed(choose: Callable[[], object]) -> float:
    began = time.perf_counter()
    choose()
    return time.perf_counter() - began


def part(result: SearchResult) -> str:
    """Write the part of the page."""
    low, _, high = quantiles(result.took_s, n=4)
    met = "met" if result.met else "missed"
    return (
        f"The next windows after {result.trials} trials of {result.windows} windows: "
        f"{1e3 * result.median_s:.0f} ms ({1e3 * low:.0f} to {1e3 * high:.0f} ms, quartiles of "
        f"{len(result.took_s)} decisions; limit {1e3 * MOST_S:.0f} ms: {met}), on {result.machine.cpu}, "
        f"{result.machine.date}, commit {result.machine.commit}.\n"
    )


if __name__ == "__main__":
    sys.exit(main())
