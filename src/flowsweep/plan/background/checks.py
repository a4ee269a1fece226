"""What the traffic and the probes beside a sweep's trials must agree on with it."""

from collections.abc import Iterator

from flowsweep import defaults
from flowsweep.axes import AXIS_OF
from flowsweep.plan.background.keys import BackgroundKeys, BackgroundTable
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem, shown_path
from flowsweep.plan.readers import listed, shown
from flowsweep.plan.sweeps.buffers import buffer_problems
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.plan.tests.durations import durations_of
from flowsweep.plan.tests.registry import PLAN_TESTS
from flowsweep.units import write_duration

PROBE = "probe"
"""What a probe is called among what runs beside a trial."""
_OF_PROBES = tuple(name for name in BackgroundKeys.model_fields if name.startswith(f"{PROBE}_"))


def background_problems(file: PlanFile, sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    """Find what has no effect, has no time or has no place beside the trials of a sweep."""
    for name in _OF_PROBES:
        if sweep.probe is None and name in sweep.model_fields_set:
            message = f'has no effect without `{PROBE}`; leave it out, or add {PROBE} = "rtt"'
            yield Problem((*at, name), message, about=((*at, PROBE),))
    names: dict[str, KeyPath] = {PROBE: (*at, PROBE)}
    for index, background in enumerate(sweep.background):
        here: KeyPath = (*at, "background", index)
        first = names.setdefault(background.name, here)
        if first != here:
            message = f"found {shown(background.name)}, the name of {shown_path(first)}, expected another one"
            yield Problem((*here, "name"), message)
        yield from _time_problems(sweep, background, here, at)
        yield from _pattern_problems(sweep, background, here)
        yield from _place_problems(file, background, here)
        yield from _twice_problems(sweep, background, here, at)
        having = AXIS_OF["congestion_asked"].tests
        if background.test not in having and background.congestion is not None:
            found = f'has no effect in traffic of test = "{background.test}"'
            message = f"{found}, only in one of {listed(sorted(having))}; leave it out"
            yield Problem((*here, "congestion"), message, about=((*here, "test"),))
        yield from _range_problems(background, here)


def _range_problems(background: BackgroundTable, here: KeyPath) -> Iterator[Problem]:
    """Find what engines refuse, as in a sweep of that test."""
    yield from PLAN_TESTS[background.test].background_check(background, here)
    yield from buffer_problems(background.flows, background.length or 0, here)


def _time_problems(
    sweep: SweepTable, background: BackgroundTable, here: KeyPath, at: KeyPath
) -> Iterator[Problem]:
    shortest = min(durations_of(sweep))
    if background.start >= shortest:
        message = (
            f'found "{write_duration(background.start)}", expected less than the duration of the shortest '
            f'trial, "{write_duration(shortest)}": it would start when that is over'
        )
        yield Problem((*here, "start"), message, about=((*at, "duration"),))


def _pattern_problems(sweep: SweepTable, background: BackgroundTable, here: KeyPath) -> Iterator[Problem]:
    on, off = background.on, background.off
    if on is None and off is None:
        return
    if on is None or off is None:
        there, missing = ("on", "off") if off is None else ("off", "on")
        yield Problem((*here, there), f"found without `{missing}`, expected both: they make a pattern")
        return
    lasts = background.duration or max(durations_of(sweep)) - background.start
    bursts = -(-lasts // (on + off))
    if bursts > defaults.BURSTS_MAX:
        message = (
            f'found "{write_duration(on)}" and pauses of "{write_duration(off)}", which make {bursts} bursts '
            f"in {write_duration(lasts)}, expected at most {defaults.BURSTS_MAX}: make them longer"
        )
        yield Problem((*here, "on"), message, about=((*here, "off"),))


def _twice_problems(
    sweep: SweepTable, background: BackgroundTable, here: KeyPath, at: KeyPath
) -> Iterator[Problem]:
    """Find traffic between named hosts that both trials of a slot would send."""
    if sweep.directions == "simultaneous" and None not in (background.src, background.dst):
        message = (
            'found in a sweep with directions = "simultaneous", of which both trials would have it at once, '
            'twice what is written; write directions = "both", or give it a sweep of its own with '
            "exclusive = false"
        )
        yield Problem((*here, "from"), message, about=((*here, "to"), (*at, "directions")))


def _place_problems(file: PlanFile, background: BackgroundTable, here: KeyPath) -> Iterator[Problem]:
    src, dst = background.src, background.dst
    if (src is None) != (dst is None):
        there, missing = ("from", "to") if dst is None else ("to", "from")
        message = f"found without `{missing}`, expected both, or none for the path of the trial"
        yield Problem((*here, there), message)
    elif src is not None and src == dst and src not in file.groups:
        message = f"found {shown(src)} at both ends, expected two hosts"
        yield Problem((*here, "to"), message, about=((*here, "from"),))
