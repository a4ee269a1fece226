"""Steps of searches for the fewest flows: what of a trial changes with their number, and what does not."""

import pytest

from flowsweep.schedule import Learned, Trial, followed, schedule
from flowsweep.schedule.search.steps import largest_step
from plan_support import plan_of

WHOLE = 'find = "plateau"\nflows = { from = 1, to = 16 }\nduration = "4s"\n'


def steps(sweep: str) -> list[Trial]:
    """All steps of a search where three flows carry all there is."""
    (slot,) = schedule(plan_of(WHOLE + sweep), 1)
    learned: dict[str, Learned] = {}
    found: list[Trial] = []
    while (step := followed(slot, learned)[1]) is not None:
        (trial,) = step.trials
        found.append(trial)
        learned[trial.trial_id] = 1e9 * min(1.0, trial.total_flows / 2.5) * (1 + 1e-4 * (len(found) % 3))
    return found


@pytest.mark.parametrize(
    ("sweep", "window_bytes"),
    [
        ("", lambda _: None),
        ('window = "64KiB"', lambda _: 65_536),
        ('window_sum = "1MiB"', lambda flows: (1 << 20) // flows),
    ],
    ids=["the kernel's", "of each flow", "shared"],
)
def test_each_step_has_its_flows_and_the_window_that_was_asked_for(sweep: str, window_bytes: object) -> None:
    assert callable(window_bytes)
    found = steps(sweep)
    assert {1, 2, 3, 16} <= {trial.parameters.flows for trial in found} <= set(range(1, 17))
    assert len({trial.trial_id for trial in found}) == len(found)
    for trial in found:
        expected = window_bytes(trial.total_flows)
        assert trial.parameters.window_bytes == expected
        asked = () if expected is None else (1 << 20 if "sum" in sweep else expected * trial.total_flows,)
        assert trial.window_sums_asked_bytes == asked


def test_it_ends_when_no_other_number_of_flows_is_possible() -> None:
    found = steps("")
    assert len(found) < 20
    assert {2, 3} <= {trial.parameters.flows for trial in found if trial.repeat > 1}


def test_what_a_step_may_take_is_that_of_the_most_flows() -> None:
    first = steps('window_sum = "1MiB"')[0]
    most = largest_step(first)
    assert most.parameters.flows == 16
    assert most.parameters.window_bytes == (1 << 20) // 16
