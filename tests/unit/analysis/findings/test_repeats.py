"""What repeats tell of a campaign: variation, outliers, correlation with the hosts, drift, periods."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as formulas
from scipy import stats
from statsmodels.stats.outliers_influence import OLSInfluence

from analysis_support import STARTED_AT
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.findings.variation import variation_hypotheses
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.statistics.repeat_noise import repeat_noise
from synthetic_campaigns import Grid, Row, campaign

SMALL = Grid(flows=(1, 2), noise=0.01)
HOURLY = Grid(
    flows=(1,), window_sums=(1 << 18, 1 << 19, 1 << 20), directions=(("a", "b"),), repeats=168, noise=0.02
)
STEP_S = 100.0
"""A trial every 100 s: three points take five minutes, all repeats 14 hours (seed 003)."""


def found(rows: list[Row], kind: str) -> list[Finding]:
    return [finding for finding in findings(rows) if finding.kind == kind]


def one(rows: list[Row], kind: str) -> Finding:
    [finding] = found(rows, kind)
    return finding


def fitted(rows: list[Row], response: str = "log") -> Any:
    """The same linear model by statsmodels, points with directions and repeats as factors."""
    columns = {
        "log": [math.log(row["goodput_bps"]) for row in rows],
        "order": [row["order_index"] for row in rows],
        "cpu": [row["cpu_recv"] for row in rows],
        "point": [f"{row['src']} {row['flows']} {row['window_sum_bytes']}" for row in rows],
        "block": [str(row["repeat"]) for row in rows],
    }
    return formulas.ols(f"{response} ~ C(point) + C(block)", pd.DataFrame(columns)).fit()


def test_variation_by_hand() -> None:
    """Two points in two repeats: what is left is ± c/4, c = a₁ − a₂ − b₁ + b₂; here s² = c²/4 = 0.01."""
    grid = Grid(flows=(1, 2), window_sums=(1 << 20,), directions=(("a", "b"),), repeats=2)
    rows = campaign(grid, 1)
    for row in rows:
        row["goodput_bps"] = 1e8 * math.exp(0.2 * (row["flows"] == 2 and row["repeat"] == 2))
        row |= {"goodput_p10_bps": 0.9 * row["goodput_bps"], "goodput_p90_bps": 1.1 * row["goodput_bps"]}
    variation = one(rows, "variation")
    assert variation.decision == "described"
    assert variation.effect == pytest.approx(100 * math.sqrt(math.exp(0.01) - 1))
    assert (variation.interval_low, variation.interval_high) == (None, None)
    assert "with too few repeats for an interval" in variation.claim
    assert "the intervals of the median trial by 7.80 %" in variation.claim  # 0.2 / 2.563


def test_levels_that_scatter_unlike_each_other_are_named() -> None:
    """Twenty repeats at three windows, 0.1 % below the largest and 2 % there; then 1 % everywhere."""
    grid = Grid(flows=(1,), window_sums=(1 << 18, 1 << 19, 1 << 20), directions=(("a", "b"),), repeats=20)
    rows = campaign(replace(grid, noise=0.0, block=0.0), 1)
    generator = np.random.default_rng(1)
    for row in rows:
        spread = 0.02 if row["window_sum_bytes"] == 1 << 20 else 0.001
        row["goodput_bps"] *= math.exp(generator.normal(0, spread))
    scatter = re.search(
        r"; about the means of their points by (\S+) % at (?:256|512) KiB, by (\S+) % at 1 MiB, window sum",
        one(rows, "variation").claim,
    )
    assert scatter is not None
    assert float(scatter[1]) == pytest.approx(0.1, rel=0.4)
    assert float(scatter[2]) == pytest.approx(2, rel=0.4)
    size = dict.fromkeys(
        ("window_sum_bytes", "window_bytes", "window_send_bytes", "window_recv_bytes"), 1 << 18
    )
    unlike = [row for row in rows if row["window_sum_bytes"] != 1 << 19]
    ways = [row | size | {"dst": "b" if row["window_sum_bytes"] == 1 << 20 else "c"} for row in unlike]
    claim = one(ways, "variation").claim
    assert re.search(r" by \S+ % at a → c, by \S+ % at a → b\.$", claim), "a path says what it is"
    alike = [one(campaign(replace(grid, noise=0.01), seed), "variation").claim for seed in range(40)]
    assert not any("about the means" in claim for claim in alike)


@pytest.mark.parametrize(("repeats", "goodput_bps"), [(2, 90.1e6), (3, 90.1e6), (2, 1.0)])
def test_a_level_whose_repeats_are_equal_scatters_by_nothing(repeats: int, goodput_bps: float) -> None:
    """It was "by 0.0000000000000659 % at 1 MiB", or "by inf %" where nothing at all is left: log 1 is 0."""
    grid = Grid(flows=(1, 2, 4, 8, 16, 32), window_sums=(1 << 19, 1 << 20), repeats=repeats, block=0.0)
    rows = campaign(grid, 1)
    for row in rows:
        if row["window_sum_bytes"] == 1 << 20:
            row["goodput_bps"] = goodput_bps
    [claim] = [one.claim for one in findings(rows) if one.kind == "variation"]
    assert "; about the means of their points by 0 % at 1 MiB, by " in claim
    assert "inf" not in claim


def test_levels_that_scatter_alike_are_not_called_unlike_where_points_ran_twice() -> None:
    """Residuals of two repeats are of one size: counted twice they made that 25 times as frequent as said."""
    grid = Grid(flows=(1, 2), window_sums=(1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22), repeats=2)
    told = 0
    for seed in range(150):
        [observed] = observations(campaign(grid, seed))
        spans = design(observed)
        [variation] = variation_hypotheses(observed, spans, repeat_noise(spans))
        told += "about the means" in variation.say("described")
    assert told <= 1


def test_two_repeats_that_differ_by_much_have_a_variation_without_an_upper_end() -> None:
    """Of one degree of freedom the upper end is a thousand times the variance: its exponential overflowed."""
    rows = campaign(
        Grid(flows=(1,), window_sums=(1 << 20,), directions=(("a", "b"), ("b", "a")), repeats=2), 1
    )
    for row in rows:
        row["goodput_bps"] = 1e8 * (10 if row["src"] == "a" and row["repeat"] == 2 else 1)
    variation = one(rows, "variation")
    assert variation.effect == pytest.approx(100 * math.sqrt(math.expm1(math.log(10) ** 2 / 4)))
    assert (variation.interval_low, variation.interval_high) == (None, None)
    assert " %, with too few repeats for an interval (" in variation.claim


def test_a_trial_that_stands_out_is_named_with_what_was_special() -> None:
    rows = campaign(SMALL, 1)
    generator = np.random.default_rng(1)
    for row in rows:
        row["cpu_recv"] = 0.4 + 0.01 * generator.standard_normal()
    rows[17]["goodput_bps"] *= 0.7
    rows[17]["cpu_recv"] = 0.99
    outliers = one(rows, "outliers")
    left = OLSInfluence(fitted(rows))
    assert outliers.decision == "described"
    assert outliers.evidence == (rows[17]["trial_id"],)
    assert outliers.effect == pytest.approx(100 * math.expm1(left.resid_press[17]))
    assert outliers.effect == pytest.approx(-30, abs=3)
    assert f"1 trial stands out from the repeats: {rows[17]['trial_id']} (" in outliers.claim
    assert " than expected; CPU load of the busiest receiving thread 99" in outliers.claim
    assert re.search(r"% less goodput in its median interval \(mean 8\d\.\d Mbit/s\) than", outliers.claim)


def test_of_two_repeats_either_may_be_the_unusual_one() -> None:
    rows = campaign(replace(SMALL, repeats=2), 1)
    rows[5]["goodput_bps"] *= 0.7
    outliers = one(rows, "outliers")
    point = ("src", "flows", "window_sum_bytes")
    pair = [row["trial_id"] for row in rows if all(row[name] == rows[5][name] for name in point)]
    assert sorted(outliers.evidence) == sorted(pair)
    assert outliers.claim.startswith("1 trial stands out from the repeats: ")
    assert all(outliers.claim.count(trial_id) == 1 for trial_id in pair)
    assert "less goodput than " in outliers.claim or "more goodput than " in outliers.claim
    assert outliers.claim.endswith("; which of them is unusual is not known.")


def test_no_trial_stands_out() -> None:
    outliers = one(campaign(SMALL, 1), "outliers")
    assert outliers.claim.startswith(
        "No trial stands out from its repeats: none differs by more than 3 %. The trial that deviates most "
        "is "
    )
    noisy = one(campaign(replace(SMALL, noise=0.2), 1), "outliers")
    assert (
        " that scatter as these do, one as far off as the farthest may be chance. The trial that "
        "deviates most is " in noisy.claim
    )


def loaded(effect: Callable[[float], float], seed: int = 1, grid: Grid = SMALL) -> list[Row]:
    rows = campaign(grid, seed)
    generator = np.random.default_rng(seed)
    for row in rows:
        row["cpu_recv"] = 0.5 + 0.1 * generator.standard_normal()
        row["goodput_bps"] *= math.exp(effect(row["cpu_recv"]))
    return rows


def test_goodput_that_goes_with_the_receiver_s_cpu() -> None:
    rows = loaded(lambda load: -0.2 * load)
    correlation = one(rows, "correlation")
    by_hand = stats.pearsonr(fitted(rows).resid, fitted(rows, "cpu").resid)
    assert correlation.decision == "effect"
    assert (correlation.axis, correlation.effect_unit) == ("cpu_recv", "1")
    assert correlation.effect == pytest.approx(by_hand.statistic)
    assert -1 < correlation.interval_low < correlation.effect < correlation.interval_high < -0.5
    assert "more CPU load of the busiest receiving thread have less goodput: r = −0." in correlation.claim


def test_a_cpu_that_has_nothing_to_do_with_it() -> None:
    assert one(loaded(lambda load: 0.0), "correlation").decision == "undecided"
    assert found(campaign(SMALL, 1), "correlation") == []


def test_what_one_point_alone_shows_is_not_of_the_campaign() -> None:
    rows = loaded(lambda load: 0.0)
    point = {name: rows[0][name] for name in ("window_sum_bytes", "flows", "src")}
    alone = [row for row in rows if all(row[name] == value for name, value in point.items())]
    for sign, row in zip((-1, 1) * len(alone), alone, strict=False):
        row["cpu_recv"] = 0.5 + 2.0 * sign
        row["goodput_bps"] *= math.exp(-0.3 * sign)
    correlation = one(rows, "correlation")
    assert correlation.p_adjusted is not None
    assert correlation.p_adjusted < 0.05
    assert correlation.decision == "undecided"
    ranked = "; Spearman's rank correlation, the largest p with any one point left out: p = "
    assert ranked in correlation.method


@pytest.mark.parametrize("flows", [(1,), (1, 2)])
def test_one_or_two_points_are_enough_for_a_correlation(flows: tuple[int, ...]) -> None:
    few = Grid(flows=flows, window_sums=(1 << 20,), directions=(("a", "b"),), repeats=30)
    correlation = one(loaded(lambda load: -2.0 * load, grid=few), "correlation")
    assert correlation.decision == "effect"


def test_a_correlation_that_could_not_be_tested_says_why() -> None:
    rows = loaded(lambda load: -0.2 * load)
    for row in rows:
        row["started_at"] = None
    correlation = one(rows, "correlation")
    assert (correlation.decision, correlation.p_value) == ("undecided", None)
    assert correlation.claim.endswith(
        "; it was not tested, since it is not known when the trials ran, or they are too few."
    )


@pytest.mark.parametrize("repeats", [3, 12])
def test_drift(repeats: int) -> None:
    rows = campaign(replace(SMALL, repeats=repeats, block=0.0), 1)
    last = rows[-1]["order_index"]
    for row in rows:
        row["goodput_bps"] *= math.exp(-0.1 * row["order_index"] / last)
    drift = one(rows, "drift")
    assert drift.decision == "effect"
    assert drift.interval_low < 100 * math.expm1(-0.1) < drift.interval_high
    assert drift.claim.startswith("Goodput drifted: it changed by −")


def test_a_drift_of_which_nothing_is_known_is_undecided_without_numbers() -> None:
    rows = campaign(replace(SMALL, noise=3.0), 3)
    drift = one(rows, "drift")
    assert drift.decision == "undecided"
    assert (drift.effect, drift.effect_unit, drift.interval_low, drift.interval_high) == (None,) * 4
    assert drift.claim.endswith("neither a halving nor a doubling can be excluded.")


def test_drift_is_the_slope_by_generalised_least_squares() -> None:
    """Of independent noise it is the slope beside the points' means; by statsmodels."""
    grid = replace(SMALL, directions=(("a", "b"),), block=0.0, repeats=6)
    rows = campaign(grid, 1)
    for row in rows:
        row["goodput_bps"] *= math.exp(0.2 * row["order_index"] / rows[-1]["order_index"])
    columns = pd.DataFrame(
        {
            "log": [math.log(row["goodput_bps"]) for row in rows],
            "order": [row["order_index"] / rows[-1]["order_index"] for row in rows],
            "point": [f"{row['flows']} {row['window_sum_bytes']}" for row in rows],
        }
    )
    expected = formulas.ols("log ~ C(point) + order", columns).fit().params["order"]
    drift = one(rows, "drift")
    assert drift.decision == "effect"
    assert drift.effect == pytest.approx(100 * math.expm1(expected), rel=0.02)


@pytest.mark.long
def test_blocks_that_differ_are_no_drift() -> None:
    claimed = 0
    for seed in range(60):
        for repeats in (3, 9):
            grid = replace(SMALL, repeats=repeats, block=0.2)
            claimed += one(campaign(grid, seed), "drift").p_value < 0.05
    assert claimed <= 14  # of 120 with 5 % each: P(more) < 0.002


def test_the_order_of_the_points_is_no_drift() -> None:
    """With the same order in each repeat time is told from the points between repeats only."""
    rows = campaign(SMALL, 1)
    in_order = sorted(
        rows, key=lambda row: (row["repeat"], row["flows"], row["window_sum_bytes"], row["src"])
    )
    for order, row in enumerate(in_order):
        row |= {"order_index": order, "started_at": (STARTED_AT + timedelta(seconds=12 * order)).isoformat()}
    assert one(in_order, "drift").decision == "undecided"


def overnight(swing: float, period_s: float = 3600.0, seed: int = 1) -> list[Row]:
    rows = campaign(HOURLY, seed)
    for row in rows:
        at_s = STEP_S * row["order_index"]
        row["started_at"] = (STARTED_AT + timedelta(seconds=at_s)).isoformat()
        row["goodput_bps"] *= math.exp(swing * math.sin(2 * math.pi * at_s / period_s))
    return rows


def test_an_hourly_disturbance() -> None:
    periodicity = one(overnight(0.08), "periodicity")
    assert periodicity.decision == "effect"
    assert periodicity.effect == pytest.approx(8, abs=2)
    assert "with a period of 1 h" in periodicity.claim or "with a period of 59 min" in periodicity.claim


def test_no_disturbance() -> None:
    assert one(overnight(0.0), "periodicity").decision == "undecided"


def test_a_short_campaign_has_no_periods() -> None:
    assert found(campaign(SMALL, 1), "periodicity") == []
