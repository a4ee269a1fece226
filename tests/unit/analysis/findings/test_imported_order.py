"""Imported tests whose levels ran one after the other: time may be all of what they differ by."""

import math
from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pytest

from flowsweep.analysis.findings.effects import effect_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.findings.order import order_hypotheses
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.blocks import blocks
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.observations import observations
from flowsweep.imports.outcome import Numbering
from imported_campaigns import DAY, POINT
from synthetic_campaigns import EMPTY, KIB, Grid, Row, campaign

Test = tuple[float, str, int, str, float]
"""Minute, congestion control, window, source and Mbit/s."""


def imported(tests: Sequence[Test], *, timed: bool = True) -> list[Row]:
    """Rows as an import numbers them."""
    starts = [DAY + timedelta(minutes=minute) if timed else None for minute, *_ in tests]
    numbering = Numbering((), starts)
    rows = []
    for order, (start, (_, congestion, window, src, mbps)) in enumerate(zip(starts, tests, strict=True)):
        point = POINT | {"src": src, "congestion": congestion, "window_send_bytes": window}
        rows.append(
            EMPTY
            | {
                "trial_id": f"{order:012x}", "sweep": "imported", "src": src, "dst": "z", "test": "tcp",
                "repeat": numbering.next_repeat(point, start), "flows": 1, "status": "ok",
                "simultaneous": False, "order_index": order, "window_bytes": window,
                "window_sum_bytes": window, "congestion_asked": congestion, "congestion": congestion,
                "started_at": None if start is None else start.isoformat(), "imported_from": "table a.csv",
                "goodput_bps": mbps * 1e6, "goodput_mean_bps": mbps * 1e6,
            }
        )  # fmt: skip
    return rows


def two(minutes: Sequence[float], of: str, change: float = 0.0, noise: float = 0.01) -> list[Row]:
    """Tests with cubic ("c") and bbr ("b"), in that order; goodput changes from each to the next."""
    deviations = noise * np.random.default_rng(3).standard_normal(len(of))
    return imported(
        [
            (minute, {"c": "cubic", "b": "bbr"}[which], KIB, "a", 600 * math.exp(change * number + deviation))
            for number, (minute, which, deviation) in enumerate(zip(minutes, of, deviations, strict=True))
        ]
    )


def told(rows: list[Row], kind: str) -> Finding:
    [found] = [one for one in findings(rows) if one.kind == kind]
    return found


def by_axis(rows: list[Row], axis: str) -> Hypothesis:
    [observed] = observations(rows)
    [found] = [one for one in effect_hypotheses(observed) if one.axis == axis]
    return found


def block_numbers(rows: list[Row]) -> list[int]:
    [observed] = observations(rows)
    return list(blocks(design(observed)))


def test_a_drift_is_no_effect_of_the_congestion_control_that_ran_later() -> None:
    """It was "with bbr goodput is 16.0 % higher than with cubic", of a path that gains 1.5 % a minute."""
    rows = two(range(20), "c" * 10 + "b" * 10, change=0.015)
    assert told(rows, "order").claim.startswith(
        "Congestion control went with time over the campaign (cubic, then bbr; correlation ratio 0.867): a "
        "change over time may be mistaken for an effect of the congestion control."
    )
    assert told(rows, "drift").decision == "effect"
    congestion = told(rows, "congestion")
    assert congestion.decision == "undecided"
    assert "between levels that ran in the order of time" in congestion.claim


@pytest.mark.parametrize("count", [6, 10])
def test_a_step_between_two_that_ran_one_after_the_other_is_claimed_with_that_order(count: int) -> None:
    rows = two(range(2 * count), "c" * count + "b" * count)
    for row in rows[count:]:
        row["goodput_bps"] *= 1.3
    found = told(rows, "congestion")
    assert found.decision == "effect"
    assert found.claim.endswith(" A change over time would look alike.")


def test_two_that_took_turns_are_claimed_as_they_were() -> None:
    rows = two(range(20), "cbbc" * 5)
    for row in rows:
        row["goodput_bps"] *= 1.16 if row["congestion_asked"] == "bbr" else 1
    found = told(rows, "congestion")
    assert found.decision == "effect"
    assert found.claim.endswith("higher than with cubic.")
    assert not list(order_hypotheses(rows))


def test_a_listed_order_of_congestion_controls_is_named_and_a_random_one_is_not() -> None:
    """Of a plan's own trials: by chance in 0.1 % of random orders, over the campaign and within repeats."""
    grid = Grid(flows=(1,), congestions=("cubic", "bbr", "reno"), directions=(("a", "b"),))
    drawn = [campaign(grid, seed) for seed in range(100)]
    assert sum(one.axis == "congestion_asked" for rows in drawn for one in order_hypotheses(rows)) <= 1
    rows = drawn[0]
    times = [row["started_at"] for row in rows]
    listed = sorted(rows, key=lambda row: (row["repeat"], grid.congestions.index(row["congestion"])))
    for order, (row, time) in enumerate(zip(listed, times, strict=True)):
        row |= {"started_at": time, "order_index": order}
    [found] = list(order_hypotheses(listed))
    assert str(found.say("described")).startswith(
        "Congestion control went with time within repeats (cubic, then bbr, then reno; correlation ratio 0.9"
    )


def test_levels_that_have_a_day_each_are_told_apart_from_nothing() -> None:
    """It was "too few, or equal since rounded"; and with one trial of each point, an effect was claimed."""
    days = [5 * n + 1440 * (n >= 10) for n in range(20)]
    said = "(cubic on 2026-03-01, bbr on 2026-03-02): days and levels cannot be told apart."
    assert told(two(days, "c" * 10 + "b" * 10), "congestion").claim.endswith(
        f"is undecided: each level was measured on a day of its own {said}"
    )
    once: list[Test] = [
        (5 * place + 1440 * day, ("cubic", "bbr")[day], KIB << place, "a", 100 * (place + 1) * (1 + day / 3))
        for day in range(2)
        for place in range(6)
    ]
    assert by_axis(imported(once), "congestion_asked").untestable
    hours = [5 * n + 300 * (n >= 6) for n in range(12)]
    assert "in a sitting of its own" in told(two(hours, "c" * 6 + "b" * 6), "congestion").claim


def test_levels_that_shared_their_days_are_not_said_to_have_days_of_their_own() -> None:
    """After a step those at the level that became rare stand out; without them, the others had such days."""
    after = np.arange(270) >= 135  # at midnight
    rare = np.random.default_rng(1).random(270) < 0.1
    rows = two([60 * n for n in range(270)], "".join("cb"[int(kind)] for kind in rare ^ after))
    for row in rows[135:]:
        row["goodput_bps"] *= 1.6
    cubic, bbr = (
        {row["started_at"][:10] for row in rows if row["congestion"] == name} for name in ("cubic", "bbr")
    )
    assert len(cubic & bbr) > 5
    assert by_axis(rows, "congestion_asked").say("undecided") == (
        f"Whether the congestion control matters is undecided: without {rare.sum()} trials that stand out "
        "from all repeats of the same point, each level was measured on days of its own: days and levels "
        "cannot be told apart."
    )


def test_levels_of_one_sitting_are_not_said_to_have_sittings_of_their_own() -> None:
    """Two windows in each repeat, repeats of cubic and then those of bbr, all within 20 minutes."""
    rows = imported(
        [
            (place, ("cubic", "bbr")[place >= 10], KIB << place % 2, "a", 600 + place % 7)
            for place in range(20)
        ]
    )
    for place, row in enumerate(rows):
        row["repeat"] = place // 2
    assert told(rows, "congestion").claim == (
        "Whether the congestion control matters is undecided: no two of its levels ran in the same repeat."
    )


def test_lone_repeats_cost_no_degree_of_freedom() -> None:
    """One test of cubic and nine of bbr: their repeats are a count, and were nine blocks of ten trials."""
    rows = two(range(10), "c" + "b" * 9)
    rows[0]["goodput_bps"] *= 0.6
    found = told(rows, "congestion")
    assert found.decision == "effect"
    assert found.claim.endswith(" higher than with cubic (1 trial of cubic).")


def test_a_plateau_has_the_blocks_of_the_effect() -> None:
    """Of one test at the smaller window and nine at the larger it was "no measure of chance"."""
    sizes = (KIB, *[4 * KIB] * 9)
    rows = imported(
        [
            (float(minute), "cubic", size, "a", size / KIB * (200 + minute % 3))
            for minute, size in enumerate(sizes)
        ]
    )
    assert told(rows, "effect").decision == told(rows, "plateau").decision == "effect"
    assert "goodput has not reached its plateau up to 4 KiB" in told(rows, "plateau").claim


def test_a_pass_is_a_block_and_levels_one_after_the_other_are_one_together() -> None:
    assert block_numbers(two(range(6), "cb" * 3)) == [0, 0, 1, 1, 2, 2]
    assert block_numbers(two(range(6), "cccbbb")) == [0] * 6
    assert block_numbers(two(range(6), "cbcbbb")) == [0, 0, 1, 1, 1, 1]
    assert block_numbers(two([0, 1, 2, 1500, 1501, 1502], "cbbbcc")) == [0, 0, 0, 1, 1, 1]


def test_levels_that_one_path_alone_has_are_compared_there_and_it_is_named() -> None:
    tests: list[Test] = []
    windows = {"a": (256 * KIB, 1024 * KIB), "g": (64 * KIB, 1024 * KIB)}
    for src, sizes in windows.items():
        for repeat in range(3):
            tests += [
                (len(tests) + place, "cubic", size, src, size / KIB * (1.01, 0.99, 1.0)[repeat - place])
                for place, size in enumerate(sizes)
            ]
    found = by_axis(imported(tests), "window_sum_bytes")
    assert found.n == 6
    assert str(found.say("effect")).endswith(" (compared at g → z alone).")
    assert "alone" not in str(by_axis(imported(tests[:6]), "window_sum_bytes").say("effect"))


def test_levels_with_nothing_else_alike_want_no_repeats() -> None:
    """It was "more repeats would" give a measure of chance."""
    points = (("cubic", 64 * KIB), ("bbr", 128 * KIB), ("bbr", 256 * KIB))
    rows = imported([(float(n), *points[n % 3], "a", 90.0 + n) for n in range(9)])
    said = str(by_axis(rows, "congestion_asked").say("undecided"))
    assert said.endswith(" is undecided: no two of its levels ran with everything else alike.")
