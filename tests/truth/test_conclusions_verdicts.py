"""What drops packets, told from when they are lost: how often that is right, over many synthetic paths."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from truth_support import write_result

from drop_paths import DropPath, trace
from flowsweep.analysis.tests.tcp.drop_signature import loss_ranks, signature

CAMPAIGNS = 40
TRIALS = 6
WRONG_MOST = 0.05
PATHS = {
    ("at random, 0.2 %", "any rate"): DropPath("random", rate_bps=400e6),
    ("at random, 0.2 %, one flow", "any rate"): DropPath("random", rate_bps=400e6, flows=1),
    ("at random, 0.2 %, 16 flows", "any rate"): DropPath("random", rate_bps=800e6, flows=16),
    ("at random, 0.05 %", "any rate"): DropPath("random", rate_bps=400e6, loss=0.0005),
    ("at random, 0.05 %, one flow", "any rate"): DropPath("random", rate_bps=400e6, loss=0.0005, flows=1),
    ("at random, 150 ms", "any rate"): DropPath("random", rate_bps=400e6, rtt_s=0.15, seconds=40),
    ("shallow buffer", "shallow buffer"): DropPath("shallow"),
    ("shallow buffer, one flow", "shallow buffer"): DropPath("shallow", flows=1),
    ("shallow buffer of 5 segments", "shallow buffer"): DropPath("shallow", buffer_segments=5),
    ("shallow buffer, Reno", "shallow buffer"): DropPath("shallow", decrease=0.5),
    ("shallow buffer, 150 ms", "shallow buffer"): DropPath("shallow", rtt_s=0.15, seconds=40),
    ("policer", "policer"): DropPath("policer"),
    ("policer, one flow", "policer"): DropPath("policer", flows=1),
    ("policer, Reno", "policer"): DropPath("policer", decrease=0.5),
    ("policer, a bucket of 5000 segments", "policer"): DropPath("policer", burst_segments=5000),
    ("policer without a burst", "shallow buffer"): DropPath("policer", burst_segments=200),
}
"""Name, the cause that has to be told, and the path. A policer without a burst is a shallow buffer to TCP."""


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Any]]:
    results: dict[str, dict[str, Any]] = {}
    for place, ((name, cause), path) in enumerate(PATHS.items()):
        causes: Counter[str] = Counter()
        ranks: list[float] = []
        for campaign in range(CAMPAIGNS):
            seed = (place * CAMPAIGNS + campaign) * TRIALS
            traces = [trace(path, seed + trial) for trial in range(TRIALS)]
            causes[signature(traces).cause] += 1
            ranks += [float(rank) for one in traces for rank in loss_ranks(one)]
        results[name] = {
            "cause": cause, "right": causes[cause], "not clear": causes["not clear"],
            "wrong": CAMPAIGNS - causes[cause] - causes["not clear"],
            "mean rank": round(float(np.mean(ranks)), 3), "losses": round(len(ranks) / CAMPAIGNS, 1),
        }  # fmt: skip
    what = f"{CAMPAIGNS} synthetic campaigns of {TRIALS} trials for each path (tests/support/drop_paths.py)"
    write_result("conclusions-verdicts", what, {"drops": results})
    return results


def test_no_path_is_called_another(found: dict[str, dict[str, Any]]) -> None:
    assert {name: one["wrong"] for name, one in found.items() if one["wrong"] > WRONG_MOST * CAMPAIGNS} == {}


def test_most_paths_are_told(found: dict[str, dict[str, Any]]) -> None:
    right = [one["right"] for one in found.values()]
    assert sum(right) >= 0.9 * CAMPAIGNS * len(right)
