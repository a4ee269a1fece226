"""What a queue adds beside background traffic, where the path itself became longer, or did not."""

import pytest

from flowsweep.analysis.findings.bufferbloat import bufferbloat_hypotheses
from flowsweep.analysis.findings.hypothesis import Hypothesis
from flowsweep.analysis.statistics.observations import DIRECTION, Observations
from flowsweep.analysis.verdicts import QUEUE

SHORT_MS, LONG_MS, QUEUE_MS = 10.0, 30.0, 50.0
"""Of two paths without a queue, and what that of either adds."""


def of_trials(leasts_ms: tuple[float, ...], back: frozenset[str] = frozenset()) -> Hypothesis:
    """What is said of trials with these minimum round trips, those over 20 ms of the longer path.

    `back`: those beside which others send the other way.
    """
    rows = [
        {
            "trial_id": str(number), "repeat": number, "src": "a", "dst": "b", DIRECTION: "a → b",
            "flows": 1, "verdict": QUEUE, "goodput_bps": 16e6, "background": ["others"],
            "rtt_min_ms": least_ms,
            "rtt_median_ms": QUEUE_MS + (LONG_MS if least_ms >= LONG_MS else SHORT_MS),
        }
        for number, least_ms in enumerate(leasts_ms)
    ]  # fmt: skip
    [hypothesis] = bufferbloat_hypotheses(Observations("s", "copy", tuple(rows), ()), {}, back)
    return hypothesis


@pytest.mark.parametrize(
    "leasts_ms",
    [
        (10.0, 10.2, 30.0, 30.4),
        (10.0, 30.0, 10.2, 30.4),
        (10.0, 14.0, 12.0, 18.0, 30.0, 36.0, 31.0, 40.0),
        (30.0, 36.0, 31.0, 40.0, 10.0, 14.0, 12.0, 18.0, 30.0, 36.0, 31.0, 40.0),
    ],
)
def test_a_path_that_became_longer_is_no_queue(leasts_ms: tuple[float, ...]) -> None:
    """The 20 ms were counted as queue: the minimum round trip was that of the whole campaign."""
    found = of_trials(leasts_ms)
    assert found.estimate.effect == pytest.approx(QUEUE_MS / 1e3)
    assert " to round trips of 10 ms to 30 ms, the least of each path, as trials took " in found.say(
        "described"
    )
    assert found.method.startswith("median smoothed round trip less the minimum of the path, ")


@pytest.mark.parametrize(
    "leasts_ms", [(10.0, 12.0, 14.0), (10.0, 30.0, 14.0, 36.0, 20.0, 12.0, 40.0, 25.0), (10.0, 12.0, 30.0)]
)
def test_a_queue_that_others_fill_is_a_queue(leasts_ms: tuple[float, ...]) -> None:
    """Handshakes meet as much of it as there is at the time."""
    found = of_trials(leasts_ms)
    assert " to a round trip of 10 ms (" in found.say("described")
    assert found.method.startswith("median smoothed round trip less the minimum of the direction, ")


def test_settings_that_leave_a_queue_full_are_no_other_path() -> None:
    """With 32 flows it never runs empty: their minimum round trips are narrow, and longer by a queue."""
    rows = [
        {
            "trial_id": str(number), "repeat": number % 2, "src": "a", "dst": "b", DIRECTION: "a → b",
            "flows": flows, "verdict": QUEUE, "goodput_bps": 16e6, "background": ["others"],
            "rtt_min_ms": least_ms, "rtt_median_ms": 65.0,
        }
        for number, (flows, least_ms) in enumerate([(1, 20.0), (1, 20.5), (32, 60.0), (32, 62.0)])
    ]  # fmt: skip
    [found] = bufferbloat_hypotheses(Observations("s", "copy", tuple(rows), ("flows",)))
    assert found.estimate.effect == pytest.approx(0.045)
    assert "unlike length" not in found.say("described")


def test_beside_traffic_the_other_way_it_is_the_queues_of_both_directions() -> None:
    own, both = (
        of_trials((10.0, 12.0, 14.0), back).say("described") for back in (frozenset(), frozenset("2"))
    )
    assert ": where the path is full its queue adds " in own
    assert ": where the path is full the queues of both directions together add " in both
