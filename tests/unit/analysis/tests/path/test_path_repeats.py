"""What repeats that do not agree tell of a path: none of them stands for the others."""

from typing import Any

import pytest

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.tests.path import path_hypotheses
from synthetic_campaigns import EMPTY


def found_of(*trials: dict[str, Any]) -> list[Finding]:
    place = {"test": "path", "sweep": "p", "mode": None, "src": "a", "dst": "b", "status": "ok"}
    rows = [EMPTY | place | {"trial_id": str(number)} | one for number, one in enumerate(trials)]
    return decided(path_hypotheses(rows))


def carries(capacity_bps: float, **others: object) -> dict[str, Any]:
    ends = {
        "path_capacity_low_bps": 0.98 * capacity_bps,
        "path_capacity_high_bps": 1.02 * capacity_bps,
    }
    return {"path_capacity_bps": capacity_bps} | ends | others


def test_of_two_trials_the_first_does_not_stand_for_both() -> None:
    """They were "94 [92, 96]", and of 517 Mbit/s 50 to 495 were free."""
    first = carries(90e6, path_available_low_bps=0.0, path_available_high_bps=90e6)
    second = carries(1000e6, path_available_low_bps=200e6, path_available_high_bps=900e6)
    capacity, free = found_of(first, second)
    assert (capacity.effect, capacity.n) == (pytest.approx(300e6), 2)
    assert (capacity.interval_low, capacity.interval_high) == (pytest.approx(88.2e6), pytest.approx(1020e6))
    assert "the path carries 300 Mbit/s [88.2 Mbit/s, 1.02 Gbit/s] of IP packets" in capacity.claim
    assert "the lowest and the highest end of all" in capacity.method
    # Free are 0 to all of the one, a fifth to nine tenths of the other.
    assert free.claim == "a → b: between 30.0 Mbit/s and 285 Mbit/s of 300 Mbit/s are free."


def test_two_trials_of_which_one_has_no_interval_have_none() -> None:
    (capacity,) = found_of(carries(90e6), carries(90e6) | {"path_capacity_low_bps": None})
    assert (capacity.interval_low, capacity.interval_high) == (None, None)
    (single,) = found_of(carries(90e6))
    assert (single.effect, single.interval_low) == (pytest.approx(90e6), pytest.approx(88.2e6))
    assert single.method.endswith("; interval over trains or probes")
