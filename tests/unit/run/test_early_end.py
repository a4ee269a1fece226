"""What a source says of when it ended is taken as far as it is possible."""

from types import SimpleNamespace
from typing import Any

import pytest

from analysis_support import SECOND_NS, make_parameters
from flowsweep.hosts.messages import Decided as Told
from flowsweep.plan.until.model import Until
from flowsweep.run.early_end import decided_of, undecided
from flowsweep.run.outcome import Decided, Failure

UNTIL = Until(share=0.02, at_least_ns=3 * SECOND_NS)
TOLD = {"held_by": None, "counted_from_us": 1_500_000, "ended_us": 5_500_000, "half_width_ppm": 12_345}


def pairs_of(told: dict[str, Any] | None, until: Until | None = UNTIL) -> list[Any]:
    """Of a trial of 20 s at most, of which the first second is omitted."""
    decided = None if told is None else Told.model_validate(told)
    sender = SimpleNamespace(
        result=SimpleNamespace(report=SimpleNamespace(decided=decided)),
        error=lambda phase, kind, message: SimpleNamespace(
            failure=Failure(phase=phase, host="left", kind=kind, message=message)
        ),
    )
    parameters = make_parameters(duration_ns=20 * SECOND_NS, until=until)
    return [SimpleNamespace(sender=sender, traffic=SimpleNamespace(parameters=parameters))]


def test_what_is_possible_is_taken() -> None:
    expected = Decided(
        counted_from_ns=1_500_000_000, ended_ns=5_500_000_000, half_width_share=0.012345, held_by=None
    )
    assert decided_of(pairs_of(TOLD)) == expected
    assert expected.ended_by == "known"
    held = decided_of(pairs_of(TOLD | {"held_by": "trend", "ended_us": 20_000_000}))
    assert held is not None
    assert (held.ended_by, held.held_by) == ("at_most", "trend")
    assert undecided(pairs_of(TOLD)) is None


@pytest.mark.parametrize(
    "told",
    [
        None,
        TOLD | {"ended_us": 20_000_001},
        TOLD | {"counted_from_us": 999_999},
        TOLD | {"counted_from_us": 2_500_001},
        TOLD | {"counted_from_us": 6_000_000},
        # Less than it lasts at least.
        TOLD | {"counted_from_us": 1_000_000, "ended_us": 2_999_999},
    ],
)
def test_what_cannot_be_makes_the_trial_incomplete(told: dict[str, Any] | None) -> None:
    assert decided_of(pairs_of(told)) is None
    failure = undecided(pairs_of(told))
    assert failure is not None
    assert (failure.phase, failure.kind) == ("report", "undecided")


def test_a_decision_that_nobody_asked_for_is_nothing() -> None:
    assert decided_of(pairs_of(TOLD, until=None)) is None
    assert undecided(pairs_of(None, until=None)) is None
