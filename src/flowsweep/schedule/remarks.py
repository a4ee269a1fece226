"""What is worth knowing of a plan before it runs, though nothing is wrong with it."""

from collections.abc import Iterator, Sequence

from flowsweep.plan.hosts.expansion import host_pairs
from flowsweep.plan.model import Plan, Sweep
from flowsweep.schedule.grid import Point
from flowsweep.schedule.listening import port_remarks
from flowsweep.schedule.tests.registry import SCHEDULE_TESTS
from flowsweep.wording import counted, format_size


def remarks(plan: Plan, points: Sequence[Point]) -> tuple[str, ...]:
    """Name, sweep by sweep, what was capped, became equal, does not divide, or is left to the hosts.

    And hosts whose ports may not be enough for trials at the same time.
    """
    of_sweeps = (
        f"{sweep.name}: {remark}"
        for sweep in plan.sweeps
        for remark in _of_sweep(sweep, [point for point in points if point.sweep == sweep.name])
    )
    return (*of_sweeps, *port_remarks(plan, points))


def _of_sweep(sweep: Sweep, points: Sequence[Point]) -> Iterator[str]:
    capped = sum(point.window_capped for point in points)
    if capped and sweep.window_max_bytes is not None:
        yield (
            f"{capped} of {counted(len(points), 'point')} over window_max, "
            f"{format_size(sweep.window_max_bytes)} per flow: run with that, and marked"
        )
    joined = [point for point in points if len(point.window_sums_asked_bytes) > 1]
    if joined:
        asked = sum(len(point.window_sums_asked_bytes) for point in joined)
        groups = counted(len(joined), "group")
        yield f"window_max makes {asked} points equal in {groups}; each group runs once"
    if sweep.window_sum_bytes and any(asked % flows for asked, flows in _shared_sums(points)):
        yield "not every window_sum divides by the number of flows; windows are rounded down to whole bytes"
    yield from SCHEDULE_TESTS[sweep.test].remarks(sweep, [point.parameters for point in points])


def _shared_sums(points: Sequence[Point]) -> Iterator[tuple[int, int]]:
    """Each window sum that is asked for, and the flows that share it."""
    for point in points:
        flows = len(host_pairs(point.sources, point.sinks)) * point.parameters.flows
        yield from ((asked, flows) for asked in point.window_sums_asked_bytes)
