"""What traffic both ways at once costs a direction, where the campaign has it both ways."""

from typing import Any

import pytest

from flowsweep.analysis.findings.both_ways import both_ways_hypotheses
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


def test_of_several_settings_the_one_that_differs_most_is_named() -> None:
    [found] = told(
        trials("turns", 57.9e6), trials("turns", 57.9e6, flows=4),
        trials("together", 50.0e6), trials("together", 12.0e6, flows=4),
    )  # fmt: skip
    assert found.claim.endswith("to 12.0 Mbit/s, −79.3 % [−79.3, −79.2] (4 flows).")


@pytest.mark.parametrize("unlike", [{"flows": 4}, {"repeats": 2}, {"background": ["cubic"]}])
def test_only_like_settings_with_repeats_are_compared(unlike: dict[str, Any]) -> None:
    assert told(trials("turns", 57.9e6), trials("together", 12.0e6, **unlike)) == []
