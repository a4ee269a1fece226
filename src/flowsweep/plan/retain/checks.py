"""What must agree in `[retain]`."""

from collections.abc import Iterator

from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import Problem
from flowsweep.plan.times.build import has_times


def retain_problems(file: PlanFile) -> Iterator[Problem]:
    """Find what contradicts itself in how long things are kept."""
    if file.retain is not None and not any(has_times(file.campaign, sweep) for sweep in file.sweep):
        message = (
            "has no effect: no sweep has `every` or `at`, and a campaign that runs once keeps all; leave it "
            "out, or say when a sweep runs"
        )
        yield Problem(("retain",), message, (("sweep",), ("campaign",)))
