"""Days unlike the others: named where all points show it, and not where no day is the exception."""

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from analysis_support import STARTED_AT
from flowsweep.analysis.findings.days import day_hypotheses
from flowsweep.analysis.findings.failures import failure_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.observations import observations
from flowsweep.report.opening import opening
from synthetic_campaigns import KIB, Grid, Row, campaign

ONE_WAY = (("a", "b"),)
THREE_WINDOWS = Grid(
    flows=(1,), window_sums=(256 * KIB, 1024 * KIB, 4096 * KIB), directions=ONE_WAY, repeats=9, noise=0.015,
    block=0.0,
)  # fmt: skip
SEEDS = 30


def over_days(grid: Grid, seed: int, factor: Callable[[int, Row], float], days: int = 3) -> list[Row]:
    """A campaign whose repeats are spread over days; `factor` is what a day (from 0) makes of goodput."""
    rows = campaign(grid, seed)
    for row in rows:
        day = (row["repeat"] - 1) * days // grid.repeats
        row["started_at"] = (STARTED_AT + timedelta(days=day, minutes=row["order_index"])).isoformat()
        row["goodput_bps"] *= factor(day, row)
        row["goodput_mean_bps"] = row["goodput_bps"]
    return rows


def told(rows: list[Row]) -> list[Finding]:
    [observed] = observations(rows)
    return decided(day_hypotheses(observed))


def bad_second_day(day: int, _: Row) -> float:
    return 0.5 if day == 1 else 1.0


def test_a_day_on_which_all_was_slow_is_named() -> None:
    """Eight of its nine trials were just above the half: one of 27 was called slow, and no day."""
    rows = over_days(THREE_WINDOWS, 1, bad_second_day)
    found = findings(rows)
    [day] = [one for one in found if one.kind == "days"]
    assert (day.decision, day.p_value, day.interval_low, day.n) == ("described", None, None, 27)
    assert day.effect == pytest.approx(-50, abs=1.5)
    assert set(day.evidence) == {row["trial_id"] for row in rows if row["repeat"] in (4, 5, 6)}
    assert day.claim.startswith("On 2026-03-02 all 9 trials carried about ")
    assert " % less than on the 2 other days (" in day.claim
    assert day.claim.endswith(" % by point); averages over all days mix both.")
    assert not [one for one in found if one.kind == "stalls"]
    [scatter] = [one for one in found if one.kind == "variation"]
    assert "; repeats as a whole, by 3" in scatter.claim
    opened = opening(rows, found)
    assert opened is not None
    assert day.claim in dict(opened.lines)["Trust"]


def test_slow_trials_are_those_slow_for_their_day() -> None:
    """On a day of less than half of the usual, each of its trials was one that nobody knew why."""
    rows = over_days(THREE_WINDOWS, 1, lambda day, _: 0.45 if day == 1 else 1.0)
    assert not list(failure_hypotheses(rows))
    slow = next(row for row in rows if row["repeat"] == 5)
    slow["goodput_bps"] *= 0.4
    [stalls] = failure_hypotheses(rows)
    assert stalls.evidence == (slow["trial_id"],)


def test_of_two_days_the_slower_one_is_named() -> None:
    [day] = told(over_days(THREE_WINDOWS, 1, bad_second_day, days=2))
    assert " % less than on 2026-03-01 (" in day.claim


def test_points_that_ran_on_one_day_only_are_not_compared() -> None:
    rows = over_days(THREE_WINDOWS, 1, bad_second_day, days=2)
    early = [row for row in rows if row["started_at"] < "2026-03-02" or row["window_sum_bytes"] > 256 * KIB]
    [day] = told([row for row in early if row["window_sum_bytes"] < 4096 * KIB or row["repeat"] > 5])
    assert "On 2026-03-02 all 4 trials of the point that ran on other days, too, carried about " in day.claim
    assert day.n == 9


def test_a_fast_day_and_two_days_of_five_are_named() -> None:
    [day] = told(over_days(THREE_WINDOWS, 1, lambda day, _: 1.2 if day == 2 else 1.0))
    assert "On 2026-03-03 all 9 trials carried about 2" in day.claim
    assert " % more than on the 2 other days" in day.claim
    grid = replace(THREE_WINDOWS, repeats=10)
    [days] = told(over_days(grid, 1, lambda day, _: 0.8 if day in (1, 3) else 1.0, days=5))
    assert days.claim.startswith("On 2026-03-02 and 2026-03-04 all 12 trials carried about ")


def test_a_direction_whose_days_differ_is_named_alone() -> None:
    grid = replace(THREE_WINDOWS, directions=(("a", "b"), ("b", "a")))
    [day] = told(over_days(grid, 1, lambda day, row: 0.7 if day == 1 and row["src"] == "b" else 1.0))
    assert day.direction == "b → a"
    assert day.claim.startswith("b → a: on 2026-03-02 all 9 trials carried about ")


def at_the_largest_window(day: int, row: Row) -> float:
    return 0.5 if day == 1 and row["window_sum_bytes"] == 4096 * KIB else 1.0


def one_repeat_each_way(day: int, _: Row) -> float:
    """Every day is another: none is the exception."""
    return math.exp(0.1 * day)


@pytest.mark.parametrize(
    "factor",
    [lambda *_: 1.0, at_the_largest_window, one_repeat_each_way, lambda day, _: 0.98 if day else 1.0],
)
def test_no_day_is_named_where_none_is_the_exception(factor: Callable[[int, Row], float]) -> None:
    assert not any(told(over_days(THREE_WINDOWS, seed, factor)) for seed in range(SEEDS))


@pytest.mark.parametrize("noise", [0.03, 0.2])
@pytest.mark.parametrize("repeats", [3, 9])
def test_noise_names_no_day(noise: float, repeats: int) -> None:
    grid = replace(THREE_WINDOWS, noise=noise, repeats=repeats)
    assert not any(told(over_days(grid, seed, lambda *_: 1.0)) for seed in range(SEEDS))


def test_days_that_are_not_known_are_not_named() -> None:
    rows = [row | {"started_at": None} for row in over_days(THREE_WINDOWS, 1, bad_second_day)]
    assert not told(rows)
