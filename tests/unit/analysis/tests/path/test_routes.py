"""Routes by direction: unlike ones are told, equal and unknown ones are not."""

from collections.abc import Sequence

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.tests.path import path_hypotheses
from synthetic_campaigns import EMPTY, Row


def measured(src: str, dst: str, hops: Sequence[int | None], family: int | None = None) -> list[Row]:
    return [
        EMPTY
        | {
            "trial_id": f"{src}{dst}{number:010x}",
            "sweep": "paths",
            "repeat": number + 1,
            "src": src,
            "dst": dst,
        }
        | {"test": "path", "status": "ok", "path_hops": count, "family": family}
        for number, count in enumerate(hops)
    ]


def told(*rows: list[Row]) -> list[Finding]:
    found = decided(path_hypotheses([row for some in rows for row in some]))
    return [one for one in found if one.kind == "routes"]


def test_directions_of_unlike_length_are_told_once() -> None:
    [one] = told(measured("b", "a", [10, 10, 10]), measured("a", "b", [12, 12, 12]))
    assert one.claim.startswith("a → b has 12 hops, b → a 10: the directions take different routes")
    assert (one.decision, one.effect, one.direction, one.n) == ("described", 2, None, 6)


def test_of_equal_lengths_of_one_direction_and_of_hops_that_never_answered_nothing_is_said() -> None:
    assert told(measured("a", "b", [3, 3]), measured("b", "a", [3, 3])) == []
    assert told(measured("a", "b", [3, 3])) == []
    assert told(measured("a", "b", [3, 3]), measured("b", "a", [None, None])) == []


def test_a_direction_that_does_not_keep_to_one_length_is_told_and_not_compared() -> None:
    [one] = told(measured("a", "b", [3, 4, 3, 4]), measured("b", "a", [5, 5, 5, 5]))
    assert one.claim.startswith(
        "a → b: the number of hops differs between trials, 3 hops in 2 trials, 4 hops in 2 trials"
    )
    assert one.direction == "a → b"


def test_one_trial_by_another_route_does_not_hide_how_the_directions_differ() -> None:
    kinds = [
        one.claim.split(":")[0] for one in told(measured("a", "b", [3, 3, 3, 4]), measured("b", "a", [5] * 4))
    ]
    assert kinds == ["a → b", "a → b has 3 hops, b → a 5"]


def test_versions_of_ip_are_routed_apart_and_a_single_trial_each_way_says_nothing() -> None:
    both = [measured("a", "b", [3, 3], 4), measured("a", "b", [5, 5], 6), measured("b", "a", [3, 3], 4)]
    assert told(*both) == []
    [one] = told(*both, measured("b", "a", [4, 4], 6))
    assert one.claim.startswith("a → b has 5 hops by IPv6, b → a 4: ")
    assert told(measured("a", "b", [3]), measured("b", "a", [4])) == []
