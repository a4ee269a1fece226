"""Paths with other traffic on them, simulated: what trains say of their capacity, and what pairs do."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from truth_support import NOTES, fill_table, in_processes, table, write_result

from flowsweep.analysis.tests.path import path_facts
from path_support import path_tables
from queue_paths import LOADS, crossed_path, trains_through

PATHS = 100
"""For each load."""
NEAR, HELD_SHARE, WRONG_SHARE = 0.1, 0.9, 0.02
TOLD_LEAST = 0.5
SEED = 1_000


@dataclass(frozen=True)
class Told:
    """What was said of one path, as shares of the truth."""

    load: float
    crossing: str
    second: str
    rate: float | None
    capacity: float | None
    held: bool


def told(load: float, seed: int) -> Told:
    """Measure a path once."""
    random = np.random.default_rng([SEED, round(100 * load), seed])
    path = crossed_path(load, random)
    rows = trains_through(path.links, random, receiver=path.receiver)
    [row] = path_facts(path_tables([], rows)).to_pyarrow().to_pylist()
    truth, capacity, rate = path.capacity_bps, row["path_capacity_bps"], row["path_dispersion_rate_bps"]
    held = capacity is not None and row["path_capacity_low_bps"] <= truth <= row["path_capacity_high_bps"]
    return Told(load, path.crossing, path.second, rate and rate / truth, capacity and capacity / truth, held)


def test_capacities_of_crossed_paths() -> None:
    asked = [(load, seed) for load in LOADS for seed in range(PATHS)]
    every = in_processes(told, *zip(*asked, strict=True))
    lines = [line(f"{load:.0%}", [one for one in every if one.load == load]) for load in LOADS]
    lines += [
        line(name, [one for one in every if one.load and name in (one.crossing, f"{one.second} it")])
        for name in ("poisson", "on-off", "before it", "after it")
    ]
    headings = (
        "cross traffic",
        "paths",
        "dispersion rate",
        "reported",
        "within 10 %",
        "worst",
        "holds the truth",
    )
    fill_table(NOTES / "conclusions-capacity.md", "capacity", table(headings, lines))
    write_result(
        "conclusions-capacity",
        "simulated paths",
        {
            "paths": [
                {
                    "load": one.load, "crossing": one.crossing, "second link": one.second,
                    "dispersion rate": one.rate and round(one.rate, 4),
                    "capacity": one.capacity and round(one.capacity, 4), "held": one.held,
                }
                for one in every
            ]
        },
    )  # fmt: skip
    for load in LOADS:
        own = [one for one in every if one.load == load and one.capacity is not None]
        assert len(own) >= TOLD_LEAST * PATHS, load
        assert sum(one.held for one in own) >= HELD_SHARE * len(own), load
        assert sum(not near(one) for one in own) <= WRONG_SHARE * len(own), load


def near(one: Told) -> bool:
    return one.capacity is not None and abs(one.capacity - 1) <= NEAR


def line(name: str, own: Sequence[Told]) -> tuple[object, ...]:
    rates = [one.rate for one in own if one.rate is not None]
    low, high = np.quantile(rates, [0.05, 0.95])
    capacities = [one.capacity for one in own if one.capacity is not None]
    worst = max((share - 1 for share in capacities), key=abs)
    return (
        name,
        len(own),
        f"{low:.2f} to {high:.2f}",
        len(capacities),
        sum(near(one) for one in own),
        f"{100 * worst:+.1f} %",
        sum(one.held for one in own),
    )
