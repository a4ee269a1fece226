"""How long the trials of a sweep last."""

from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.plan.tests.registry import PLAN_TESTS
from flowsweep.plan.until.keys import longest_of


def durations_of(sweep: SweepTable) -> list[int]:
    """List the durations of a sweep, those of its test where the plan names none."""
    of_test = PLAN_TESTS[sweep.test].duration_ns
    return (
        longest_of(sweep.duration) if "duration" in sweep.model_fields_set or of_test is None else [of_test]
    )
