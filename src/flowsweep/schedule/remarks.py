"""What is worth knowing of a plan before it runs, though nothing is wrong with it."""

from collections.abc import Iterator, Sequence

from flowsweep.plan.hosts.expansion import host_pairs
from flowsweep.plan.model import Plan, Sweep
from flowsweep.schedule.grid import Point
from flowsweep.schedule.listening import port_remarks
from flowsweep.schedule.parameters import Bulk
from flowsweep.schedule.tests.registry import SCHEDULE_TESTS
from flowsweep.tests import facts_of
from flowsweep.wording import counted, format_size

_MILLION = 10**6
_SAMPLES_KEPT = 11 * _MILLION
"""Of one end of a trial, about: what the logs of an engine hold (`LOG_MAX_BYTES`)."""


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
    yield from _too_many_samples(points)
    yield from SCHEDULE_TESTS[sweep.test].remarks(sweep, [point.parameters for point in points])


def _too_many_samples(points: Sequence[Point]) -> Iterator[str]:
    """Trials that would lose samples if they lasted as long as they may, and so be incomplete."""
    asked = [point.parameters for point in points if not facts_of(point.parameters.test).ends_early]
    bulk = [parameters for parameters in asked if isinstance(parameters, Bulk)]
    most = max((parameters.samples_most for parameters in bulk), default=0)
    if most > _SAMPLES_KEPT:
        yield (
            f"up to {most / _MILLION:.0f} million samples at one end of a trial, and an engine keeps about "
            f"{_SAMPLES_KEPT / _MILLION:.0f} million: what has more is incomplete; raise "
            "`sample_interval`, or shorten trials"
        )


def _shared_sums(points: Sequence[Point]) -> Iterator[tuple[int, int]]:
    """Each window sum that is asked for, and the flows that share it."""
    for point in points:
        flows = len(host_pairs(point.sources, point.sinks)) * point.parameters.flows
        yield from ((asked, flows) for asked in point.window_sums_asked_bytes)
