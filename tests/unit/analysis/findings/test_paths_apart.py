"""Paths of one campaign change one by one: what one of them does is not said of the others, nor halved."""

import math
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from analysis_support import STARTED_AT
from campaigns_over_time import NOISE
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.statistics.repeat_noise import repeat_noise
from flowsweep.analysis.statistics.usual_trials import fit_of_repeats
from synthetic_campaigns import Grid, Row, campaign

OVER_TIME = ("step", "cycle", "drift", "periodicity", "modes")
STEP = math.log(0.8)


def hourly(courses: Mapping[str, Any], *, seed: int = 1) -> list[Row]:
    """A trial an hour from "a" to each of some hosts: log goodput follows the course of its path."""
    count = len(next(iter(courses.values())))
    ways = tuple(("a", name) for name in courses)
    grid = Grid(flows=(1,), window_sums=(1 << 20,), directions=ways, repeats=count, noise=0, block=0)
    generator = np.random.default_rng(seed)
    rows = sorted(campaign(grid, seed), key=lambda row: row["repeat"])
    for row in rows:
        number = row["repeat"] - 1
        row["started_at"] = (STARTED_AT + timedelta(hours=number)).isoformat()
        noise = NOISE * generator.standard_normal()
        row["goodput_bps"] = 9e7 * math.exp(float(courses[row["dst"]][number]) + noise)
    return rows


def told(rows: list[Row]) -> list[Finding]:
    return [one for one in findings(rows) if one.kind in OVER_TIME and one.decision == "effect"]


def test_a_step_of_one_path_is_told_of_that_path_with_its_size() -> None:
    """Of 1008 trials of three paths it was "goodput stepped … by −7.7 %", which no path did."""
    stepped = STEP * (np.arange(96) >= 65)
    [step] = told(hourly({"b": np.zeros(96), "c": stepped, "d": np.zeros(96)}))
    assert (step.kind, step.direction) == ("step", "a → c")
    assert step.claim.startswith("a → c: goodput changed in one step between ")
    assert step.effect is not None
    assert abs(step.effect + 20) < 2
    assert step.figure is not None
    assert step.figure.direction == "a → c"


@pytest.mark.long
def test_a_day_is_seen_in_many_trials_whose_neighbours_are_averaged() -> None:
    """Of two weeks of hourly trials it was "two whole days … would tell": averages begin in few hours."""
    cycle = 0.1 * np.sin(2 * np.pi * np.arange(336) / 24)
    [found] = told(hourly({"b": np.zeros(336), "c": cycle}))
    assert (found.kind, found.direction) == ("cycle", "a → c")
    assert found.interval_low is not None
    assert found.interval_high is not None
    assert found.interval_low < 100 * math.expm1(0.1) < found.interval_high


def test_paths_that_are_too_many_are_told_of_together() -> None:
    rows = hourly({f"h{number}": STEP * (np.arange(40) >= 20) for number in range(25)})
    [step] = [one for one in told(rows) if one.kind == "step"]
    assert step.direction is None
    assert step.claim.startswith("all paths together: goodput changed in one step between ")


def test_a_trial_that_went_well_while_others_did_not_is_no_outlier() -> None:
    """Two of three paths stalled in one hour: the third had "473 % more goodput than expected"."""
    rows = hourly({name: np.zeros(60) for name in "bcd"})
    stalled = [row for row in rows if row["repeat"] == 30 and row["dst"] in "bc"]
    for row in stalled:
        row["goodput_bps"] *= 0.2
    [observed] = observations(rows)
    noise = repeat_noise(design(observed))
    assert noise is not None
    found = fit_of_repeats(noise)
    assert found is not None
    named = {noise.rows[place]["trial_id"] for place in found.unusual}
    assert named == {row["trial_id"] for row in stalled}
    assert all(abs(found.deviations[place] - math.log(0.2)) < 0.2 for place in found.unusual)


def test_goodput_that_falls_with_many_flows_declines() -> None:
    grid = Grid(flows=(1, 2, 4, 8, 16), window_sums=(1 << 20,), directions=(("a", "b"),), repeats=5, block=0)
    rows = campaign(grid, 2)
    shapes = {1: 0.5, 2: 1.0, 4: 1.0, 8: 0.97, 16: 0.8}
    generator = np.random.default_rng(2)
    for row in rows:
        row["goodput_bps"] = 9e8 * shapes[row["flows"]] * math.exp(0.01 * generator.standard_normal())
        row["goodput_mean_bps"] = row["goodput_bps"]
        row |= {name: None for name in row if name.startswith("window_")}
    said = {one.kind: one for one in findings(rows)}
    assert said["decline"].decision == "effect"
    assert "goodput declines with many flows: −" in said["decline"].claim
    assert "at 16 flows against" in said["decline"].claim
    assert "from there on" not in said["plateau"].claim


def test_what_trials_scatter_by_without_those_that_stand_out() -> None:
    """One of thirty at a third of the others: they "scatter by 22.3 %", of which 29 know nothing."""
    rows = hourly({"b": np.zeros(30)})
    rows[17]["goodput_bps"] *= 0.3
    [said] = [one.claim for one in findings(rows) if one.kind == "variation"]
    without = re.search(r"\(coefficient of variation\), (\S+) % without the one that stands out\.", said)
    assert without is not None
    assert 2 < float(without[1]) < 4
    # Named as standing out, it is not counted once more.
    assert "stalls" not in [one.kind for one in findings(rows)]


def test_trials_at_two_hours_of_the_day_do_not_tell_a_cycle() -> None:
    rows = hourly({"b": np.zeros(240)})
    twice_a_day = [row for row in rows if (row["repeat"] - 1) % 12 == 0]
    [cycle] = [one for one in findings(twice_a_day) if one.kind == "cycle"]
    assert cycle.decision == "undecided"
    assert cycle.claim.endswith("trials began in 2 of the 24 hours of a day, and 12 or more would tell.")
