"""What a duration that may end early and the rest of a sweep must agree on."""

from collections.abc import Iterator

from flowsweep.plan.hosts.pairs import pairs_of_path
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.readers import listed
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.plan.until.keys import UntilTable
from flowsweep.tests import TESTS
from flowsweep.units import write_duration


def until_problems(file: PlanFile, sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    """Find what a trial cannot have that may end before its time."""
    until, here = sweep.duration, (*at, "duration")
    if not isinstance(until, UntilTable):
        return
    if not TESTS[sweep.test].ends_when_known:
        tests = listed([name for name, facts in TESTS.items() if facts.ends_when_known])
        message = (
            f"found a table in a sweep of test = {listed([sweep.test])}, expected a time or a list of times: "
            f"only one of {tests} ends when it knows"
        )
        yield Problem(here, message, about=((*at, "test"),))
    if until.at_least >= until.at_most:
        message = f"found {write_duration(until.at_least)}, expected less than `at_most`"
        yield Problem((*here, "at_least"), message, about=((*here, "at_most"),))
    if sweep.directions == "simultaneous":
        message = (
            "found a duration that may end early, expected a time: one direction would go on without the "
            'other; or write directions = "both"'
        )
        yield Problem(here, message, about=((*at, "directions"),))
    beside = [(*at, key) for key in ("probe", "background") if getattr(sweep, key)]
    if beside:
        message = (
            "found a duration that may end early, expected a time: what runs beside a trial lasts as long as "
            "was asked for"
        )
        yield Problem(here, message, about=tuple(beside))
    yield from _pair_problems(file, sweep, at)


def _pair_problems(file: PlanFile, sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    for index, path in enumerate(sweep.paths):
        numbers = sweep.pairs or (None,)
        if path.mesh is None and any(len(pairs_of_path(file, path, pairs)) > 1 for pairs in numbers):
            message = (
                "found a duration that may end early, expected a time: sources of a group would end "
                'one by one; or give the path mesh = "full"'
            )
            yield Problem((*at, "duration"), message, about=((*at, "paths", index),))
