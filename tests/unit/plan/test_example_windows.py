"""The plans that are shipped ask for no window that a host as it comes refuses."""

import pytest

from flowsweep.plan import load_plan
from flowsweep.run.tests.bulk import window_of
from flowsweep.schedule import schedule
from plan_support import EXAMPLE_PLANS

GRANTED_BYTES = 212_992
"""`net.core.rmem_max` and `wmem_max` before Linux 6.18."""


@pytest.mark.parametrize("path", EXAMPLE_PLANS, ids=lambda path: path.stem)
def test_a_window_is_granted_or_the_plan_says_what_it_needs(path):
    plan = load_plan(path)
    trials = [trial.parameters for slot in schedule(plan, 1) for trial in slot.trials]
    for role, limit in (("source", "wmem_max"), ("sink", "rmem_max")):
        asked = [window_of(trial, role) or 0 for trial in trials if not getattr(trial, "clip_allowed", True)]
        assert limit in plan.text or max(asked, default=0) <= GRANTED_BYTES
