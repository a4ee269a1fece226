"""What repeats that do not agree tell of a path: none of them stands for the others."""

from collections.abc import Sequence
from typing import Any

import pytest

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.tests.path import path_hypotheses, path_windows
from synthetic_campaigns import EMPTY


def found_of(*trials: dict[str, Any], kinds: Sequence[str] = ("path", "available")) -> list[Finding]:
    place = {"test": "path", "sweep": "p", "mode": None, "src": "a", "dst": "b", "status": "ok"}
    rows = [EMPTY | place | {"trial_id": str(number)} | one for number, one in enumerate(trials)]
    return [one for one in decided(path_hypotheses(rows)) if one.kind in kinds]


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


def test_the_narrowest_link_is_one_of_the_hops_that_the_same_trials_counted() -> None:
    """It was hop 7 of 5."""
    short = [carries(100e6, path_hops=5)] * 3
    (found,) = found_of(*short, *[carries(100e6, path_hops=8, path_narrow_hop=7)] * 2, kinds=("path",))
    assert "; 2 of 5 trials name hop 7 of 8 as its narrowest link, more than any other." in found.claim


def test_a_hop_that_not_all_trials_name_is_not_given_the_rate_of_all() -> None:
    """Hop 2 was told to carry 171 Mbit/s, the mean of its 100 and of 500 of others that named hop 3."""
    second = [carries(100e6, path_hops=4, path_narrow_hop=2)] * 3
    third = [carries(500e6, path_hops=4, path_narrow_hop=3)] * 2
    (found,) = found_of(*second, *third, carries(100e6, path_hops=4), kinds=("path",))
    assert found.claim.startswith("a → b: the path in 4 hops carries 171 Mbit/s [")
    assert found.claim.endswith("; 3 of 6 trials name hop 2 of 4 as its narrowest link, more than any other.")


def test_paths_of_both_ip_versions_are_told_apart() -> None:
    fourth = carries(90e6, family=4, path_hops=3, path_narrow_hop=2)
    sixth = carries(500e6, family=6, path_hops=4, path_narrow_hop=3)
    first, second = found_of(fourth, sixth, fourth, sixth, kinds=("path",))
    assert first.claim.startswith("a → b, IP version IPv4: the narrowest link is hop 2 of 3, 90.0 Mbit/s")
    assert second.claim.startswith("a → b, IP version IPv6: the narrowest link is hop 3 of 4, 500 Mbit/s")
    assert (first.evidence, second.evidence) == (("0", "2"), ("1", "3"))


def test_windows_of_paths_that_differ_have_no_mean() -> None:
    """Of 100 KB with IPv4 and 2 MB with IPv6 it was 1.05 MB, which neither of them requires."""
    place = {"test": "path", "status": "ok", "src": "a", "dst": "b", "flows": 1}
    fourth = EMPTY | place | {"family": 4, "path_window_bytes": 100_000}
    sixth = fourth | {"family": 6, "path_window_bytes": 2_000_000}
    back = fourth | {"src": "b", "dst": "a"}
    assert path_windows([fourth, sixth, fourth, sixth, back]) == {"b → a": 100_000.0}
    alike = sixth | {"path_window_bytes": 104_000}
    assert path_windows([fourth, alike]) == {"a → b": 102_000.0}


@pytest.mark.parametrize(
    ("narrow", "named"),
    [
        ((2, 2, 2, 3, 3, 3), "hop 2 in 3, hop 3 in 3 of 6 trials"),
        ((2, *[None] * 9), "hop 2 in 1 of 10 trials"),
        ((3, 2, 2, None, None, None, None), "hop 2 in 2, hop 3 in 1 of 7 trials"),
    ],
)
def test_a_hop_that_as_many_or_most_trials_do_not_name_is_not_said_to_be_the_narrowest(
    narrow: tuple[int | None, ...], named: str
) -> None:
    trials = [carries(100e6, path_hops=4, path_narrow_hop=hop) for hop in narrow]
    (found,) = found_of(*trials, kinds=("path",))
    assert found.claim.startswith("a → b: the path in 4 hops carries 100 Mbit/s [")
    assert found.claim.endswith(f"; which of its links is the narrowest is not clear: {named}.")
