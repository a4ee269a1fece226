"""When trials failed, or were slow, one after the other: said where random order does not explain it."""

from collections.abc import Iterable
from itertools import permutations

import pytest
from test_failures import answers

from fates import an_outage, fail, one_of_twenty
from flowsweep.analysis.findings.failures import failure_hypotheses
from flowsweep.analysis.findings.in_a_row import all_in_places, expected_runs, runs_of
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.topics import repeat_hypotheses
from flowsweep.analysis.statistics.observations import observations
from synthetic_campaigns import KIB, Grid, Row, campaign

ONE_POINT = Grid(
    flows=(1,), window_sums=(1024 * KIB,), directions=(("a", "b"),), repeats=120, noise=0.01, block=0.0
)


def failing(places: Iterable[int], grid: Grid = ONE_POINT) -> list[Row]:
    rows = campaign(grid, 3)
    for place in places:
        fail(rows[place])
    return rows


def said_of(rows: list[Row], kind: str = "failures") -> str:
    return next(one.claim for one in decided(list(failure_hypotheses(rows))) if one.kind == kind)


def test_outages_are_said_with_their_times() -> None:
    """Twelve hours and five without a trial that ended ok read like failures now and then."""
    rows = failing([*range(30, 42), 60, *range(80, 85)])
    assert said_of(rows) == (
        "18 of 120 trials failed (15.0 %); goodput is that of the trials that ended ok; it is too high if "
        "the slow ones are those that fail. 12 in a row from 2026-03-01 12:06 to 12:08 UTC, and 5 from "
        "2026-03-01 12:16:00 to 12:16:48 UTC."
    )
    assert said_of(failing(range(30, 42))).endswith(" All 12 in a row from 2026-03-01 12:06 to 12:08 UTC.")


def test_of_several_directions_that_of_an_outage_is_said() -> None:
    grid = Grid(flows=(1,), window_sums=(1024 * KIB,), repeats=60)
    rows = failing(range(31, 51, 2), grid)
    assert " All 10 of b → a in a row from 2026-03-01 12:06 to 12:09 UTC." in said_of(rows)


@pytest.mark.parametrize("places", [range(0, 120, 9), (30, 31), (30, 60, 61, 90)])
def test_failures_now_and_then_are_no_run(places: Iterable[int]) -> None:
    assert " in a row" not in said_of(failing(places))


@pytest.mark.long
def test_runs_are_seldom_said_of_failures_at_random_and_always_of_an_outage() -> None:
    claims = [
        [one.claim for one in answers(fate, seed)]
        for fate in (one_of_twenty, an_outage)
        for seed in range(60)
    ]
    told = [any(" in a row" in claim for claim in own) for own in claims]
    assert sum(told[:60]) <= 6
    assert all(told[60:])


def test_without_times_nothing_is_said_of_when() -> None:
    rows = [row | {"started_at": None} for row in failing(range(30, 42))]
    assert " in a row" not in said_of(rows)


def test_slow_trials_that_followed_each_other_are_told_from_when_to_when() -> None:
    """A week at 40 % was three trials, named at random."""
    rows = campaign(ONE_POINT, 3)
    for row in rows[40:50]:
        row["goodput_bps"] *= 0.3
    rows[100]["goodput_bps"] *= 0.4
    hypotheses = repeat_hypotheses(observations(rows)[0])
    [claim] = [one.claim for one in decided(hypotheses) if one.kind == "outliers"]
    assert claim.startswith(
        "11 of 120 trials carried less than half of the goodput expected from the repeats, 10 in a row "
        "from 2026-03-01 12:08 to 12:09 UTC: "
    )
    assert claim.count(" has ") == 2, "the slowest of them, and the one apart"
    assert rows[100]["trial_id"] in claim
    assert "; and 9 more." in claim
    assert said_of(rows, "stalls").endswith(" 10 in a row from 2026-03-01 12:08 to 12:09 UTC.")


def test_expected_runs_are_those_of_all_orders() -> None:
    orders = set(permutations((True,) * 4 + (False,) * 4))
    runs = sum(len(run) >= 2 for order in orders for run in runs_of(order, bool))
    assert expected_runs(2, 4, 8) == pytest.approx(runs / len(orders))
    last = sum(all(order[-3:]) for order in orders)
    assert all_in_places(3, 4, 8) == pytest.approx(last / len(orders))
