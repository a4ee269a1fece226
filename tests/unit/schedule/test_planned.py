"""What a stored plan asks for: archives come from rejected_connections, and nothing has checked theirs."""

from typing import Any

import pytest

from flowsweep.defaults import TRIALS_MAX
from flowsweep.plan import load_plan
from flowsweep.plan.searching.model import SearchInRounds
from flowsweep.schedule import has_times, planned_links, planned_trials, schedule
from plan_support import EXAMPLE_PLANS, plan_of


@pytest.mark.parametrize("path", EXAMPLE_PLANS, ids=lambda path: path.stem)
def test_as_many_trials_are_planned_as_run(path) -> None:
    plan = load_plan(path)
    trials = sum(slot.trial_count for slot in schedule(plan, seed=1))
    open_ended = has_times(plan) or any(isinstance(sweep.search, SearchInRounds) for sweep in plan.sweeps)
    assert planned_trials(plan.model_dump(mode="json")) == (None if open_ended else trials)


def stored(sweep: str = "", **changed: Any) -> dict[str, Any]:
    """A plan of one sweep, as an archive has it, with keys of the sweep changed by a stranger."""
    plan = plan_of(sweep).model_dump(mode="json")
    plan["sweeps"][0] |= changed
    return plan


@pytest.mark.parametrize(
    "plan",
    [
        stored('test = "udp"\nrate_sum = "8Mbit/s"', flows=[0]),
        stored('window_sum = "1MiB"', flows=[0]),
        stored(flows=list(range(1, 1001)), length_bytes=[1] * 1000, rate_bps=[1] * 1000, dscp=[1] * 1000),
        stored(flows=[1])
        | {"campaign": {"name": "n", "order": "blocks", "seed": 1, "repeats": TRIALS_MAX + 1}},
        stored(flows=[1]) | {"campaign": {"name": "n", "order": "blocks", "seed": 1, "repeats": -3}},
    ],
    ids=["no flows", "windows of no flows", "axes for ever", "repeats for ever", "repeats below none"],
)
def test_what_no_plan_can_ask_for_is_not_counted(plan: dict[str, Any]) -> None:
    assert planned_trials(plan) is None


@pytest.mark.parametrize("links", [5, None, "wire", {"wire": {}}, [None]])
def test_links_that_are_none_are_left_out(links: object) -> None:
    assert planned_links({"links": links}) == ()
