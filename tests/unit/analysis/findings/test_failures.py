"""Trials that fail or stall at some level: found where it is so, not claimed where it is chance."""

import re

import numpy as np
import pytest

from fates import Fate, an_outage, fail, half_of_the_slow_at_the_largest_window, one_of_twenty, some_stall
from flowsweep.analysis.findings.failures import failure_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.event_shares import Uneven
from long_tests import long_after
from synthetic_campaigns import KIB, Grid, campaign

COUNT = 100


def answers(fate: Fate, seed: int, grid: Grid | None = None) -> list[Finding]:
    rng = np.random.default_rng(seed)
    rows = campaign(grid or Grid(repeats=5), seed)
    fate(rng, rows)
    return decided(list(failure_hypotheses(rows)))


def test_half_the_trials_at_the_largest_window_fail() -> None:
    """The rest of them is fast: until now nothing was said of it."""
    rows = campaign(Grid(), 5)
    half_of_the_slow_at_the_largest_window(np.random.default_rng(5), rows)
    failed = sum(row["status"] == "failed" for row in rows)
    [found] = [finding for finding in findings(rows) if finding.kind == "failures"]
    assert found.decision == "effect"
    assert found.axis == "window_sum_bytes"
    assert found.claim == (
        f"{failed} of 120 trials failed ({100 * failed / 120:.3g} %), more at window sum 4 MiB ({failed} of "
        "30 at window sum 4 MiB, 0 of 90 elsewhere): goodput there is that of the trials that ended "
        "ok; it is too high if the slow ones are those that fail."
    )
    assert found.interval_low is not None
    assert 0 < found.interval_low < failed / 30 == found.effect
    assert len(found.evidence) == failed


@pytest.mark.parametrize("test", ["tcp", "rtt"])
def test_where_all_trials_fail_nothing_is_known(test: str) -> None:
    """Goodput there was said to be that of the trials that ended ok: none did."""
    rows = [
        row | {"test": test} for row in campaign(Grid(flows=(1, 2), directions=(("a", "b"),), repeats=5), 5)
    ]
    for row in rows:
        if row["window_sum_bytes"] == 512 * KIB:
            fail(row)
    unknown = "nothing is known of goodput" if test == "tcp" else "nothing was measured"
    [found] = [one for one in decided(list(failure_hypotheses(rows))) if one.kind == "failures"]
    assert found.decision == "effect"
    assert found.claim == (
        "10 of 40 trials failed (25.0 %), more at window sum 512 KiB (10 of 10 at window sum 512 KiB, 0 of "
        f"30 elsewhere): {unknown} there."
    )
    for row in rows:
        if row["window_sum_bytes"] != 4096 * KIB:
            fail(row)
    [found] = [one for one in decided(list(failure_hypotheses(rows))) if one.kind == "failures"]
    assert "fewer at window sum 4 MiB (0 of 10 at window sum 4 MiB, 30 of 30 elsewhere)" in found.claim
    assert found.claim.endswith(f": {unknown} elsewhere.")


@pytest.mark.parametrize(("count", "said"), [
    (5, "All 5 are those of b → a, window sum 4 MiB: nothing is known of goodput there."),
    (4, "All 4 are among the 5 of b → a, window sum 4 MiB."),
])  # fmt: skip
def test_failures_of_one_point_and_direction_name_it(count: int, said: str) -> None:
    """The window was said to fail, as if it did both ways."""
    rows = campaign(Grid(flows=(1,), repeats=5), 5)
    point = [row for row in rows if row["src"] == "b" and row["window_sum_bytes"] == 4096 * KIB]
    for row in point[:count]:
        fail(row)
    [found] = [one for one in decided(list(failure_hypotheses(rows))) if one.kind == "failures"]
    assert found.claim.endswith(f" {said}")


def test_failures_at_all_points_of_a_level_name_none_of_them() -> None:
    rows = campaign(Grid(repeats=5), 5)
    for row in rows:
        if row["window_sum_bytes"] == 4096 * KIB:
            fail(row)
    [found] = [one for one in decided(list(failure_hypotheses(rows))) if one.kind == "failures"]
    assert " those of " not in found.claim


@pytest.mark.long
@pytest.mark.parametrize(
    ("fate", "kind"),
    [(half_of_the_slow_at_the_largest_window, "failures"), (some_stall, "stalls")],
)
def test_power(fate: Fate, kind: str) -> None:
    found = [answers(fate, seed) for seed in range(COUNT)]
    told = [
        [one for one in hypotheses if one.kind == kind and one.decision == "effect"] for hypotheses in found
    ]
    assert sum("at window sum 4 MiB" in one.claim for (one,) in filter(None, told)) >= 0.9 * COUNT


@pytest.mark.parametrize("fate", long_after(1, of=[one_of_twenty, an_outage]))
def test_failures_at_random_are_told_and_nothing_is_claimed_of_levels(fate: Fate) -> None:
    """With a rate of 5 %, more than 11 of 100 have a chance of 0.4 %."""
    found = [answers(fate, seed) for seed in range(COUNT)]
    assert sum(one.decision == "effect" for hypotheses in found for one in hypotheses) <= 11
    fails = "too high if the slow ones are those that fail"
    assert all(fails in hypotheses[0].claim for hypotheses in found if hypotheses)


def test_a_direction_that_fails_is_named() -> None:
    rows = campaign(Grid(repeats=2), 6)
    for row in rows[::4]:
        if row["src"] == "b":
            fail(row)
    for row in rows:
        if row["src"] == "b" and row["order_index"] % 3 == 0:
            fail(row)
    [found] = decided(list(failure_hypotheses(rows)))
    assert found.decision == "effect"
    assert "more at b → a" in found.claim
    assert found.method.startswith("sign test, ")
    assert found.effect is not None
    assert (found.interval_low, found.interval_high) == (None, None), "directions are paired"


def test_directions_that_fail_together_are_no_more_than_one() -> None:
    """The interval was as narrow as if there were twice the repeats."""
    both = campaign(Grid(repeats=5), 6)
    for row in both:
        if row["window_sum_bytes"] == 4096 * KIB and row["repeat"] < 4:
            fail(row)
    alone = [row for row in both if row["src"] == "a"]
    of_both, of_one = (decided(list(failure_hypotheses(rows)))[0] for rows in (both, alone))
    assert (of_one.claim.split(",")[0], of_both.claim.split(",")[0]) == (
        "15 of 100 trials failed (15.0 %)", "30 of 200 trials failed (15.0 %)"
    )  # fmt: skip
    assert of_both.effect == of_one.effect
    assert of_both.p_value == of_one.p_value
    assert of_one.interval_high is not None
    assert of_one.interval_low < of_one.effect < of_one.interval_high
    assert of_both.interval_low == pytest.approx(of_one.interval_low, abs=0.01), "with one contrast more"
    assert of_both.interval_high == pytest.approx(of_one.interval_high, abs=0.01)


def test_the_interval_of_one_direction_is_newcombe_s() -> None:
    """Table II of his: 56 of 70 against 48 of 80, 0.0524 to 0.3339."""
    uneven = Uneven("flows", "", (56, 48), (70, 80), (70, 80), 0.01, 1, None)
    assert uneven.interval == pytest.approx((0.0524, 0.3339), abs=0.0001)


def test_a_few_slow_trials_are_no_second_kind_and_more_of_them_somewhere_may_be_chance() -> None:
    rows = campaign(Grid(directions=(("a", "b"), ("b", "a")), repeats=3), 8)
    for place in (0, 40):
        rows[place]["goodput_bps"] /= 10
    [found] = [one for one in decided(list(failure_hypotheses(rows))) if one.kind == "stalls"]
    assert found.decision == "undecided"
    assert found.claim.startswith(
        "2 of 120 trials carried less than 50.0 % of the median of their point (1.67 %)"
    )
    assert "; that there were more at " in found.claim
    assert found.claim.endswith(
        " elsewhere); goodput averaged over repeats is lower because of these trials."
    )
    fail(rows[1])
    [_, found] = decided(list(failure_hypotheses(rows)))
    assert found.claim.startswith("2 of 119 trials")
    sizes = [int(size) for size in re.findall(r"\d of (\d+) (?:there|elsewhere)", found.claim)]
    assert sum(sizes) == 118, "what failed was not slow, and the other direction beside it is not compared"
    for row in rows[:40:2]:
        row["goodput_bps"] /= 10
    [found] = [one for one in decided(list(failure_hypotheses(rows))) if one.kind == "stalls"]
    assert "is of two kinds of trials" in found.claim


def test_a_single_failure_is_described_with_its_interval() -> None:
    rows = campaign(Grid(repeats=1), 7)
    fail(rows[3])
    [found] = decided(list(failure_hypotheses(rows)))
    assert found.decision == "described"
    assert found.claim == (
        "1 of 40 trials failed (2.50 %); goodput is that of the trials that ended ok; it is too high if the "
        "slow ones are those that fail."
    )
    # Clopper and Pearson's limits of 1 in 40, as tables have them.
    assert (found.interval_low, found.interval_high) == pytest.approx((0.000633, 0.1316), rel=0.01)
    assert "failures" not in {one.kind for one in findings(campaign(Grid(repeats=1), 7))}


def test_trials_in_which_flows_broke_are_no_failures() -> None:
    rows = campaign(Grid(), 5)
    rows[3].update(status="incomplete", flows_broken=1)
    assert list(failure_hypotheses(rows)) == []
    rows[4].update(status="incomplete", flows_broken=0)
    [found] = failure_hypotheses(rows)
    assert found.say("described").startswith(f"1 of {len(rows) - 1} trials did not end ok (")


def test_of_probes_that_fail_nothing_is_said_of_goodput() -> None:
    rows = [{**row, "test": "rtt", "goodput_bps": None} for row in campaign(Grid(repeats=5), 3)]
    for row in rows[:3]:
        row["status"] = "failed"
    [found] = decided(list(failure_hypotheses(rows)))
    assert "goodput" not in found.claim
    assert "what was measured is that of the trials that ended ok" in found.claim
