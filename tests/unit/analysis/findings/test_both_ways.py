"""What traffic both ways at once costs a direction, where the campaign has it both ways."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from flowsweep.analysis.findings.both_ways import _Compared, both_ways_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.statistics.observations import DIRECTION, Observations


def trials(sweep: str, rate_bps: float, *, flows: int = 1, repeats: int = 3, **more: Any) -> Observations:
    """Repeats that differ by a percent."""
    both = sweep == "together"
    rows: Any = tuple(
        {
            "trial_id": f"{sweep}-{flows}-{repeat}", "sweep": sweep, "repeat": repeat, "src": "a", "dst": "b",
            "simultaneous": both, DIRECTION: "a ⇄ b" if both else "a → b", "test": "tcp", "flows": flows,
            "goodput_bps": rate_bps * (1 + at / 100), **more,
        }
        for repeat, at in zip(range(1, repeats + 1), (-1, 0, 1), strict=False)
    )  # fmt: skip
    return Observations(sweep, "copy", rows, ())


def told(*campaign: Observations) -> list[Finding]:
    return decided(list(both_ways_hypotheses(campaign)))


def test_what_traffic_both_ways_costs_is_told() -> None:
    [found] = told(trials("turns", 57.9e6), trials("together", 12.0e6))
    assert (found.decision, found.kind, found.axis, found.n) == ("effect", "direction", "simultaneous", 6)
    assert found.claim == (
        "a → b: traffic both ways at once takes goodput from 57.9 Mbit/s to 12.0 Mbit/s, −79.3 % [−79.3, "
        "−79.2]."
    )
    assert found.effect == pytest.approx(-79.27, abs=0.01)
    [alike] = told(trials("turns", 57.9e6), trials("together", 57.8e6))
    assert (alike.decision, "by less than 3 %" in alike.claim) == ("no practical effect", True)


def test_repeats_that_have_only_one_way_have_no_part_in_the_goodputs() -> None:
    """It was "from 812 Mbit/s to 400 Mbit/s": seven repeats that ran only alone carried the double."""
    alone, both = trials("turns", 500e6), trials("together", 400e6)
    more = tuple(
        alone.rows[0] | {"trial_id": f"alone-{repeat}", "repeat": repeat, "goodput_bps": 1000e6}
        for repeat in range(4, 11)
    )
    once = (both.rows[0] | {"trial_id": "once-11", "repeat": 11, "goodput_bps": 40e6},)
    [found] = told(replace(alone, rows=(*more, *alone.rows)), replace(both, rows=(*once, *both.rows)))
    assert "takes goodput from 500 Mbit/s to 400 Mbit/s, −20.0 % [" in found.claim
    assert found.n == 6
    assert set(found.evidence) == {row["trial_id"] for one in (alone, both) for row in one.rows}
    assert found.method.startswith("paired differences of mean log goodput, 3 repeats;")


def test_of_several_settings_the_one_that_differs_most_is_named() -> None:
    [found] = told(
        trials("turns", 57.9e6), trials("turns", 57.9e6, flows=4),
        trials("together", 50.0e6), trials("together", 12.0e6, flows=4),
    )  # fmt: skip
    assert found.claim.endswith("to 12.0 Mbit/s, −79.3 % [−79.3, −79.2] (4 flows).")


def test_a_setting_that_scatters_does_not_hide_one_that_is_certain() -> None:
    """−33 % of one flow in the mean, by repeats of −74 % to +64 %, hid −21 % of four flows: "undecided"."""
    noisy = trials("together", 38.0e6)
    for row, times in zip(noisy.rows, (0.4, 0.5, 2.5), strict=True):
        row["goodput_bps"] *= times
    [found] = told(
        trials("turns", 57.9e6), noisy, trials("turns", 57.9e6, flows=4), trials("together", 46e6, flows=4)
    )
    assert (found.decision, found.effect) == ("effect", pytest.approx(-20.55, abs=0.01))
    assert found.claim.endswith(" (4 flows).")


def test_the_interval_is_as_wide_as_the_choice_among_settings_asks_for() -> None:
    """Of 20 settings without an effect the 95 % interval of the most extreme one missed 0 in 23 %."""
    noise = np.random.default_rng(1).standard_normal((200, 20, 3))
    missed = 0
    for campaign in noise:
        compared = [_Compared((), (), tuple(map(float, logs))) for logs in campaign]
        most = min(compared, key=lambda one: one.p_value)
        _, low, high = most.estimate(20)
        missed += not low <= 0 <= high
        assert (low <= 0 <= high) == (20 * most.p_value >= 0.05)
    assert missed <= 20, "5 % of 200 are 10, with a standard deviation of 3"
    [found] = told(
        trials("turns", 57.9e6), trials("turns", 57.9e6, flows=4),
        trials("together", 50.0e6), trials("together", 12.0e6, flows=4),
    )  # fmt: skip
    assert found.method.endswith("; t interval; p and interval after Bonferroni over 2 settings")


def test_trials_beside_unlike_amounts_of_background_are_no_pair() -> None:
    beside = {"background": ["datagrams"], "flows_beside": 1}
    alone, both = trials("turns", 57.9e6, **beside), trials("together", 12.0e6, **beside)
    more = trials("together", 12.0e6, **beside | {"flows_beside": 8})
    assert told(alone, more) == []
    asked = {row["trial_id"]: rate for one, rate in ((alone, 5), (both, 5)) for row in one.rows}
    assert len(list(both_ways_hypotheses([alone, both], asked_bps=asked))) == 1
    faster = asked | {row["trial_id"]: 50 for row in both.rows}
    assert list(both_ways_hypotheses([alone, both], asked_bps=faster)) == []


@pytest.mark.parametrize("unlike", [{"flows": 4}, {"repeats": 2}, {"background": ["cubic"]}])
def test_only_like_settings_with_repeats_are_compared(unlike: dict[str, Any]) -> None:
    assert told(trials("turns", 57.9e6), trials("together", 12.0e6, **unlike)) == []
