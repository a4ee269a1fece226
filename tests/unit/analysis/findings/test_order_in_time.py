"""Levels that run in the order of time, while goodput drifts: the drift is no effect of theirs."""

import math
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from analysis_support import STARTED_AT
from campaigns_over_time import red
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import Grid, Row, campaign

FLOWS = (1, 2, 4, 8)
WINDOW = "window_sum_bytes"
RISING = {1: -0.5, 2: -0.3, 4: -0.1}


def loop(drift: float, effect: dict[int, float], *, in_order: bool = True, seed: int = 1) -> list[Row]:
    """A shell's loop: three times 1, 2, 4, 8 flows, 15 s each; goodput drifts from test to test."""
    rows = campaign(
        Grid(flows=FLOWS, window_sums=(1 << 20,), directions=(("a", "b"),), block=0, noise=0), seed
    )
    if in_order:
        rows.sort(key=lambda row: (row["repeat"], row["flows"]))
    noise = np.random.default_rng(seed).normal(0, 0.01, len(rows))
    for number, row in enumerate(rows):
        row |= {name: None for name in row if name.startswith("window_")}
        row["order_index"] = number
        row["started_at"] = (STARTED_AT + timedelta(seconds=15 * number)).isoformat()
        change = drift * number + effect.get(row["flows"], 0.0) + float(noise[number])
        row["goodput_bps"] = row["goodput_mean_bps"] = 9e8 * math.exp(change)
    return rows


def told(rows: list[Row]) -> dict[str, Finding]:
    return {one.kind: one for one in findings(rows)}


def test_a_drift_is_no_effect_of_what_ran_in_its_order() -> None:
    """It was "number of flows matters: from 1 to 8 goodput rises by 6.0 % [4.0, 8.0]"."""
    said = told(loop(0.02, {}))
    assert said["drift"].decision == "effect"
    for kind in ("effect", "plateau", "decline"):
        assert said[kind].decision == "undecided", said[kind].claim
        assert (
            "ran in the order of time, and as far as the trials tell goodput changes by up to "
            in said[kind].claim
        )
    assert said["effect"].effect == pytest.approx(6, abs=2)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(loop(0.002, RISING), id="an effect that no such drift explains"),
        pytest.param(loop(0.02, RISING, in_order=False), id="a random order"),
    ],
)
def test_an_effect_beyond_the_drift_is_claimed(rows: list[Any]) -> None:
    assert told(rows)["effect"].decision == "effect"


def test_what_comes_and_goes_by_itself_is_no_dip() -> None:
    """Ten tests of each window, one window after the other, in red noise: "dips at 2 MiB … 4 MiB: −7.5 %"."""
    windows = tuple((1 << 20) * size for size in (1, 2, 4, 8))
    grid = Grid(flows=(1,), window_sums=windows, directions=(("a", "b"),), repeats=10, block=0, noise=0)
    claimed = []
    for seed in range(5):
        rows = sorted(campaign(grid, seed), key=lambda row: row["window_sum_bytes"])
        course = 0.08 * red(np.random.default_rng(seed), len(rows), 0.95)
        for number, row in enumerate(rows):
            row["order_index"] = number
            row["started_at"] = (STARTED_AT + timedelta(seconds=15 * number)).isoformat()
            row["goodput_bps"] = row["goodput_mean_bps"] = 9e8 * math.exp(float(course[number]))
        claimed += [one.kind for one in findings(rows) if one.decision == "effect" and one.axis == WINDOW]
    assert not claimed
