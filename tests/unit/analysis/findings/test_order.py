"""Levels that ran in the order of time are named; those in random order are not."""

from collections.abc import Callable
from typing import Any

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


def test_a_window_that_fell_over_the_campaign_is_named() -> None:
    rows = moved(campaign(QUIET, 1), lambda row: -row["window_sum_bytes"])
    assert "Window sum fell with time over the campaign" in " ".join(
        finding.claim for finding in findings(rows) if finding.kind == "order"
    )


def test_random_order_is_not() -> None:
    assert sum(len(list(order_hypotheses(campaign(QUIET, seed)))) for seed in range(100)) <= 1
