"""Rows of summaries with known truth, for statistics over repeats: no traffic, no archive, only chance."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import Any

import numpy as np

from analysis_support import STARTED_AT
from flowsweep.analysis import FURTHER_COLUMNS, STABLE_COLUMNS

Row = dict[str, Any]
Noise = Callable[[np.random.Generator, int], Any]
"""Draws so many deviations with a standard deviation of 1."""

EMPTY: Row = dict.fromkeys((*STABLE_COLUMNS, *FURTHER_COLUMNS))
KIB = 1024
TRIAL_S = 12.0
BASE_BPS = 90e6
_DEGREES = 3


def normal(generator: np.random.Generator, count: int) -> Any:
    return generator.standard_normal(count)


def heavy_tailed(generator: np.random.Generator, count: int) -> Any:
    """Student's t with 3 degrees of freedom, scaled to a standard deviation of 1."""
    return generator.standard_t(_DEGREES, count) / math.sqrt(_DEGREES / (_DEGREES - 2))


@dataclass(frozen=True)
class Grid:
    """What a synthetic campaign varies, and the truth in it. Effects are natural logarithms."""

    flows: Sequence[int] = (1, 2, 4, 8, 16)
    window_sums: Sequence[int] = (512 * KIB, 1024 * KIB, 2048 * KIB, 4096 * KIB)
    lengths: Sequence[int] = (8192,)
    congestions: Sequence[str] = ("cubic",)
    directions: Sequence[tuple[str, str]] = (("a", "b"), ("b", "a"))
    repeats: int = 3
    noise: float = 0.03
    """Standard deviation of log goodput."""
    block: float = 0.05
    """Standard deviation of what a whole repeat shares."""
    pair: float = 0.0
    """Standard deviation of what both directions of a point share in one repeat."""
    draw: Noise = normal
    effect: Callable[[Row], float] = lambda row: 0.0
    """The truth: added to log goodput."""
    noise_of: Callable[[Row], float] = lambda row: 1.0
    """By how much the noise of a trial is greater."""


def campaign(grid: Grid, seed: Sequence[int] | int) -> list[Row]:
    """Draw a campaign in randomised complete blocks; its rows, as a summary would have them."""
    generator = np.random.default_rng(seed)
    points = list(product(grid.flows, grid.window_sums, grid.lengths, grid.congestions))
    rows: list[Row] = []
    for repeat in range(1, grid.repeats + 1):
        block = grid.block * generator.standard_normal()
        for place in generator.permutation(len(points)):
            shared = block + grid.pair * generator.standard_normal()
            flows, window_sum, length, congestion = points[place]
            for src, dst in grid.directions:
                order = len(rows)
                row = EMPTY | {
                    "trial_id": f"{order:012x}", "sweep": "windows", "repeat": repeat, "src": src, "dst": dst,
                    "started_at": (STARTED_AT + timedelta(seconds=TRIAL_S * order)).isoformat(),
                    "test": "tcp",
                    "flows": flows, "flows_per_pair": flows, "sources": 1, "sinks": 1,
                    "window_sum_bytes": window_sum // flows * flows, "window_bytes": window_sum // flows,
                    "window_send_bytes": window_sum // flows, "window_recv_bytes": window_sum // flows,
                    "length_bytes": length, "congestion": congestion, "congestion_asked": congestion,
                    "duration_s": 10.0, "omit_s": 0.0, "interval_s": 1.0, "status": "ok", "mode": "copy",
                    "simultaneous": False, "order_index": order, "attempt": 1, "attempts": 1, "coverage": 1.0,
                    "bins": 10, "bins_expected": 10, "goodput_method": "receiver_median",
                }  # fmt: skip
                row["goodput_bps"] = math.log(BASE_BPS) + shared + grid.effect(row)
                row["scale"] = grid.noise * grid.noise_of(row)
                rows.append(row)
    for row, deviation in zip(rows, grid.draw(generator, len(rows)), strict=True):
        row["goodput_bps"] = math.exp(row["goodput_bps"] + row.pop("scale") * deviation)
        row["goodput_mean_bps"] = row["goodput_bps"]
    return rows
