"""Two settings of one campaign: matched trials, a hand computation, drift, failures, how often it errs."""

import math
from typing import Any

import numpy as np
import pytest
import scipy

from against_support import HOUR_S, Truth, against, on_two_days, rows_of, side_by_side
from compared_campaigns import outcomes
from flowsweep.analysis.comparing.comparison import Comparison, compare_settings
from flowsweep.analysis.comparing.estimates import of_pairs
from flowsweep.analysis.comparing.settings import both_settings, settings_compared
from flowsweep.analysis.comparing.shifts import point_shifts
from flowsweep.plan import Plan
from flowsweep.schedule.grid import expand
from plan_support import plan_of

pytestmark = pytest.mark.whole

Row = dict[str, Any]
WINDOWS = 'window = ["64KiB", "128KiB", "256KiB", "512KiB", "1MiB"]'
REPEATS = "repeats = 5"
COUNT = 200
TEN_PERCENT = math.log(1.1)


def same_setting(campaign: str = REPEATS, both: str = WINDOWS) -> Plan:
    return against("flows = 1", "flows = 1", campaign, both=both)


def drawn(plan: Plan, truth: Truth, seed: int = 1) -> list[Row]:
    return rows_of(plan, truth, np.random.default_rng(seed))


def compared(rows: list[Row], plan: Plan) -> Comparison:
    return compare_settings(*both_settings(rows, plan))


def test_a_single_point_is_the_paired_t_test_of_scipy() -> None:
    plan = same_setting(both='window = "1MiB"')
    rows = drawn(plan, Truth(shift=0.02))
    logs = {row["trial_id"]: math.log(row["goodput_bps"]) for row in rows}
    a, b = ([row for row in rows if row["sweep"] == f"grid-{setting}"] for setting in "AB")
    by_repeat = [
        [logs[row["trial_id"]] for row in sorted(side, key=lambda row: row["repeat"])] for side in (a, b)
    ]
    expected = scipy.stats.ttest_rel(by_repeat[1], by_repeat[0])
    low, high = expected.confidence_interval(0.95)
    found = compared(rows, plan).overall
    assert found is not None
    assert [found.interval_low_percent, found.interval_high_percent, found.p_value] == pytest.approx(
        [100 * math.expm1(low), 100 * math.expm1(high), expected.pvalue], rel=1e-9
    )
    assert (found.repeats_a, found.repeats_b) == (5, 5)


def test_a_pair_of_which_one_ran_over_a_late_path_takes_no_part() -> None:
    plan = same_setting()
    rows = drawn(plan, Truth())
    late = next(row for row in rows if row["sweep"] == "grid-B" and row["repeat"] == 3)
    late |= {"path_emulation": "late", "goodput_bps": late["goodput_bps"] / 100}
    without = compared([row for row in rows if row is not late], plan)
    found = compared(rows, plan)
    assert (found.overall, found.points) == (without.overall, without.points)
    assert found.remarks[0] == (
        "0 of 25 trials of A and 1 of 25 of B are left out: this machine could not keep up with their "
        "emulated path."
    )


def test_overall_is_the_paired_t_test_of_the_means_of_the_repeats() -> None:
    plan = same_setting()
    rows = drawn(plan, Truth())
    above: dict[int, float] = dict.fromkeys(range(1, 6), 0.0)
    for row in rows:
        above[row["repeat"]] += math.log(row["goodput_bps"]) / 5 * (1 if row["sweep"].endswith("B") else -1)
    found = compared(rows, plan).overall
    assert found is not None
    assert found.p_value == pytest.approx(scipy.stats.ttest_1samp(list(above.values()), 0).pvalue, rel=1e-9)


def test_a_point_that_varies_much_more_hides_no_shift_of_another() -> None:
    """It was 30 % [−47, 217], though all five pairs favour B."""
    plan = same_setting(both='window = ["64KiB", "1MiB"]')
    shifts = {1 << 16: (1.08, 1.34, 1.73, 1.97, 2.16), 1 << 20: (0.26, 0.31, 0.35, 0.27, 0.12)}
    rows = drawn(plan, Truth())
    for row in rows:
        of_point = shifts[row["window_bytes"]]
        row["goodput_bps"] = 4e7 * math.exp(of_point[row["repeat"] - 1] * row["sweep"].endswith("B"))
    noisy, quiet = (point.shift for point in compared(rows, plan).points)
    assert (noisy.outcome, quiet.outcome) == ("faster", "faster")
    assert quiet.percent == pytest.approx(100 * math.expm1(0.262), abs=0.1)
    # Of 1 % three quarters, for two points.
    error = np.std(shifts[1 << 20], ddof=1) / math.sqrt(5)
    half = error * scipy.stats.t.isf(0.15 * 0.05 / 2 / 2, 4)
    assert quiet.interval_low_percent == pytest.approx(100 * math.expm1(0.262 - half), abs=0.1)


def test_points_that_vary_unlike_each_other_err_no_more_often() -> None:
    found = 0
    for seed in range(COUNT):
        rng = np.random.default_rng(seed)
        pairs = {
            (("point", place),): [
                ({"repeat": repeat, "goodput_bps": 1e8}, {"repeat": repeat, "goodput_bps": bps})
                for repeat, bps in enumerate(1e8 * np.exp(noise * rng.standard_normal(5)))
            ]
            for place, noise in enumerate((0.03, 0.03, 0.3))
        }
        sides = ({point: [both[side] for both in own] for point, own in pairs.items()} for side in (0, 1))
        estimates = of_pairs(*sides, list(pairs))
        shifts = point_shifts(
            estimates.overall, estimates.deviations, [(0.0, 5, 5)] * len(pairs), estimates.alone
        )
        ends = [(shift.interval_low_percent or 0, shift.interval_high_percent or 0) for shift in shifts]
        found += any(low * high > 0 for low, high in ends)
    assert found <= 0.08 * COUNT


def test_trials_are_matched_by_point_though_the_settings_differ() -> None:
    plan = against("flows = 1", "flows = 4", both=WINDOWS)
    comparison = compared(drawn(plan, Truth()), plan)
    assert len(comparison.points) == 5
    assert (comparison.only_in_a, comparison.only_in_b) == ((), ())
    assert {point.point["sweep"] for point in comparison.points} == {"grid"}
    assert not any("flows" in point.point for point in comparison.points)
    assert sorted(point.point["window_bytes"] for point in comparison.points) == [
        1024 * size for size in (64, 128, 256, 512, 1024)
    ]


def test_both_directions_are_points_of_their_own() -> None:
    plan = against("flows = 1", "flows = 4", both='directions = "both"')
    comparison = compared(drawn(plan, Truth()), plan)
    assert {(point.point["src"], point.point["dst"]) for point in comparison.points} == {
        ("left", "right"),
        ("right", "left"),
    }


def test_what_drifts_cancels_within_pairs() -> None:
    """Goodput falls to an eighth in the course of the campaign, and B is 10 % faster throughout."""
    plan = same_setting()
    rows = drawn(plan, Truth(shift=TEN_PERCENT, noise=0.001, daily=0.0))
    for row in rows:
        row["goodput_bps"] *= math.exp(-2 * row["order_index"] / len(rows))
    overall = compared(rows, plan).overall
    assert overall is not None
    assert overall.outcome == "faster"
    assert overall.percent == pytest.approx(10, abs=4)


@pytest.mark.long
def test_equal_settings_are_seldom_called_different_where_days_are_not_alike() -> None:
    """A cycle of 24 h, 135 to 74 %: campaigns begun at two hours differ, settings side by side do not."""
    rng = np.random.default_rng(5)
    beside = sum(
        bool(outcomes(side_by_side(same_setting(), Truth(), rng)) & {"faster", "slower"})
        for _ in range(COUNT)
    )
    alone = plan_of(f"{WINDOWS}\nflows = 1", REPEATS)
    apart = sum(
        bool(outcomes(on_two_days(alone, Truth(), rng)) & {"faster", "slower"}) for _ in range(COUNT // 4)
    )
    assert beside <= 0.05 * COUNT
    assert apart >= 0.5 * COUNT / 4


def test_ten_percent_are_found_where_days_are_not_alike() -> None:
    rng = np.random.default_rng(6)
    truth = Truth(shift=TEN_PERCENT)
    found = [side_by_side(same_setting(), truth, rng).overall for _ in range(COUNT // 4)]
    assert sum(shift is not None and shift.outcome == "faster" for shift in found) >= 0.95 * COUNT / 4


def test_a_trial_whose_partner_failed_takes_no_part() -> None:
    """The trials left are of other hours, so that without their partners the drift would be taken for B."""
    plan = same_setting("repeats = 8")
    rows = drawn(plan, Truth(noise=0.001, daily=0.0))
    failed = next(row for row in rows if row["sweep"] == "grid-B" and row["repeat"] == 8)
    for row in rows:
        row["goodput_bps"] *= math.exp(-row["repeat"])
    failed |= {"status": "failed", "goodput_bps": None}
    comparison = compared(rows, plan)
    assert comparison.overall is not None
    assert comparison.overall.outcome == "same"
    assert comparison.not_ok_b == 1
    point = next(
        point for point in comparison.points if point.point["window_bytes"] == failed["window_bytes"]
    )
    assert (point.goodput_b_bps / point.goodput_a_bps) == pytest.approx(1, abs=0.005)


def test_slow_trials_that_failed_do_not_make_b_faster() -> None:
    """B fails whenever it would be slow: what is left of it is no random choice."""
    plan = same_setting("repeats = 10", 'window = "1MiB"')
    told = []
    for seed in range(40):
        rows = drawn(plan, Truth(noise=0.1), seed)
        logs = np.array([math.log(row["goodput_bps"]) for row in rows])
        for row, log in zip(rows, logs, strict=True):
            if row["sweep"] == "grid-B" and log < np.median(logs):
                row |= {"status": "failed", "goodput_bps": None}
        told.append(compared(rows, plan).overall)
    assert sum(shift is not None and shift.outcome == "faster" for shift in told) <= 2


def test_a_single_repeat_decides_nothing() -> None:
    plan = same_setting("repeats = 1")
    assert outcomes(compared(drawn(plan, Truth(shift=1.0)), plan)) == {"undecided"}


def test_a_campaign_that_was_stopped_compares_what_it_has() -> None:
    plan = same_setting()
    rows = drawn(plan, Truth(shift=TEN_PERCENT, noise=0.01))
    comparison = compared([row for row in rows if row["repeat"] <= 3], plan)
    assert comparison.overall is not None
    assert comparison.overall.outcome == "faster"
    assert comparison.overall.repeats_a == 3
    assert compared([row for row in rows if row["sweep"] == "grid-A"], plan).overall is None


def at_times(rows: list[Row], plan: Plan) -> Comparison:
    found = settings_compared(plan.model_dump(mode="json"), rows)
    assert found is not None
    return found.comparison


def hours_of_a_day(effect: float, rng: np.random.Generator, days: int = 1) -> tuple[list[Row], Plan]:
    """A campaign over days, hour by hour; by how much B is faster follows the hour, and is 0 in the mean."""
    plan = against("flows = 1", "flows = 1", 'every = "1h"', both='window = "1MiB"')
    rows = []
    for point in expand(plan):
        for hour in range(1, 24 * days + 1):
            (trial,) = point.trials(hour)
            cycle = effect * math.sin(2 * math.pi * hour / 24) * (point.sweep == "grid-B")
            row = rows_of(same_setting("repeats = 1", 'window = "1MiB"'), Truth(), rng)[0]
            of_trial = {"trial_id": trial.trial_id, "sweep": point.sweep, "repeat": hour}
            rows.append(row | of_trial | {"goodput_bps": 1e8 * math.exp(cycle + rng.normal(0, 0.02))})
    return rows, plan


def test_times_are_paired_by_their_number_and_those_without_a_partner_are_said() -> None:
    rows, plan = hours_of_a_day(0.0, np.random.default_rng(1))
    for row in rows:
        row["goodput_bps"] *= math.exp(0.5 * math.sin(row["repeat"])) * (
            1.1 if row["sweep"] == "grid-B" else 1
        )
    kept = [row for row in rows if (row["sweep"], row["repeat"]) not in {("grid-B", 3), ("grid-A", 7)}]
    found = at_times(kept, plan)
    assert found.overall is not None
    assert found.overall.outcome == "faster"
    assert found.overall.percent == pytest.approx(10, abs=2)
    assert (found.overall.repeats_a, found.overall.repeats_b) == (22, 22)
    assert "No partner ran for 1 trial of A and 1 trial of B: they take no part." in found.remarks
    assert not any("No partner" in remark for remark in at_times(rows, plan).remarks)


def test_what_depends_on_the_hour_makes_the_mean_of_a_few_hours_less_sure() -> None:
    """Fourteen hours of a day, in which B is faster by turns and slower: not of every day, so not decided."""
    rows, plan = hours_of_a_day(0.1, np.random.default_rng(2))
    part = [row for row in rows if row["repeat"] <= 14]
    found = at_times(part, plan)
    assert found.overall is not None
    assert found.overall.outcome == "undecided"
    assert any("resemble each other" in remark for remark in found.remarks)
    by_turns = compared(part, plan).overall
    assert by_turns is not None
    assert by_turns.outcome == "faster"


def test_equal_settings_over_a_day_are_rarely_called_different() -> None:
    """Half an hour lies between the trials of a pair, while goodput follows the hour and days resemble it."""
    rng = np.random.default_rng(8)
    plan = same_setting("repeats = 24", 'window = "1MiB"')
    truth = Truth(trial_s=HOUR_S / 2, correlation=0.7)
    wrong = 0
    for _ in range(COUNT):
        sides = both_settings(rows_of(plan, truth, rng), plan)
        wrong += bool(outcomes(compare_settings(*sides, spread_out=True)) & {"faster", "slower"})
    assert wrong <= 0.05 * COUNT
