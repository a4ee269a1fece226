"""Levels that ran in the order of time are named; those in random order are not."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from flowsweep.analysis.findings.order import order_hypotheses
from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import Grid, Row, campaign

QUIET = Grid(directions=(("a", "b"),))


def moved(rows: list[Row], key: Callable[[Row], Any]) -> list[Row]:
    """Give the trials the times that they would have had in another order."""
    times = [row["started_at"] for row in rows]
    ordered = sorted(rows, key=key)
    return [
        row | {"started_at": time, "order_index": order}
        for order, (row, time) in enumerate(zip(ordered, times, strict=True))
    ]


def test_a_rising_window_within_each_repeat_is_named() -> None:
    rows = moved(campaign(QUIET, 1), lambda row: (row["repeat"], row["window_sum_bytes"]))
    [found] = list(order_hypotheses(rows))
    assert found.axis == "window_sum_bytes"
    assert found.estimate.effect is not None
    assert found.estimate.effect > 0.9
    assert found.say("described").startswith("Window sum rose with time within repeats (rank correlation 0.9")


def test_an_order_that_chance_makes_often_is_not_named() -> None:
    """Two levels in three repeats: one random order in four has the same one first each time."""
    two = replace(QUIET, flows=(1,), window_sums=QUIET.window_sums[:2])
    rows = moved(campaign(two, 1), lambda row: (row["repeat"], row["window_sum_bytes"]))
    assert list(order_hypotheses(rows)) == []


def test_a_window_that_fell_over_the_campaign_is_named() -> None:
    rows = moved(campaign(QUIET, 1), lambda row: -row["window_sum_bytes"])
    assert "Window sum fell with time over the campaign" in " ".join(
        finding.claim for finding in findings(rows) if finding.kind == "order"
    )


def test_neighbours_that_resemble_each_other_in_such_an_order_are_told() -> None:
    """Red noise of correlation 0.7 over 48 trials in rising order; then independent noise."""
    many = replace(QUIET, repeats=12, block=0.0)

    def claims(correlation: float) -> list[str]:
        found = []
        for seed in range(20):
            rows = moved(
                campaign(replace(many, noise=0.0), seed), lambda row: (row["repeat"], row["window_sum_bytes"])
            )
            generator = np.random.default_rng(seed)
            noise = 0.0
            for row in rows:
                noise = correlation * noise + generator.normal(0, 0.03)
                row["goodput_bps"] *= math.exp(noise)
            found += [str(one.say("described")) for one in order_hypotheses(rows)]
        return found

    said = [" Neighbouring trials resemble each other (r = 0." in claim for claim in claims(0.7)]
    assert len(said) == 20
    assert sum(said) >= 12
    assert sum("resemble" in claim for claim in claims(0.0)) <= 2


def test_random_order_is_not() -> None:
    assert sum(len(list(order_hypotheses(campaign(QUIET, seed)))) for seed in range(100)) <= 1


def test_trials_that_carried_nothing_say_nothing_of_neighbours() -> None:
    rows = moved(campaign(QUIET, 1), lambda row: (row["repeat"], row["window_sum_bytes"]))
    rows[3] |= {"status": "failed", "goodput_bps": None}
    assert len(list(order_hypotheses(rows))) == 1
    nothing = [row | {"status": "failed", "goodput_bps": None} for row in rows]
    assert len(list(order_hypotheses(nothing))) == 1


def test_steps_of_a_search_are_in_the_order_that_it_chose() -> None:
    rows = moved(campaign(QUIET, 1), lambda row: -row["window_sum_bytes"])
    assert [*order_hypotheses(rows)]
    assert [*order_hypotheses([row | {"search_precision": 0.1} for row in rows])] == []


def test_what_is_claimed_of_levels_that_ran_in_order_says_so() -> None:
    def claims(rows: list[Row]) -> list[str]:
        by_window = (one for one in findings(rows) if one.axis == "window_sum_bytes")
        return [one.claim for one in by_window if one.decision == "effect"]

    rows = campaign(replace(QUIET, effect=lambda row: row["window_sum_bytes"] / (8 << 20)), 1)
    assert claims(rows)
    assert not any("look alike" in claim for claim in claims(rows))
    ordered = claims(moved(rows, lambda row: (row["repeat"], row["window_sum_bytes"])))
    assert ordered
    assert all(
        claim.endswith(" A change over time that began anew with each repeat would look alike.")
        for claim in ordered
    )
    once = claims(moved(rows, lambda row: row["window_sum_bytes"]))
    assert all(claim.endswith(" A change over time would look alike.") for claim in once)
