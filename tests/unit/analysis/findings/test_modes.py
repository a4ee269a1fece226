"""Trials at one of two levels, and what only looks like that."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.modes import mode_hypotheses
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.statistics.bimodality import two_levels
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.statistics.repeat_noise import repeat_noise
from synthetic_campaigns import KIB, Grid, Row, campaign, heavy_tailed

CAMPAIGNS = 20
FIFTH = math.log(0.8)
MANY_REPEATS = Grid(
    flows=(1, 2), window_sums=(512 * KIB, 1024 * KIB), directions=(("a", "b"),), repeats=15, block=0.0
)
Chance = Callable[[Row], float]


def modes(grid: Grid, seed: int, chance: Chance, apart: float = FIFTH) -> list[Finding]:
    rows = campaign(grid, seed)
    generator = np.random.default_rng((6, seed))
    for row in rows:
        row["goodput_bps"] *= math.exp(apart * (generator.random() < chance(row)))
    return found(rows)


def found(rows: list[Row], **asked: Any) -> list[Finding]:
    [observed] = observations(rows)
    return decided(mode_hypotheses(observed, repeat_noise(design(observed)), **asked))


@pytest.mark.parametrize("grid", [pytest.param(Grid(), marks=pytest.mark.long), MANY_REPEATS])
@pytest.mark.parametrize("share", [0.3, 0.5])
def test_two_levels_a_fifth_apart_are_found_with_their_share(grid: Grid, share: float) -> None:
    claims = [one for seed in range(CAMPAIGNS) for one in modes(grid, seed, lambda _: share)]
    effects = [one for one in claims if one.decision == "effect"]
    assert len(effects) >= 0.9 * CAMPAIGNS
    assert np.median([one.effect for one in effects]) == pytest.approx(-20, abs=1)
    covered = [one.interval_low <= -20 <= one.interval_high for one in effects]
    assert np.mean(covered) >= 0.8
    said = [
        re.match(r"Repeats of the same point come out at two levels: ([\d.]+) % of ", one.claim)
        for one in effects
    ]
    shares = [float(match[1]) for match in said if match is not None]
    assert len(shares) == len(effects)
    assert np.median(shares) == pytest.approx(100 * share, abs=5)
    assert "] less than the others, and nothing that was varied tells which." in effects[0].claim


def test_levels_that_go_with_a_direction_say_so() -> None:
    [one] = modes(Grid(), 1, lambda row: 0.6 if row["dst"] == "a" else 0.1)
    assert one.decision == "effect"
    assert ", most often at b → a (" in one.claim


def test_levels_that_go_with_nothing_say_so() -> None:
    [one] = modes(Grid(), 1, lambda _: 0.4)
    assert one.claim.endswith(", and nothing that was varied tells which.")


@pytest.mark.parametrize("way_ms", [40.0, 20.5, None])
def test_levels_that_go_with_round_trips_are_of_two_paths(way_ms: float | None) -> None:
    rows = campaign(Grid(), 1)
    generator = np.random.default_rng(7)
    for row in rows:
        low = generator.random() < 0.4
        row["goodput_bps"] *= math.exp(FIFTH * low)
        row["rtt_min_ms"] = (way_ms if low else 20.0) if way_ms is not None else None
    [one] = found(rows)
    assert one.decision == "effect"
    said = (
        "; the minimum round trips of trials at the lower level are 2.00 times those of others of the same "
        "point, as where connections take one of two paths, or wait in a queue."
    )
    assert one.claim.endswith(said) == (way_ms == 40.0)
    assert ("round trips" in one.claim) == (way_ms == 40.0)


def test_round_trips_of_directions_are_no_paths() -> None:
    """The lower level is most often of one direction, whose round trips are longer whatever the level."""
    rows = campaign(Grid(), 1)
    generator = np.random.default_rng((6, 1))
    for row in rows:
        back = row["dst"] == "a"
        row["goodput_bps"] *= math.exp(FIFTH * (generator.random() < (0.6 if back else 0.1)))
        row["rtt_min_ms"] = 40.0 if back else 20.0
    [one] = found(rows)
    assert ", most often at b → a (" in one.claim
    assert "round trips" not in one.claim


@pytest.mark.parametrize(
    "grid",
    [
        Grid(), replace(Grid(), draw=heavy_tailed), replace(MANY_REPEATS, draw=heavy_tailed), MANY_REPEATS,
        replace(Grid(), noise_of=lambda row: 0.3 if row["flows"] < 4 else 2.0), replace(Grid(), block=0.3),
    ],
)  # fmt: skip
def test_noise_of_one_level_has_no_second_one(grid: Grid) -> None:
    assert [one for seed in range(CAMPAIGNS) for one in modes(grid, seed, lambda _: 0.0)] == []


def test_stalled_trials_are_strays_and_no_level() -> None:
    claims = [one for seed in range(CAMPAIGNS) for one in modes(Grid(), seed, lambda _: 0.05, math.log(0.1))]
    assert [one.claim for one in claims if one.decision == "effect"] == []


def test_a_step_in_time_is_no_mode() -> None:
    """Half of the repeats ran after a change of the path: two levels, but no chance between them."""
    rows = campaign(MANY_REPEATS, 1)
    for row in rows:
        row["goodput_bps"] *= 0.8 if row["order_index"] > 0.5 * len(rows) else 1.0
    for one in found(rows):
        assert one.decision == "undecided"
        assert one.claim.endswith("neighbours in time share their level, so it may be a change over time.")


def test_a_daily_cycle_is_no_mode() -> None:
    for seed in range(CAMPAIGNS):
        rows = campaign(MANY_REPEATS, seed)
        for row in rows:
            row["goodput_bps"] *= math.exp(0.3 * math.sin(2 * math.pi * row["order_index"] / len(rows)))
        assert all(one.decision == "undecided" for one in found(rows))


def test_values_that_agree_have_one_level() -> None:
    assert two_levels(np.ones(20), np.repeat(np.arange(4), 5)) is None
    assert two_levels(np.arange(4.0), np.arange(4)) is None


def test_the_distance_by_hand() -> None:
    """Levels 1 apart, each value 0.01 above or below."""
    values = np.tile([0.01, -0.01, 1.01, 0.99, 1.01], 8)
    told = two_levels(values, np.repeat(np.arange(8), 5))
    assert told is not None
    assert told.apart == pytest.approx(1.0, abs=0.01)
    assert told.share == pytest.approx(0.4, abs=0.01)
    assert (told.low > 0.5).tolist() == [True, True, False, False, False] * 8


def test_values_that_are_two_numbers_are_two_levels_and_end() -> None:
    """As in a table of rounded rates: the nearer the spread came to 0, the more there was to integrate."""
    cells = np.repeat(np.arange(40), 4)
    found = two_levels(np.log(np.tile([94.0, 94.1], 80)), cells)
    assert found is not None
    assert found.apart == pytest.approx(math.log(94.1 / 94.0), rel=1e-3)
    assert 0 < found.spread <= found.apart / 50
    assert found.share == pytest.approx(0.5, abs=0.01)


def test_levels_within_the_margin_are_not_told_and_all_directions_asked_count() -> None:
    rows = campaign(replace(MANY_REPEATS, noise=0.002), 3)
    generator = np.random.default_rng(3)
    for row in rows:
        row["goodput_bps"] *= 0.94 if generator.random() < 0.5 else 1.0
    [alone] = found(rows)
    [of_many] = found(rows, asked=24)
    assert alone.p_value is not None
    assert of_many.p_value == pytest.approx(24 * alone.p_value)
    assert "Bonferroni over 24 directions" in of_many.method
    assert found(rows, margin=0.1) == []
