"""Plateaus that differ by flows, directions of unlike plateaus, declines, flows at small windows."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from flowsweep.analysis.findings.direction import direction_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.flows import effects_at_equal_windows
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.plateau.decline import decline_hypotheses
from flowsweep.analysis.findings.plateau.hypotheses import plateau_hypotheses
from flowsweep.analysis.statistics.observations import Observations, observations
from response_campaigns import flows_apart
from synthetic_campaigns import KIB, Grid, Row, campaign

SUMS = tuple(KIB * size for size in (32, 64, 128, 256, 512, 1024))
ONE_FLOW = Grid(flows=(1,), window_sums=SUMS, directions=(("a", "b"),), noise=0.02)


def one_sweep(rows: Sequence[Row]) -> Observations:
    [observed] = observations(rows)
    return observed


def plateaus_of(rows: Sequence[Row], kind: str = "plateau") -> list[Finding]:
    observed = one_sweep(rows)
    told = decided([*plateau_hypotheses(observed), *decline_hypotheses(observed)])
    return [each for each in told if each.kind == kind and each.axis == "window_sum_bytes"]


def test_the_plateau_is_told_per_number_of_flows_where_it_differs() -> None:
    one, four = plateaus_of(campaign(flows_apart(), 1))
    assert one.claim.startswith(
        "a → b, 1 flow: 48 KiB is too small; which window sum is enough is undecided: 96 KiB looks like the "
        "smallest, with a geometric mean of 14."
    )
    assert one.claim.endswith(" Mbit/s from there on, but none is shown to be enough.")
    linked, _ = plateaus_of([row | {"link_payload_bps": 15e6} for row in campaign(flows_apart(), 1)])
    assert re.search(
        r"a → b, 1 flow: 96 KiB sufficed, since it has 9\d\.\d % of the 15\.0 Mbit/s that the link carries, "
        r"48 KiB did not suffice\.$",
        linked.claim,
    )
    assert four.claim.startswith("a → b, 4 flows: goodput has not reached its plateau up to 192 KiB")
    assert "told apart by number of flows; a level's noise is that over all of them where it is" in one.method
    [declines, *_] = plateaus_of(campaign(flows_apart(), 1), "decline")
    assert "told apart by number of flows; a level's noise" in declines.method


def test_plateaus_of_flows_that_differ_in_height_only_are_told_apart() -> None:
    def higher(row: Row) -> float:
        return math.log(1 + row["flows"]) + min(0.0, math.log(row["window_sum_bytes"] / (128 * KIB)))

    told = plateaus_of(campaign(replace(ONE_FLOW, flows=(1, 4), effect=higher), 2))
    assert [each.claim.split(":")[0] for each in told] == ["a → b, 1 flow", "a → b, 4 flows"]


def test_plateaus_that_do_not_differ_stay_together() -> None:
    def alike(row: Row) -> float:
        return min(0.0, math.log(row["window_sum_bytes"] / (128 * KIB)))

    grid = replace(ONE_FLOW, flows=(1, 4), effect=alike)
    split = sum(len(plateaus_of(campaign(grid, seed))) > 1 for seed in range(60))
    assert split <= 7  # 5 % each: P(more) < 0.01


def both_ways(fast: float, slow: float) -> Grid:
    """A path of one rate one way and another the other, windows as seed 000 has them."""

    def limited(row: Row) -> float:
        ceiling = fast if row["dst"] == "b" else slow
        return math.log(min(ceiling, 90 * row["window_sum_bytes"] / SUMS[-1]) / 90)

    return replace(ONE_FLOW, directions=(("a", "b"), ("b", "a")), effect=limited)


def test_directions_are_compared_by_their_plateaus() -> None:
    [told] = decided(direction_hypotheses(one_sweep(campaign(both_ways(50, 20), 1))))
    assert told.decision == "effect"
    assert told.effect == pytest.approx(150, abs=12)
    assert told.claim.startswith("a → b is 14")
    assert re.search(r"; this rests on the \d+ of \d+ trials on the plateau, with up to ", told.claim)


def test_window_limited_points_make_no_direction_faster() -> None:
    """Below the plateau one direction is slower by its round trip, on it there is no difference."""

    def later(row: Row) -> float:
        return min(0.0, math.log(row["window_sum_bytes"] / (300 * KIB if row["dst"] == "b" else 200 * KIB)))

    grid = replace(ONE_FLOW, directions=(("a", "b"), ("b", "a")), effect=later)
    told = [decided(direction_hypotheses(one_sweep(campaign(grid, seed))))[0] for seed in range(60)]
    assert sum(each.decision == "effect" for each in told) <= 7
    assert sum(each.interval_low <= 0 <= each.interval_high for each in told) >= 51


def test_directions_without_a_common_plateau_are_compared_as_a_whole() -> None:
    """One way goodput falls where it has just begun to be enough the other way."""

    def crossing(row: Row) -> float:
        place = SUMS.index(row["window_sum_bytes"])
        return math.log(
            (1, 1, 1, 0.3, 0.3, 0.3)[place] if row["dst"] == "b" else (0.1, 0.1, 0.1, 0.5, 0.5, 0.5)[place]
        )

    grid = replace(ONE_FLOW, directions=(("a", "b"), ("b", "a")), effect=crossing)
    [told] = decided(direction_hypotheses(one_sweep(campaign(grid, 3))))
    assert told.effect == pytest.approx(100, abs=10)
    assert "plateaus a pair" in told.method


def falling(depth: float, of: int) -> Grid:
    """Goodput falls by a depth over the last windows."""
    return replace(
        ONE_FLOW,
        effect=lambda row: -depth * max(0, SUMS.index(row["window_sum_bytes"]) - (len(SUMS) - 1 - of)) / of,
    )


def test_a_decline_at_large_windows_is_found() -> None:
    """Of three standard deviations, in a campaign of today's size; and in six windows of three repeats."""
    today = replace(falling(0.06, 1), flows=(1, 2, 4, 8, 16))
    found = [plateaus_of(campaign(today, seed), "decline")[0] for seed in range(30)]
    assert sum(each.decision == "effect" for each in found) >= 27
    [told] = plateaus_of(campaign(falling(0.3, 2), 1), "decline")
    assert told.decision == "effect"
    assert told.effect == pytest.approx(-26, abs=4)
    assert told.claim.startswith("a → b: goodput declines at large windows: −2")
    assert " in the mean over a trial at 1 MiB against 32 KiB … 128 KiB; the highest mean" in told.claim


def test_a_decline_says_how_much_of_a_short_trial_counts_and_what_keeps_it_open() -> None:
    """Its interval excluded 0, and "the trials do not exclude chance" stood beside it."""
    rows = [row | {"duration_s": 1.4, "omit_s": 0.4} for row in campaign(falling(0.3, 2), 1)]
    [told] = plateaus_of(rows, "decline")
    assert " in the mean over the 1.00 s of a trial that count at 1 MiB against " in told.claim
    assert told.claim.endswith(" These trials do not tell what a longer one loses.")
    [asked] = decline_hypotheses(one_sweep(campaign(falling(0.1, 2), 1)))
    assert asked.p_value is not None
    assert asked.p_value < 0.05
    assert asked.say("undecided").endswith(
        f"; by itself that is beyond chance (p = {asked.p_value:.2g}), corrected for all that was tested it "
        "may be chance."
    )


def test_no_decline_is_claimed_of_a_plateau_or_a_dip() -> None:
    def dipping(row: Row) -> float:
        return -0.3 * (SUMS.index(row["window_sum_bytes"]) == 3)

    told = [plateaus_of(campaign(replace(ONE_FLOW, effect=effect), seed), "decline")[0]
            for effect in (lambda row: 0.0, dipping) for seed in range(40)]  # fmt: skip
    assert sum(each.decision == "effect" for each in told) <= 8


def granular(seed: int, *, known: bool = True) -> list[Row]:
    """Small windows come in steps: of 16 KiB four flows can use 38 % less than one; nothing else differs."""
    sums = tuple(KIB * size for size in (16, 64, 192, 384))

    def usable(row: Row) -> float:
        return row["window_sum_bytes"] * (
            1.33 if row["window_sum_bytes"] > 16 * KIB or row["flows"] == 1 else 0.83
        )

    grid = replace(
        ONE_FLOW, flows=(1, 2, 4), window_sums=sums, repeats=6,
        effect=lambda row: min(0.0, math.log(usable(row) / (150 * KIB))),
    )  # fmt: skip
    rows = campaign(grid, seed)
    return [row | {"window_usable_bytes": usable(row) / row["flows"] if known else None} for row in rows]


def flows_finding(rows: Sequence[Row]) -> Finding:
    [told] = [each for each in decided(effects_at_equal_windows(one_sweep(rows))) if each.kind == "flows"]
    return told


def test_steps_of_small_windows_are_no_effect_of_the_number_of_flows() -> None:
    assert flows_finding(granular(1, known=False)).decision == "effect"
    told = flows_finding(granular(1))
    assert told.decision != "effect"
    assert told.effect == pytest.approx(0, abs=2)
    assert "not compared where usable windows differ by up to 60" in told.claim
    assert "at a window sum of 16 KiB" in told.claim


def test_an_effect_of_flows_at_equal_windows_is_found_all_the_same() -> None:
    rows = [
        row | {"goodput_bps": row["goodput_bps"] * (0.9 if row["flows"] == 4 else 1)} for row in granular(2)
    ]
    assert flows_finding(rows).decision == "effect"


def test_flows_that_are_limited_by_unlike_windows_everywhere_are_not_compared() -> None:
    below = [row for row in granular(3) if row["window_sum_bytes"] <= 16 * KIB]
    more = [
        row | {"trial_id": f"more {row['trial_id']}", "order_index": row["order_index"] + 1000}
        | {name: 2 * row[name] for name in ("window_sum_bytes", "window_usable_bytes", "goodput_bps")}
        for row in below
    ]  # fmt: skip
    top = [
        row | {"flows": 1} for row in granular(3) if row["flows"] == 1 and row["window_sum_bytes"] > 64 * KIB
    ]
    told = flows_finding([*below, *more, *top])
    assert told.decision == "undecided"
    assert told.claim.startswith(
        "Whether the number of flows matters at equal window sum is undecided: usable "
    )
