"""Two campaigns beside each other: a hand computation, verdicts, coverage, matching and exit codes."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from flowsweep.analysis.comparing.comparison import Comparison, compare
from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.cli.compare import FailIf, exit_code

Row = dict[str, Any]
MBIT = 1e6


def row(goodput_bps: float | None, *, repeat: int = 1, status: str = "ok", **point: Any) -> Row:
    usual: Row = dict.fromkeys(POINT_COLUMNS) | {
        "sweep": "s", "src": "a", "dst": "b", "test": "tcp", "simultaneous": False, "flows": 1,
        "mode": "copy", "affinity": [],
    }  # fmt: skip
    return usual | {"goodput_bps": goodput_bps, "repeat": repeat, "status": status, "order_index": 0} | point


def campaign(goodputs_bps: Sequence[Sequence[float]]) -> list[Row]:
    """Rows of a campaign: a list for each repeat, in it one goodput for each number of flows."""
    return [
        row(goodput_bps, repeat=repeat, flows=flows)
        for repeat, block in enumerate(goodputs_bps, start=1)
        for flows, goodput_bps in enumerate(block, start=1)
    ]


def drawn(rng: np.random.Generator, *, shift: float = 0.0, points: int = 8, repeats: int = 3) -> list[Row]:
    """A campaign with 3 % of chance in a trial and 1 % in a repeat."""
    logs = math.log(1e8) + shift + np.arange(points) / 10
    noise = rng.normal(0, 0.03, (repeats, points)) + rng.normal(0, 0.01, (repeats, 1))
    return campaign(np.exp(logs + noise).tolist())


def outcome(comparison: Comparison) -> str:
    assert comparison.overall is not None
    return comparison.overall.outcome


def test_a_hand_computation() -> None:
    # Logs of A: -0.01, 0, 0.01; of B: 0.09, 0.1, 0.11. Welch: both variances 1e-4, so 4 degrees of freedom,
    # t(0.975, 4) = 2.776445 (Student's table); standard error sqrt(2e-4 / 3) = 0.00816497.
    a = campaign([[math.exp(log)] for log in (-0.01, 0.0, 0.01)])
    b = campaign([[math.exp(log)] for log in (0.09, 0.1, 0.11)])
    for shift in (compare(a, b).overall, compare(a, b).points[0].shift):
        assert shift is not None
        assert shift.percent == pytest.approx(100 * (math.exp(0.1) - 1))
        assert shift.interval_low_percent == pytest.approx(100 * (math.exp(0.1 - 2.776445 * 0.00816497) - 1))
        assert shift.interval_high_percent == pytest.approx(100 * (math.exp(0.1 + 2.776445 * 0.00816497) - 1))
        # t = 12.247 with 4 degrees of freedom
        assert shift.p_value == pytest.approx(0.000255, rel=0.01)
        assert (shift.repeats_a, shift.repeats_b, shift.outcome) == (3, 3, "faster")


@pytest.mark.parametrize(("repeats_a", "repeats_b"), [(3, 3), (2, 7), (5, 2), (1, 4), (6, 1)])
def test_intervals_and_p_values_are_those_of_statsmodels(repeats_a: int, repeats_b: int) -> None:
    rng = np.random.default_rng(repeats_a * 10 + repeats_b)
    for _ in range(20):
        a, b = (drawn(rng, points=1, repeats=repeats) for repeats in (repeats_a, repeats_b))
        shift = compare(a, b).points[0].shift
        logs_a, logs_b = ([math.log(row["goodput_bps"]) for row in rows] for rows in (a, b))
        means = CompareMeans(DescrStatsW(np.array(logs_b)), DescrStatsW(np.array(logs_a)))
        rules = ["pooled"] if 1 in (repeats_a, repeats_b) else ["pooled", "unequal"]
        interval = max((means.tconfint_diff(alpha=0.05, usevar=rule) for rule in rules), key=np.ptp)
        p_value = max(means.ttest_ind(usevar=rule)[1] for rule in rules)
        expected = [*(100 * math.expm1(end) for end in interval), p_value]
        found = [shift.interval_low_percent, shift.interval_high_percent, shift.p_value]
        # Up to what is lost in subtracting logarithms of about 18 from each other.
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("alike", [(1e8,), (1e8, 1e8), (1e8, 1e8, 1e8)])
def test_alike_repeats_of_one_campaign_are_compared_without_a_warning(alike: tuple[float, ...]) -> None:
    shift = compare(campaign([[bps] for bps in alike]), campaign([[1.0e8], [1.1e8]])).overall
    assert shift is not None
    assert shift.interval_low_percent is not None
    assert shift.interval_low_percent < 0 < shift.percent


def test_points_count_alike_overall_whatever_their_level() -> None:
    a = campaign([[1 * MBIT, 1000 * MBIT]] * 3)
    b = campaign([[2 * MBIT, 1000 * MBIT]] * 3)
    comparison = compare(a, b)
    assert comparison.overall is not None
    assert comparison.overall.percent == pytest.approx(100 * (math.sqrt(2) - 1))
    assert [point.shift.percent for point in comparison.points] == pytest.approx([100, 0])
    assert [point.goodput_a_bps for point in comparison.points] == pytest.approx([1 * MBIT, 1000 * MBIT])


def test_a_point_that_lacks_repeats_weighs_as_much_as_any_and_moves_no_other() -> None:
    a = campaign([[100 * MBIT, 1000 * MBIT], [101 * MBIT, 1010 * MBIT], [99 * MBIT, 990 * MBIT]] * 2)
    # The first point is twice as fast in B, and ran in half of its repeats; the second is what it was.
    b = [one | {"goodput_bps": one["goodput_bps"] * (2 if one["flows"] == 1 else 1)} for one in a]
    comparison = compare(a, [one for one in b if one["flows"] == 2 or one["repeat"] <= 3])
    assert comparison.overall is not None
    assert comparison.overall.percent == pytest.approx(100 * (math.sqrt(2) - 1))
    assert [point.shift.percent for point in comparison.points] == pytest.approx([100, 0], abs=1e-9)
    assert comparison.overall.outcome == "faster"


def test_what_a_repeat_has_in_common_is_chance() -> None:
    """Ten points that all fell by 5 % in two of three repeats: many trials, but three observations."""
    a = campaign([[100 * MBIT] * 10, [101 * MBIT] * 10, [99 * MBIT] * 10])
    b = campaign([[95 * MBIT] * 10, [95 * MBIT] * 10, [101 * MBIT] * 10])
    assert outcome(compare(a, b)) == "undecided"


@pytest.mark.parametrize(
    ("b", "expected"),
    [
        ((100, 101, 99), "same"),
        ((95, 95.5, 94.5), "slower"),
        ((105, 105.5, 104.5), "faster"),
        # A shift that is certain, and too small to matter
        ((99, 99.1, 98.9), "same"),
        ((90, 110, 96), "undecided"),
    ],
)
def test_outcomes(b: tuple[float, ...], expected: str) -> None:
    a = campaign([[goodput * MBIT] * 4 for goodput in (100, 100.2, 99.8)])
    assert outcome(compare(a, campaign([[goodput * MBIT] * 4 for goodput in b]))) == expected


def test_the_margin_decides_what_is_the_same() -> None:
    a, b = (campaign([[goodput * MBIT] for goodput in goodputs]) for goodputs in ((100, 100.1), (95, 95.1)))
    assert outcome(compare(a, b)) == "slower"
    assert outcome(compare(a, b, margin=0.1)) == "same"


def test_one_repeat_each_decides_nothing() -> None:
    comparison = compare(campaign([[100 * MBIT] * 3]), campaign([[50 * MBIT] * 3]))
    assert comparison.overall is not None
    assert comparison.overall.percent == pytest.approx(-50)
    assert (comparison.overall.interval_low_percent, comparison.overall.p_value) == (None, None)
    assert outcome(comparison) == "undecided"


def test_one_repeat_is_compared_by_the_chance_of_the_other_campaign() -> None:
    a = campaign([[goodput * MBIT] for goodput in (100, 101, 99, 100)])
    assert outcome(compare(a, campaign([[90 * MBIT]]))) == "slower"


def test_equal_repeats_have_an_interval_without_width() -> None:
    comparison = compare(campaign([[100 * MBIT]] * 2), campaign([[90 * MBIT]] * 2))
    assert comparison.overall is not None
    assert comparison.overall.interval_low_percent == comparison.overall.percent == pytest.approx(-10)
    assert outcome(comparison) == "slower"


def imported(goodputs_bps: Sequence[Sequence[float]]) -> list[Row]:
    return [row | {"imported_from": "iperf2"} for row in campaign(goodputs_bps)]


@pytest.mark.parametrize("repeats", [2, 3, 9])
@pytest.mark.parametrize("points", [1, 3])
def test_repeats_that_were_rounded_to_the_same_figure_have_no_interval(repeats: int, points: int) -> None:
    a, b = (imported([[gbit * 1e9] * points] * repeats) for gbit in (9.41, 9.05))
    comparison = compare(a, b)
    for shift in (comparison.overall, *(point.shift for point in comparison.points)):
        assert shift is not None
        assert shift.percent == pytest.approx(100 * (9.05 / 9.41 - 1))
        ends = shift.interval_low_percent, shift.interval_high_percent, shift.p_value
        assert (*ends, shift.outcome) == (None, None, None, "undecided")
    assert comparison.remarks[0].startswith("All repeats are equal to the last digit")


def test_rounded_repeats_of_one_campaign_take_the_chance_of_the_other() -> None:
    a, b = imported([[9.41e9]] * 3), imported([[gbit * 1e9] for gbit in (9.41, 9.42, 9.41)])
    comparison = compare(a, b)
    assert outcome(comparison) == "same"
    assert comparison.remarks == ()


def test_trials_that_are_not_ok_take_no_part_and_points_of_one_campaign_are_named() -> None:
    a = [*campaign([[100 * MBIT, 200 * MBIT]] * 2), row(None, status="failed", flows=7)]
    b = [*campaign([[100 * MBIT]] * 2), row(1.0, status="incomplete", flows=1, repeat=3)]
    comparison = compare(a, b)
    assert [point.point["flows"] for point in comparison.points] == [1]
    assert [point["flows"] for point in comparison.only_in_a] == [2]
    assert comparison.only_in_b == ()
    assert outcome(comparison) == "same"
    assert compare(a, []).overall is None


def test_intervals_corrected_p_values_and_outcomes_say_the_same() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        comparison = compare(drawn(rng), drawn(rng, shift=0.05))
        assert comparison.overall is not None
        for shift in (comparison.overall, *(point.shift for point in comparison.points)):
            assert shift.interval_low_percent is not None
            assert shift.interval_high_percent is not None
            assert shift.p_value is not None
            assert shift.p_adjusted is not None
            leaves_out_0 = shift.interval_low_percent > 0 or shift.interval_high_percent < 0
            assert (shift.p_adjusted < 0.05) == leaves_out_0 == (shift.outcome in ("faster", "slower"))
            assert shift.p_value <= shift.p_adjusted


@pytest.mark.long
def test_intervals_cover_and_equal_campaigns_are_rarely_called_different() -> None:
    """600 pairs: of 96 % intervals, one of six of a comparison, below 94 % has a chance under 1 %."""
    rng = np.random.default_rng(11)
    covered = false_claims = 0
    for _ in range(600):
        overall = compare(drawn(rng, points=5), drawn(rng, points=5, shift=0.05)).overall
        assert overall is not None
        assert overall.interval_low_percent is not None
        assert overall.interval_high_percent is not None
        truth = 100 * math.expm1(0.05)
        covered += overall.interval_low_percent <= truth <= overall.interval_high_percent
        same = compare(drawn(rng, points=5), drawn(rng, points=5))
        false_claims += any(
            shift.outcome in ("faster", "slower")
            for shift in (same.overall, *(point.shift for point in same.points))
            if shift is not None
        )
    assert covered >= 0.94 * 600
    assert false_claims <= 0.065 * 600


def test_exit_codes() -> None:
    a = campaign([[100 * MBIT] * 4, [100.1 * MBIT] * 4])
    slower = compare(a, campaign([[95 * MBIT] * 4, [95.1 * MBIT] * 4]))
    same, open_ = compare(a, a), compare(a, campaign([[100 * MBIT] * 4]).copy()[:1])
    assert exit_code(slower, None) == 0
    assert [exit_code(slower, one) for one in FailIf] == [1, 0, 1]
    assert [exit_code(same, one) for one in FailIf] == [0, 0, 0]
    assert outcome(open_) == "same"
    undecided = compare(a[:4], a[:4])
    assert [exit_code(undecided, one) for one in FailIf] == [3, 3, 3]
    assert exit_code(undecided, None) == 0


def test_one_point_is_enough_to_fail() -> None:
    a = campaign([[100 * MBIT] * 40, [100.1 * MBIT] * 40, [100.2 * MBIT] * 40])
    b = campaign(
        [
            [60 * MBIT, *[100 * MBIT] * 39],
            [60.1 * MBIT, *[100.1 * MBIT] * 39],
            [60.2 * MBIT, *[100.2 * MBIT] * 39],
        ]
    )
    comparison = compare(a, b)
    assert outcome(comparison) == "same"
    assert exit_code(comparison, FailIf.slower) == 1
    assert exit_code(comparison, FailIf.faster) == 0


@pytest.mark.parametrize(
    ("factor", "empty_in", "said"),
    [
        (1.0, "", "same"),
        (1.0, "b", "undecided"),
        (1.0, "a", "undecided"),
        (1.1, "b", "undecided"),
        (1.1, "a", "faster"),
        (0.9, "b", "slower"),
        (0.9, "a", "undecided"),
    ],
)
def test_trials_that_carried_nothing_are_counted_and_not_forgotten(
    factor: float, empty_in: str, said: str
) -> None:
    goodputs = [[1e6 * (1 + repeat * 1e-4)] for repeat in range(4)]
    a, b = campaign(goodputs), campaign([[factor * block[0]] for block in goodputs])
    empty, failed = row(0.0, repeat=5), row(None, repeat=6, status="failed")
    in_a, in_b = int(empty_in == "a"), int(empty_in == "b")
    compared = compare([*a, *[empty] * in_a], [*b, *[empty] * in_b, failed])
    assert outcome(compared) == compared.points[0].shift.outcome == said
    assert (compared.empty_a, compared.empty_b, compared.not_ok_b) == (in_a, in_b, 1)
    assert compared.trials_b == 5 + in_b
