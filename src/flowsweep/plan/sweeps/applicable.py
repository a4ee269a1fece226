"""Which keys of a sweep belong to which tests: one that does nothing in a test is a mistake, and is told."""

from collections.abc import Iterator

from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.readers import listed
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.plan.tests.registry import PLAN_TESTS


def applicable_problems(sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    """Find the keys that a sweep sets and that its test does not have."""
    for key in SweepTable.model_fields:
        if key not in sweep.model_fields_set or key in PLAN_TESTS[sweep.test].keys:
            continue
        tests = listed([name for name, test in PLAN_TESTS.items() if key in test.keys])
        message = f'has no effect in a sweep of test = "{sweep.test}", only in one of {tests}; leave it out'
        yield Problem((*at, key), message, about=((*at, "test"),))
