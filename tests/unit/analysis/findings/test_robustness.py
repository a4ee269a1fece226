"""Trials that stalled: they hide no effect, make none, and are named; nobody else is."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from flowsweep.analysis.findings.effects import effect_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.outliers import outlier_hypotheses
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.statistics.repeat_noise import repeat_noise
from flowsweep.analysis.statistics.usual_trials import usual_trials
from synthetic_campaigns import KIB, Grid, Row, campaign, heavy_tailed

STALLED = 0.1
TEN_PERCENT = math.log(1.1)
CAMPAIGNS = 60
WINDOW = "window_sum_bytes"
ONE_WAY = (("a", "b"),)
TWENTY = Grid(flows=(1,), window_sums=(512 * KIB, 1024 * KIB), directions=ONE_WAY, repeats=10)
FIVE_REPEATS = replace(TWENTY, window_sums=(512 * KIB, 1024 * KIB, 2048 * KIB, 4096 * KIB), repeats=5)


def with_stalls(grid: Grid, seed: int, *, share: float = 0.0, count: int = 0) -> tuple[list[Row], set[str]]:
    rows = campaign(grid, seed)
    generator = np.random.default_rng((7, seed))
    if share:
        stalled = np.flatnonzero(generator.random(len(rows)) < share)
    else:
        stalled = generator.choice(len(rows), count, replace=False)
    for place in stalled:
        rows[place]["goodput_bps"] *= STALLED
    return rows, {rows[place]["trial_id"] for place in stalled}


def effects(rows: Sequence[Row]) -> list[Finding]:
    [observed] = observations(rows)
    return decided(effect_hypotheses(observed))


def outliers(rows: Sequence[Row]) -> Finding:
    [observed] = observations(rows)
    [finding] = decided(outlier_hypotheses(observed, repeat_noise(design(observed))))
    return finding


def grown(row: Row) -> float:
    return TEN_PERCENT * (row[WINDOW] > 512 * KIB)


def test_one_stalled_trial_of_twenty_hides_no_effect_of_ten_percent() -> None:
    found = 0
    for seed in range(CAMPAIGNS):
        rows, _ = with_stalls(replace(TWENTY, effect=grown), seed, count=1)
        [window] = effects(rows)
        found += window.decision == "effect" and window.interval_low > 0
    assert found >= 0.95 * CAMPAIGNS
    assert " (1 trial left out: unusual, or the counterpart of one)." in window.claim


def test_three_stalled_trials_of_twenty_are_named_and_nobody_else() -> None:
    named = innocent = 0
    for seed in range(CAMPAIGNS):
        rows, stalled = with_stalls(FIVE_REPEATS, seed, count=3)
        told = outliers(rows)
        named += stalled <= set(told.evidence)
        innocent += "carried less than half" in told.claim and bool(set(told.evidence) - stalled)
    # Three of the five repeats of one point may have stalled: then nobody knows which are unusual.
    assert named >= 0.95 * CAMPAIGNS
    assert innocent <= 0.1 * CAMPAIGNS


def test_stalls_are_counted_apart() -> None:
    rows, stalled = with_stalls(FIVE_REPEATS, 1, count=3)
    told = outliers(rows)
    assert told.claim.startswith(
        "3 of 20 trials carried less than half of the goodput expected from the repeats: "
    )
    assert all(f"{trial} (a → b, window sum " in told.claim for trial in stalled)
    assert told.effect == pytest.approx(-90, abs=1)


def test_one_stalled_trial_of_120_accuses_no_innocent_ones() -> None:
    for seed in range(CAMPAIGNS):
        rows, stalled = with_stalls(Grid(), seed, count=1)
        assert set(outliers(rows).evidence) == stalled


@pytest.mark.parametrize("grid", [Grid(), replace(Grid(), draw=heavy_tailed), TWENTY, FIVE_REPEATS])
def test_nobody_stands_out_from_noise_normal_or_with_heavy_tails(grid: Grid) -> None:
    named = sum(
        "No trial stands out" not in outliers(campaign(grid, seed)).claim for seed in range(CAMPAIGNS)
    )
    assert named <= 0.1 * CAMPAIGNS  # 5 % of 60 are 3: more than 6 have a probability of 3 %


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_stalls_at_random_make_no_effect(missing: float) -> None:
    false = covered = 0
    for seed in range(CAMPAIGNS):
        rows, _ = with_stalls(Grid(), seed, share=0.05)
        kept = np.random.default_rng((8, seed)).random(len(rows)) >= missing
        found = effects([row for row, known in zip(rows, kept, strict=True) if known])
        false += any(one.decision == "effect" for one in found)
        covered += sum(one.interval_low <= 0 <= one.interval_high for one in found)
    assert false <= 0.1 * CAMPAIGNS
    assert covered >= 0.88 * 2 * CAMPAIGNS


def test_of_two_repeats_the_one_that_fills_its_link_is_not_the_unusual_one() -> None:
    rows = campaign(replace(Grid(flows=(1, 2), noise=0.001, block=0.0), repeats=2), 1)
    for row in rows:
        row["link_payload_bps"] = 90.5e6
    rows[5]["goodput_bps"] *= 0.7
    told = outliers(rows)
    assert told.claim.startswith(f"1 trial stands out from the repeats: {rows[5]['trial_id']} (")
    assert "% less goodput in its median interval (mean 8" in told.claim
    [scatter] = [one.claim for one in findings(rows) if one.kind == "variation"]
    assert " % without the one that stands out" in scatter, "it was most of what they scatter by"
    assert "more goodput" not in told.claim


def test_three_repeats_of_which_two_are_slow_accuse_none() -> None:
    rows = campaign(Grid(flows=(1, 2), noise=0.01), 1)
    point = ("src", "flows", WINDOW)
    slow = [row for row in rows if all(row[name] == rows[5][name] for name in point)]
    for row in slow[:2]:
        row["goodput_bps"] *= STALLED
    told = outliers(rows)
    assert set(told.evidence) == {row["trial_id"] for row in slow}
    assert "which of them is unusual is not known" in told.claim


def rising(row: Row) -> float:
    """Windows limit: goodput is proportional to them."""
    return math.log(row[WINDOW] / (4096 * KIB))


def with_a_fast_one(window: int, repeats: int = 3) -> tuple[list[Row], Row]:
    """One repeat at a window has ten times as much as the others there."""
    rows = campaign(replace(FIVE_REPEATS, repeats=repeats, effect=rising), 1)
    fast = [row for row in rows if row[WINDOW] == window][1]
    fast["goodput_bps"] *= 10
    fast["goodput_mean_bps"] = fast["goodput_bps"]
    return rows, fast


@pytest.mark.parametrize("repeats", [3, 4])
def test_the_repeat_that_differs_from_the_others_is_named_and_not_the_slowest_of_these(repeats: int) -> None:
    """An ordinary trial was said to have 90 % less than the fastest; the window was undecided."""
    rows, fast = with_a_fast_one(1024 * KIB, repeats)
    told = outliers(rows)
    assert told.claim.startswith(f"1 trial stands out from the repeats: {fast['trial_id']} (")
    assert f" times the goodput of the other {repeats - 1}, which agree within " in told.claim
    assert told.claim.endswith(", and over twice that of any other point.")
    [window] = effects(rows)
    assert window.decision == "effect"
    assert " (1 trial left out: unusual, or the counterpart of one)." in window.claim
    grid = design(observations(rows)[0])
    assert set(grid.trials) - set(usual_trials(grid)[0].trials) == {fast["trial_id"]}


def test_a_fast_repeat_at_the_largest_window_may_be_what_that_window_carries() -> None:
    rows, fast = with_a_fast_one(4096 * KIB)
    told = outliers(rows)
    assert f"{fast['trial_id']} (a → b, window sum 4 MiB, repeat 2, " in told.claim
    assert " times the goodput of the other 2, which agree within " in told.claim
    assert told.claim.endswith("; which of them is unusual is not known.")


def test_others_that_differ_themselves_are_not_said_to_agree() -> None:
    rows, fast = with_a_fast_one(1024 * KIB)
    other = next(row for row in rows if row[WINDOW] == fast[WINDOW] and row is not fast)
    other["goodput_bps"] *= 1.6
    told = outliers(rows)
    assert f"{fast['trial_id']} (a → b, window sum 1 MiB, repeat 2, " in told.claim
    assert " times the goodput of the other 2 in the median; which of them is unusual is " in told.claim


def test_of_three_repeats_that_all_differ_none_is_the_exception() -> None:
    """Two of them were called outliers, and the whole point was left out of effects."""
    rows = campaign(Grid(flows=(1, 2), directions=(("a", "b"),), noise=0.01, block=0.0), 1)
    own = [row for row in rows if (row["flows"], row[WINDOW]) == (rows[5]["flows"], rows[5][WINDOW])]
    for row, bps in zip(own, (7.8e6, 17.8e6, 31.9e6), strict=True):
        row["goodput_bps"] = bps
    told = outliers(rows)
    assert told.claim.startswith("No trial stands out from its repeats: ")
    assert "Repeats scatter where none of them is the exception: the 3 of a → b, " in told.claim
    assert told.claim.endswith(" differ by up to 4.09 times.")
    (observed,) = observations(rows)
    left, left_out = usual_trials(design(observed))
    assert (len(left.trials), left_out.trials, left_out.points) == (24, 0, 0)


def test_a_point_of_which_no_trial_is_left_is_counted() -> None:
    rows = campaign(replace(Grid(flows=(1, 2), noise=0.01, block=0.0), repeats=2), 1)
    rows[5]["goodput_bps"] *= STALLED
    (observed,) = observations(rows)
    _, left_out = usual_trials(design(observed))
    assert (left_out.trials, left_out.points, left_out.of_points) == (4, 1, 8)


def test_the_pair_that_was_tested_is_the_one_that_is_told() -> None:
    """A level between the ends is above the lowest, for certain; whether the highest is nobody knows."""

    def uneven(row: Row) -> float:
        return {1024 * KIB: 0.04, 2048 * KIB: 0.01, 4096 * KIB: 0.01}.get(row[WINDOW], 0.0)

    claimed = between = 0
    for seed in range(CAMPAIGNS):
        for one in effects(campaign(Grid(effect=uneven), seed)):
            denied = one.interval_low <= 0 <= one.interval_high
            assert one.decision != "effect" or not denied, one.claim
            if one.decision == "effect" and one.axis == WINDOW:
                claimed += 1
                between += "at 1 MiB" in one.claim
    assert claimed >= 0.9 * CAMPAIGNS
    assert between >= 0.9 * claimed


def test_a_claim_that_many_hypotheses_make_uncertain_says_why() -> None:
    seen = 0
    for seed in range(CAMPAIGNS):
        for one in effects(campaign(Grid(effect=lambda row: 0.02 * grown(row) / TEN_PERCENT), seed)):
            if one.decision == "undecided" and not one.interval_low <= 0 <= one.interval_high:
                seen += 1
                assert one.claim.endswith(
                    "; corrected for all that was tested, or by permutation, it may be chance."
                ) or ("in some part of the grid" in one.claim)
    assert seen >= 10, "of 13"


def test_figures_that_a_tool_rounded_to_equal_ones_tell_no_effect() -> None:
    grid = replace(TWENTY, noise=0.0, block=0.0, repeats=3)
    rows = [row | {"goodput_bps": 9.42e9 if grown(row) else 9.41e9} for row in campaign(grid, 1)]
    assert effects(rows)[0].decision != "undecided"
    [window] = effects([row | {"imported_from": "iperf2 a.txt"} for row in rows])
    assert (window.decision, window.p_value, window.interval_low) == ("undecided", None, None)
    assert "equal since rounded" in window.claim
    next(row for row in rows if not grown(row))["goodput_bps"] = 9.42e9
    [varied] = effects([row | {"imported_from": "iperf2 a.txt"} for row in rows])
    assert varied.interval_low is not None


RISING = Grid(
    flows=(1, 8), window_sums=tuple(64 * KIB * 4**step for step in range(5)), directions=ONE_WAY, noise=0.01,
    block=0.0, effect=lambda row: math.log(row[WINDOW]),
)  # fmt: skip


def once_at(rows: Sequence[Row], flows: int, window: int) -> list[Row]:
    """All but one of the repeats at one point failed."""
    return [row for row in rows if row["repeat"] == 1 or (row["flows"], row[WINDOW]) != (flows, window)]


@pytest.mark.parametrize("flows", [1, 8])
def test_the_smallest_window_is_not_unusual_since_larger_ones_carry_more(flows: int) -> None:
    """It was left out where it ran once: nearly all points that differ in one axis have larger windows."""
    (observed,) = observations(once_at(campaign(RISING, 1), flows, 64 * KIB))
    grid = design(observed)
    assert set(grid.axes) == {"flows", WINDOW}
    assert usual_trials(grid) == (grid, (0, 0, 10))


@pytest.mark.parametrize("flows", [1, 8])
def test_the_smallest_window_per_flow_is_none_either(flows: int) -> None:
    """One flow of it has less than all others, as the windows next to it let expect."""
    rows = once_at(campaign(RISING, 1), flows, 64 * KIB)
    for row in rows:
        window = row[WINDOW]
        row.update(dict.fromkeys(("window_bytes", "window_send_bytes", "window_recv_bytes"), window))
        row.update({WINDOW: window * row["flows"], "goodput_bps": row["goodput_bps"] * row["flows"]})
    (observed,) = observations(rows)
    grid = design(observed)
    assert set(grid.axes) == {"flows", "window_bytes"}
    assert usual_trials(grid) == (grid, (0, 0, 10))


@pytest.mark.parametrize("step", range(5))
def test_what_stalled_where_it_ran_once_is_left_out_at_any_window(step: int) -> None:
    flat = replace(RISING, flows=(1, 4, 8), effect=lambda row: 0.0)
    rows = once_at(campaign(flat, 1), 8, flat.window_sums[step])
    [own] = [row for row in rows if (row["flows"], row[WINDOW]) == (8, flat.window_sums[step])]
    own["goodput_bps"] *= STALLED
    (observed,) = observations(rows)
    left, left_out = usual_trials(design(observed))
    assert left_out == (1, 1, 15)
    assert own["trial_id"] not in left.trials
