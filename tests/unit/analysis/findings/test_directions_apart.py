"""Directions that did not run next to each other: a change over time looks like one that is faster."""

import math
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

import numpy as np
import pytest

from analysis_support import STARTED_AT
from flowsweep.analysis.findings.direction import direction_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.topics import repeat_hypotheses
from flowsweep.analysis.statistics.observations import Observations, observations
from synthetic_campaigns import Grid, Row, campaign


def in_order(
    ways: str, change: Callable[[str, int], float], *, noise: float = 0.01, seed: int = 1
) -> Observations:
    """Trials of one point, every two minutes; `ways` says where each goes from, `change` log goodput."""
    grid = Grid(flows=(1,), window_sums=(1 << 22,), repeats=len(ways) // 2, block=0, noise=0)
    of_way: dict[str, list[Row]] = {"a": [], "b": []}
    for row in campaign(grid, 1):
        of_way[row["src"]].append(row)
    noises = np.random.default_rng(seed).normal(0, noise, len(ways))
    rows = []
    for number, way in enumerate(ways):
        row = of_way[way].pop(0)
        rate_bps = 6e8 * math.exp(change(way, number) + float(noises[number]))
        started_at = (STARTED_AT + timedelta(minutes=2 * number)).isoformat()
        rows.append(
            row
            | {
                "order_index": number,
                "started_at": started_at,
                "goodput_bps": rate_bps,
                "goodput_mean_bps": rate_bps,
            }
        )
    [observed] = observations(rows)
    return observed


def told(observed: Observations) -> tuple[Finding, Finding]:
    """The direction, and the drift: that of the first direction, where they are asked one by one."""
    drifts = [one for one in repeat_hypotheses(observed) if one.kind == "drift"]
    [direction] = direction_hypotheses(observed, drifts=drifts)
    first, second = decided([direction, drifts[0]])
    return first, second


def drifting(_: str, number: int) -> float:
    return 0.0075 * number


def faster(way: str, _: int) -> float:
    return 0.2 * (way == "b")


def test_a_drift_is_no_direction_that_is_faster() -> None:
    """It was "b → a is 14.9 % faster", and half of the drift."""
    direction, drift = told(in_order("a" * 10 + "b" * 10, drifting))
    assert direction.decision == "undecided"
    assert direction.claim.endswith(
        " % more goodput than a → b, but all trials of a → b ran before those of b → a: a change over time "
        "would look alike. Directions that take turns would separate the two."
    )
    assert drift.decision == "effect"
    assert drift.effect == pytest.approx(100 * math.expm1(0.0075 * 19), abs=4)
    assert "over the 38 min" in drift.claim


def test_a_step_between_them_is_none_either() -> None:
    direction, _ = told(in_order("b" * 10 + "a" * 10, faster))
    assert direction.decision == "undecided"
    assert "all trials of b → a ran before those of a → b" in direction.claim


def test_in_few_turns_the_drift_is_that_of_all_trials() -> None:
    direction, drift = told(in_order("aaabbb" * 5, drifting, noise=0.002))
    assert drift.direction is None
    assert direction.decision == "undecided"


@pytest.mark.parametrize("ways", ["ab" * 10, "abba" * 5, "ba" * 10])
def test_directions_next_to_each_other_are_compared_pair_by_pair(ways: str) -> None:
    [direction] = decided(direction_hypotheses(in_order(ways, faster)))
    assert direction.decision == "effect"
    assert direction.effect == pytest.approx(22, abs=2)
    assert "10 pairs" in direction.method
    assert "look alike" not in direction.claim


def test_a_turn_is_a_pair() -> None:
    """Its trials share what lasted as long: they are no repeats."""
    direction, _ = told(in_order("aaaaabbbbb" * 5, faster))
    assert direction.decision == "effect"
    assert "5 pairs, each turn of the directions a pair" in direction.method
    assert direction.claim.endswith(
        " In each of 5 turns a → b ran first: a change over time that began anew with each would look alike."
    )
    turned, _ = told(in_order("aaaaabbbbbbbbbbaaaaa" * 3, faster))
    assert turned.decision == "effect"
    assert "look alike" not in turned.claim


def test_turns_in_one_order_do_not_make_a_direction_of_a_drift() -> None:
    direction, drift = told(in_order("aaaaabbbbb" * 5, drifting, noise=0.002))
    assert drift.decision == "effect"
    assert direction.decision == "undecided"
    assert (
        "did not run next to each other, and as far as the trials tell goodput changes by up to"
        in direction.claim
    )


def level_of(of_trial: Sequence[float], _: str, number: int) -> float:
    return of_trial[number]


def claimed(ways: Sequence[str], shared: float) -> int:
    """How often a direction is claimed that is none, where every turn has a level of its own."""
    count = 0
    for seed in range(20):
        levels = np.random.default_rng(seed).normal(0, shared, len(ways))
        of_trial = [float(level) for turn, level in zip(ways, levels, strict=True) for _ in turn]
        observed = in_order("".join(ways), partial(level_of, of_trial), seed=seed)
        [direction] = decided(direction_hypotheses(observed))
        count += direction.decision == "effect"
    return count


def test_what_a_turn_shares_makes_no_direction_faster() -> None:
    """As pairs, its trials made one of it in 9 of these 20 campaigns."""
    assert claimed(["aaaaa", "bbbbb"] * 4, 0.05) <= 4  # 5 %: P(more) < 0.003
