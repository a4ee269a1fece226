"""What a sweep that measures paths must have."""

from collections.abc import Iterator

from flowsweep import defaults
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.units import write_size


def path_problems(file: PlanFile, sweep: SweepTable, _: list[int], at: KeyPath) -> Iterator[Problem]:
    """Find what a measurement of a path cannot be made with."""
    about = ((*at, "test"),)
    if sweep.directions == "simultaneous":
        message = 'found "simultaneous", expected "one" or "both": two directions at once disturb each other'
        yield Problem((*at, "directions"), message, about)
    for index, path in enumerate(sweep.paths):
        for key, name in (("from", path.src), ("to", path.dst)):
            if name in file.groups and path.mesh is None:
                message = f'found the group "{name}", expected a host: trains of several sources would mix'
                yield Problem((*at, "paths", index, key), message, about)
    useful = sum(size >= defaults.PROBE_SIZE_LEAST_IPV6_BYTES for size in sweep.sizes)
    if sweep.ttl_max and useful < defaults.PROBE_SIZES_MIN and 6 in (sweep.family or ()):
        least = write_size(defaults.PROBE_SIZE_LEAST_IPV6_BYTES)
        message = f"found {useful} of {least} or more, expected at least {defaults.PROBE_SIZES_MIN}: "
        reason = "IPv6 routers quote smaller probes whole, so that answers grow with them"
        yield Problem((*at, "sizes"), message + reason, ((*at, "family"), *about))
    if sweep.streams and not sweep.trains:
        message = "has no effect without `trains`, whose result tells the rates to try; set `streams` to 0"
        yield Problem((*at, "streams"), message, ((*at, "trains"), *about))
    if not sweep.trains and not sweep.ttl_max:
        yield Problem((*at, "trains"), "found 0 beside `ttl_max` = 0: nothing is left to measure", about)
