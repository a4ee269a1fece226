"""noop in a schedule: a point for each duration and IP version."""

from collections.abc import Iterator

from flowsweep.plan.model import Sweep
from flowsweep.schedule.combinations import combined
from flowsweep.schedule.parameters import Parameters
from flowsweep.schedule.tests.row import ScheduleTest
from flowsweep.schedule.windows import NO_WINDOW, Window


class NoopParameters(Parameters):
    """How long two ends stay."""

    test = "noop"


def noop_points(sweep: Sweep, _: int, __: int, ___: int) -> Iterator[tuple[Window, NoopParameters]]:
    """List what a sweep asks for."""
    for chosen in combined(sweep):
        yield NO_WINDOW, NoopParameters.model_validate(chosen)


ROW = ScheduleTest(NoopParameters, noop_points)
