"""Numbers of flows at equal window sum, where `window_max` lowers some sums, or a plan has a single one."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.means import flow_levels
from flowsweep.analysis.statistics.observations import observations
from flowsweep.plan import load_plan
from flowsweep.schedule import Point, expand
from plan_support import ROOT, plan_of
from synthetic_campaigns import BASE_BPS, EMPTY, KIB, Grid, Row, campaign

SUMS = 'flows = [1, 2, 4, 8]\nwindow_sum = ["64MiB", "128MiB", "256MiB", "512MiB"]\nwindow_max = "64MiB"'
"""As many sums as windows per flow, and as many of both as numbers of flows."""


def measured(points: tuple[Point, ...], effect: Callable[[Row], float] = lambda _: 0.0) -> list[Row]:
    """Rows as a summary of three repeats has them; noise of 0.3 %."""
    generator = np.random.default_rng(1)
    rows: list[Row] = []
    for repeat in (1, 2, 3):
        for trial in (trial for point in points for trial in point.trials(repeat)):
            window = trial.parameters.window_bytes
            row = EMPTY | {
                "trial_id": trial.trial_id, "sweep": trial.sweep, "repeat": repeat, "src": trial.src,
                "dst": trial.dst, "test": "tcp", "mode": "copy", "status": "ok", "order_index": len(rows),
                "flows": trial.total_flows, "flows_per_pair": trial.total_flows, "sources": 1, "sinks": 1,
                "window_bytes": window, "window_send_bytes": window, "window_recv_bytes": window,
                "window_sum_bytes": trial.window_sum_bytes, "window_capped": trial.window_capped,
                "length_bytes": trial.parameters.length_bytes, "congestion_asked": "cubic",
                "congestion": "cubic", "duration_s": 10.0, "omit_s": 0.0, "simultaneous": False,
            }  # fmt: skip
            row["goodput_bps"] = BASE_BPS * math.exp(effect(row) + 0.003 * generator.standard_normal())
            row["goodput_mean_bps"] = row["goodput_bps"]
            rows.append(row)
    return rows


def of_flows(found: tuple[Finding, ...]) -> str:
    [one] = [one for one in found if one.kind == "flows"]
    return one.claim


def test_a_plan_with_a_cap_asks_of_flows_at_equal_window_sum() -> None:
    plan = load_plan(ROOT / "plans" / "seed-000-itanium.toml")
    few = [point for point in expand(plan) if point.parameters.length_bytes in (2000, 16000)]
    rows = measured(tuple(few))
    [observed] = observations(rows)
    assert design(observed).axes == ("window_sum_bytes", "flows", "length_bytes")
    found = findings(rows)
    assert of_flows(found).startswith("At equal window sum the number of flows 1 … 16 changes goodput by ")
    assert not [one for one in found if one.axis == "window_bytes"]


def test_as_many_window_sums_as_windows_per_flow() -> None:
    rows = measured(expand(plan_of(SUMS)))
    [observed] = observations(rows)
    assert design(observed).axes == ("window_sum_bytes", "flows")
    assert of_flows(findings(rows)).startswith("At equal window sum the number of flows 1 … 8 ")


def test_a_sum_that_a_cap_gives_to_one_number_of_flows_says_nothing_of_flows() -> None:
    """One flow has 208 KiB and others more: what that does is no effect of the number of flows."""
    plan = plan_of('flows = [1, 2, 4]\nwindow_sum = ["256KiB", "512KiB"]\nwindow_max = "208KiB"')
    rows = measured(expand(plan), lambda row: math.log(row["window_sum_bytes"] / (512 * KIB)))
    [observed] = observations(rows)
    [means] = flow_levels(design(observed))
    assert means.levels == (2, 4)
    assert means.means[1] - means.means[0] == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("flows", [(1, 2, 4, 8), (2, 6, 10)])
def test_flows_with_a_single_window_sum(flows: tuple[int, ...]) -> None:
    """1 MiB does not divide by 6 or 10: there the sum is a few bytes short, and still the same."""
    grid = replace(
        Grid(), flows=flows, window_sums=(1 << 20,), noise=0.003, directions=(("a", "b"),), repeats=5
    )
    rows = campaign(replace(grid, effect=lambda row: 0.2 * (row["flows"] > 4)), 1)
    found = findings(rows)
    assert of_flows(found).startswith("At equal window sum the number of flows matters: from ")
    assert {one.axis for one in found if one.kind in ("plateau", "effect")} == {"flows"}
    [plateau] = [one for one in found if one.kind == "plateau"]
    assert plateau.claim.startswith("a → b, window sum 1 MiB: ")
