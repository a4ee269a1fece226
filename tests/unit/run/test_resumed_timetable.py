"""What is due again of a campaign with times that is gone on with."""

import pytest

from flowsweep.defaults import SECOND_NS
from flowsweep.plan import parse_plan
from flowsweep.run.outcome import FinishedTrial
from flowsweep.run.resume_state import ResumeState
from flowsweep.run.resumed_timetable import Begun, timetable_of
from flowsweep.schedule import Occasion, followed

PLAN = """
[hosts.a]
[hosts.b]

[[sweep]]
name = "night"
test = "udp"
paths = [{ from = "a", to = "b" }]
duration = "3s"
every = "1h"
rate_search = { low = "10Mbit/s", high = "80Mbit/s", resolution = "5Mbit/s" }
"""
BEGUN_NS = 1_790_000_000 * SECOND_NS


@pytest.mark.parametrize(
    ("steps", "whole"),
    [([True], False), ([True, None], True), ([None], True)],
    ids=["a step is left", "its second step failed", "its first step failed"],
)
def test_a_search_that_ended_with_a_failed_step_is_over(steps: list[bool | None], *, whole: bool) -> None:
    plan = parse_plan(PLAN, "night.toml")
    found = timetable_of(plan, Begun(BEGUN_NS, 1, {}, (), ResumeState()), lambda _: None)
    (slot,) = found.slots_of(Occasion("night", 1, 0, 0))
    finished: dict[str, FinishedTrial] = {}
    learned: dict[str, bool] = {}
    for carried in steps:
        step = followed(slot, learned)[1]
        assert step is not None
        (trial,) = step.trials
        finished[trial.trial_id] = FinishedTrial(1, "night", 1, carried)
        learned |= {} if carried is None else {trial.trial_id: carried}
    resume = ResumeState(done=frozenset(finished), learned=learned)
    assert (resume.next_step(slot)[1] is None) is whole
    due = timetable_of(plan, Begun(BEGUN_NS, 1, finished, (), resume), lambda _: None)
    assert next(due.occasions).key == ("night", 2 if whole else 1)
    assert due.trials_run == ({} if whole else {("night", 1): len(steps)})
