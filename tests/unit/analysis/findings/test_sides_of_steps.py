"""Levels are compared on each side of a step: what differs between sides is no effect of a level."""

import math
from dataclasses import replace

import numpy as np
import pytest
from test_imported_order import imported
from test_time_by_direction import ran

from flowsweep.analysis.findings.direction import direction_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.steps import sides_of
from flowsweep.analysis.findings.topics import findings, repeat_hypotheses
from flowsweep.analysis.statistics.observations import observations
from synthetic_campaigns import KIB, Row

_COUNT = 240
_HALF = _COUNT // 2
_STEP = 1.6
_MBPS = 600


def hourly(seed: int, bbr: float = 1.0, *, steps: tuple[int, ...] = (_HALF,), rare: float = 0.1) -> list[Row]:
    """Hourly trials from 09:00 on, of which few are of bbr, and few of cubic after each step up; or down."""
    generator = np.random.default_rng(seed)
    after = np.searchsorted(steps, np.arange(_COUNT), side="right") % 2 == 1
    of_bbr = (generator.random(_COUNT) < rare) ^ after
    goodput = _MBPS * np.exp(0.01 * generator.standard_normal(_COUNT))
    goodput *= np.where(of_bbr, bbr, 1) * np.where(after, _STEP, 1)
    return imported(
        [
            (60 * number, "bbr" if own else "cubic", KIB, "a", float(mbps))
            for number, (own, mbps) in enumerate(zip(of_bbr, goodput, strict=True))
        ]
    )


def told(rows: list[Row]) -> dict[str, Finding]:
    return {found.kind: found for found in findings(rows)}


def change(found: Finding) -> tuple[float, float, float]:
    """In percent from cubic to bbr, with its interval: an effect is of either sign."""
    assert found.effect is not None
    assert found.interval_low is not None
    assert found.interval_high is not None
    return found.effect, found.interval_low, found.interval_high


@pytest.mark.parametrize(
    "seed", [1, 3, *(pytest.param(seed, marks=pytest.mark.long) for seed in (0, 2, 4, 5, 6, 7))]
)
def test_a_step_is_no_effect_of_the_level_that_was_rare_before_it(seed: int) -> None:
    """It was "with bbr goodput is 60.4 % higher"; the trials that say otherwise were left out as unusual."""
    found = told(hourly(seed))
    assert found["step"].decision == "effect"
    congestion = found["congestion"]
    assert congestion.decision == "no practical effect"
    _, low, high = change(congestion)
    assert -1.5 < low < high < 1.5
    assert "no practical effect (compared on each side of the step)." in congestion.claim
    assert "left out" not in congestion.claim
    assert congestion.n == _COUNT


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (0, 2, 3, 4, 5))]
)
def test_an_effect_on_both_sides_of_a_step_is_found_with_its_size(seed: int) -> None:
    """It was 92.5 % of 20 %."""
    found = told(hourly(seed, 1.2))
    assert found["step"].decision == found["congestion"].decision == "effect"
    effect, low, high = change(found["congestion"])
    assert effect == pytest.approx(20, abs=1.2)
    assert high - low < 2
    assert "higher than with cubic (compared on each side of the step)." in found["congestion"].claim
    assert found["congestion"].method.endswith("; permutation within blocks: p = 0.001")


def test_levels_as_frequent_before_a_step_as_after_it_are_alike_and_only_the_step_is_claimed() -> None:
    rows = hourly(1, rare=0.5)
    found = told(rows)
    assert [one.kind for one in found.values() if one.decision == "effect"] == ["step"]
    assert found["congestion"].decision == "no practical effect"


def test_goodput_that_steps_up_and_comes_back_has_three_sides() -> None:
    """Cubic is rare between the steps alone."""
    found = told(hourly(1, steps=(80, 160)))
    assert "in two steps" in found["step"].claim
    assert found["congestion"].decision == "no practical effect"
    assert max(map(abs, change(found["congestion"]))) < 1.5


def test_levels_that_have_a_side_each_are_not_told_apart_from_the_step() -> None:
    """Trials of which no file says the level show the step; it was "with bbr goodput is 60 % higher"."""
    rows = hourly(1, rare=0.0)
    for row in rows[::2]:
        row |= {"congestion_asked": None, "congestion": None}
    found = told(rows)
    assert found["step"].decision == "effect"
    assert found["congestion"].decision == "undecided"
    assert found["congestion"].claim == (
        "Whether the congestion control matters is undecided: no two of its levels can be compared on the "
        "same side of the step in goodput, which cannot be told apart from them."
    )


def test_a_path_keeps_the_sides_of_its_own_steps() -> None:
    rows = hourly(1)
    (observed,) = observations(rows)
    steps = [one for one in repeat_hypotheses(observed) if one.kind == "step"]
    [since] = steps[0].since
    assert set(since) == {row["trial_id"] for row in rows[_HALF:]}
    first = {row["trial_id"] for row in rows[10:20]}
    two = [replace(steps[0], since=(tuple(first),)), *steps]
    assert sides_of(two) == dict.fromkeys(first, 1) | dict.fromkeys(since, 2)


def both_ways(seed: int, step: float, at: int, *, both: bool = False) -> list[Row]:
    """Trials of a and b in turn, 40 of each; those of a, or of both, change from one on."""
    trials = [(src, 1 << 20, repeat) for repeat in range(1, 41) for src in "ab"]

    def effect(trial: tuple[str, int, int], number: int) -> float:
        return (0.1 if trial[0] == "a" else 0.0) + (
            math.log(step) if number >= at and (both or trial[0] == "a") else 0.0
        )

    return ran(trials, noise=0.02, effect=effect, seed=seed)


def test_the_direction_that_is_faster_is_the_one_that_is_so_since_the_step() -> None:
    """a was 10.5 % faster and is 39 % slower since: of all trials it was 18 % slower, at no time."""
    found = findings(both_ways(1, 0.55, 40))
    assert [one.direction for one in found if (one.kind, one.decision) == ("step", "effect")] == ["a → b"]
    [direction] = [one for one in found if one.kind == "direction"]
    assert direction.direction == "b → a"
    assert direction.effect == pytest.approx(100 * (1 / 0.55 / math.exp(0.1) - 1), rel=0.05)
    assert direction.claim.startswith("b → a is ")
    assert direction.claim.endswith(" faster than a → b since goodput stepped.")
    assert direction.n == 40
    assert "trials since the last step" in direction.method


def test_directions_that_step_together_are_as_far_apart_as_before() -> None:
    direction = told(both_ways(2, 0.55, 40, both=True))["direction"]
    assert direction.effect == pytest.approx(100 * (math.exp(0.1) - 1), rel=0.1)
    assert direction.claim.endswith(" faster than b → a since goodput stepped.")


@pytest.mark.parametrize(("ran", "why"), [(80, "only one repeat has both"), (79, "no repeat has both")])
def test_less_than_two_repeats_since_the_step_tell_nothing_of_directions(ran: int, why: str) -> None:
    [observed] = observations(both_ways(3, 0.55, 78)[:ran])
    late = {row["trial_id"]: 1 for row in observed.rows if row["src"] == "a" and row["order_index"] >= 78}
    [found] = direction_hypotheses(replace(observed, sides=late))
    said = f"Whether a → b or b → a is faster since goodput stepped is undecided: {why}."
    assert (found.say("undecided"), found.untestable) == (said, True)
