"""Campaigns over windows whose response is known: where goodput is enough, and how it differs by flows."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from flowsweep.analysis.findings.plateau.estimate import Plateau, plateaus
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.means import window_levels
from flowsweep.analysis.statistics.observations import observations
from flowsweep.defaults import EQUIVALENCE_MARGIN
from synthetic_campaigns import EMPTY, KIB, Grid, Row, campaign

CORNER_BYTES = 400 * KIB
Shape = Callable[[float], float]
"""Share of what the path carries, by window / corner."""

SHAPES: dict[str, Shape] = {
    "corner": lambda x: min(1.0, x),
    "sharp": lambda x: (1 + x**-12) ** (-1 / 12),
    "mild": lambda x: (1 + x**-4) ** (-1 / 4),
    "milder": lambda x: (1 + x**-2.5) ** (-1 / 2.5),
    "exponential": lambda x: 1 - math.exp(-x),
    "tanh": math.tanh,
    "elbow": lambda x: min(1.0, x, 0.85 + 0.15 * math.log2(max(x, 0.85) / 0.85)),
    "step": lambda x: 0.6 * min(1.0, x) if x < 1.2 else 1.0,
    "slower than the window": lambda x: min(1.0, x**0.5),
}


def shoulder(
    shape: Shape, seed: int, *, noise: float = 0.01, shares: Sequence[float] | None = None, repeats: int = 3
) -> tuple[list[Row], float]:
    """Draw a campaign of one direction; its rows, and the smallest window of which 97 % is reached."""
    generator = np.random.default_rng((seed, 17))
    shares = shares or sorted(0.3 * 10 ** (generator.uniform(0.9, 1.1) * place / 5) for place in range(6))
    sums = tuple(round(CORNER_BYTES * share) for share in shares)
    grid = Grid(
        flows=(1,), window_sums=sums, directions=(("a", "b"),), noise=noise, block=0.02, repeats=repeats,
        effect=lambda row: math.log(shape(row["window_sum_bytes"] / CORNER_BYTES)),
    )  # fmt: skip
    return campaign(grid, seed), enough_bytes(shape, sums)


def enough_bytes(shape: Shape, sums: Sequence[int]) -> float:
    """By bisection: from where on goodput is within the margin of the highest of the windows tried."""
    goal = (1 - EQUIVALENCE_MARGIN) * max(shape(size / CORNER_BYTES) for size in sums)
    low, high = sums[0] / 1024, float(sums[-1])
    while high / low > 1 + 1e-9:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if shape(middle / CORNER_BYTES) >= goal else (middle, high)
    return high


def plateau_of_rows(rows: Sequence[Row]) -> Plateau:
    [observed] = observations(rows)
    [plateau] = plateaus(window_levels(observed, design(observed)), (), margin=EQUIVALENCE_MARGIN)
    return plateau


def holds(plateau: Plateau, truth: float) -> bool:
    """Whether the interval of the smallest window that is enough holds the truth; ends may be open."""
    levels, found, knee = plateau.means.levels, plateau.found, plateau.knee
    if knee is not None:
        return (knee.low or 0) <= truth <= (knee.high or math.inf)
    if found.start == 0 and found.latest is not None:
        return truth <= levels[found.latest]
    return found.earliest == 0 or truth > levels[found.earliest - 1]


def flows_apart(**changes: object) -> Grid:
    """One flow is held back at 20 Mbit/s by something else, four go from 26 to 39 from 96 to 192 KiB."""
    grid = Grid(
        flows=(1, 4), window_sums=tuple(KIB * size for size in (24, 48, 96, 192)), noise=0.02,
        directions=(("a", "b"),),
        effect=lambda row: math.log(
            {1: (7, 13, 15, 15), 4: (7, 13, 26, 39)}[row["flows"]][
                (24, 48, 96, 192).index(row["window_sum_bytes"] // KIB)
            ] / 90
        ),
    )  # fmt: skip
    return replace(grid, **changes)


def recorded_rows(setting: dict[str, object]) -> list[Row]:
    """Trials of an emulated path, of which six columns are recorded."""
    points, flows = setting["points"], setting["flows"]
    assert isinstance(points, list)
    assert isinstance(flows, int)
    repeats: dict[int, int] = {}
    rows = []
    for place, point in enumerate(points):
        size = point["window_sum_bytes"]
        repeats[size] = repeats.get(size, 0) + 1
        rows.append(
            EMPTY | {
                "trial_id": str(place), "sweep": "windows", "repeat": repeats[size], "src": "a", "dst": "b",
                "test": "tcp", "mode": "copy", "status": "ok", "simultaneous": False, "order_index": place,
                "flows": flows, "window_sum_bytes": size, "window_bytes": size // flows,
                "window_usable_bytes": point["usable_sum_bytes"] // flows,
                "goodput_bps": point["goodput_bps"], "rtt_min_ms": setting["rtt_ms"], "path_rate_bps": None,
            }
        )  # fmt: skip
    return rows
