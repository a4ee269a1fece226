"""A search for the plateau follows from what its trials gave: whoever goes on with it goes the same way."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowsweep.defaults import SECOND_NS
from flowsweep.schedule import Learned, Slot, followed, schedule
from flowsweep.schedule.search.plateau import decide
from flowsweep.schedule.search.steps import EndedEarly
from plan_support import plan_of

TRIALS = 20
PLAN = plan_of(
    f"""
    find = "plateau"
    directions = "both"
    congestion = "cubic"
    flows = [1, 4]
    window_sum = {{ from = "64KiB", to = "16MiB" }}
    duration = {{ until = "2%", at_least = "1s", at_most = "4s" }}
    at_most = {{ trials = {TRIALS}, duration = "52s" }}
    """,
    "seed = 3\nrepeats = 3",
)


def test_each_direction_and_each_other_axis_is_a_search_of_its_own_whatever_the_repeats() -> None:
    slots = schedule(PLAN, 3)
    assert len(slots) == 4
    assert {(slot.trials[0].src, slot.trials[0].parameters.flows) for slot in slots} == {
        ("left", 1),
        ("left", 4),
        ("right", 1),
        ("right", 4),
    }


@pytest.mark.long
@settings(deadline=None, max_examples=25)
@given(
    place=st.integers(0, 3),
    noise=st.lists(st.floats(-0.3, 0.3), min_size=TRIALS, max_size=TRIALS),
    failing=st.sets(st.integers(0, TRIALS - 1), max_size=4),
    enough_bytes=st.floats(1e4, 1e8),
    broken_off=st.sets(st.integers(0, TRIALS - 1), min_size=1, max_size=3),
)
def test_a_search_goes_the_same_way_from_wherever_it_was_broken_off(
    place: int, noise: list[float], failing: set[int], enough_bytes: float, broken_off: set[int]
) -> None:
    slot = schedule(PLAN, 3)[place]
    learned: dict[str, Learned] = {}
    way = _way(slot, learned, noise, failing, enough_bytes)
    assert len(way) <= TRIALS
    assert len(set(way)) == len(way)
    took_ns = [_took_ns(slot, learned[one]) for one in way]
    assert sum(took_ns) + slot.beside.overhead_ns * len(way) <= 52 * SECOND_NS
    for at in sorted(at for at in broken_off if at < len(way)):
        decide.cache_clear()  # of a controller that is started again nothing is left but the journal
        done, step = followed(slot, {name: learned[name] for name in way[:at]})
        assert step is not None
        assert (done, step.trials[0].trial_id) == (at, way[at])
    assert followed(slot, learned) == (len(way), None)


def _way(
    slot: Slot,
    learned: dict[str, Learned],
    noise: list[float],
    failing: set[int],
    enough_bytes: float,
) -> list[str]:
    """Carry the search out; ids of its trials, in order."""
    way: list[str] = []
    while (step := followed(slot, learned)[1]) is not None:
        (trial,) = step.trials
        window = trial.window_sum_bytes
        assert window is not None
        assert 64 << 10 <= window <= 16 << 20
        assert window % trial.total_flows == 0
        rate_bps = 1e9 * min(1.0, window / enough_bytes) * (1 + noise[len(way)])
        early = EndedEarly(rate_bps, trial.parameters.duration_ns // (1 + len(way) % 4))
        learned[trial.trial_id] = 0.0 if len(way) in failing else early
        way.append(trial.trial_id)
    return way


def _took_ns(slot: Slot, gave: Learned) -> int:
    return gave.lasted_ns if isinstance(gave, EndedEarly) else slot.trials[0].parameters.duration_ns
