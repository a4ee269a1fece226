"""What a plan with times asks of its hosts and links: tried out in virtual time, before any of it runs."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import takewhile

from flowsweep.defaults import SECOND_NS
from flowsweep.plan.links.model import Link
from flowsweep.plan.model import Plan, Sweep
from flowsweep.schedule.due_times import is_even
from flowsweep.schedule.estimate import sent_by, slot_duration_ns
from flowsweep.schedule.grid import points_by_sweep
from flowsweep.schedule.order import occasion_slots
from flowsweep.schedule.packing import Sharing, sharing_of
from flowsweep.schedule.path import links_of
from flowsweep.schedule.rehearsed_times import SweepRun, rehearsed_times
from flowsweep.schedule.timetable import Occasion, end_of, occasions
from flowsweep.schedule.trial import Slot, Trial

DAY_NS = 24 * 3600 * SECOND_NS
_OCCASIONS_MAX = 2000
"""So many times are tried out at most, the first ones;"""
_SLOTS_MAX = 10_000
"""of sweeps that run side by side those with so many slots, which are tried out one by one."""


@dataclass
class Load:
    """What the first day takes, or all of a shorter campaign, if trials last as long as expected."""

    span_ns: int = 0
    due: Counter[str] = field(default_factory=Counter)
    """By sweep: how often it is due."""
    missed: Counter[str] = field(default_factory=Counter)
    """By sweep: how often it would not run, since others still do."""
    in_the_way: dict[str, str] = field(default_factory=dict)
    """By sweep that is missed: the sweep that ran when it was missed first."""
    late_ns: dict[str, int] = field(default_factory=dict)
    """By sweep that is missed: how much later than due it might have begun, at most."""
    run_ns: dict[str, int] = field(default_factory=dict)
    """By sweep: how long all of its points take, once."""
    busy_ns: Counter[str] = field(default_factory=Counter)
    """By host: how long its trials last together, those that run at the same time each for itself."""
    beside: set[str] = field(default_factory=set)
    """Hosts with trials that may run at the same time."""
    less: set[str] = field(default_factory=set)
    """Hosts with trials that may take less: they search, or end when they know or are done."""
    sent_bytes: Counter[str] = field(default_factory=Counter)
    """By host: application bytes at most."""
    about: set[str] = field(default_factory=set)
    """Hosts that may send more: a kernel chooses how much buffers hold when sources stop."""
    unbounded: set[str] = field(default_factory=set)
    """Hosts that send something without a bound."""
    link_bits: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By emulated link and host on the side from which they come, no more than it carries; without what has
    no bound."""


def load_of(plan: Plan, begun_unix_ns: int, seed: int) -> Load:
    """Try out a plan with times, as if it began at a moment."""
    sharing = sharing_of(plan)
    runs = {
        name: SweepRun.of(occasion_slots(plan, points, Occasion(name, 1, 0, 0), 0), sharing)
        for name, points in points_by_sweep(plan).items()
    }
    due, until_ns = _first_day(plan, begun_unix_ns, seed, runs)
    ends_ns = end_of(plan.campaign, begun_unix_ns)
    load = Load(run_ns={name: run.duration_ns for name, run in runs.items()})
    for one in rehearsed_times(due, runs, sharing):
        sweep = one.occasion.sweep
        load.due[sweep] += 1
        if one.in_the_way is not None:
            load.missed[sweep] += 1
            load.in_the_way.setdefault(sweep, one.in_the_way)
            load.late_ns[sweep] = max(one.late_ns, load.late_ns.get(sweep, 0))
        elif until_ns == ends_ns:
            load.span_ns = max(load.span_ns, one.ends_unix_ns - begun_unix_ns)
    load.span_ns = max(load.span_ns, until_ns - begun_unix_ns)
    lasts_ns = None if ends_ns is None else ends_ns - begun_unix_ns
    for asked in plan.sweeps:
        if times := _times_in_span(asked, load, lasts_ns):
            slots = runs[asked.name].slots
            _add_runs(load, times, slots, plan, sharing)
            if asked.may_take_less:
                load.less.update(host for slot in slots for trial in slot.trials for host in trial.hosts)
    return load


def carried_from(link: Link, source: str) -> int | None:
    """What a link lets through from one of its hosts, of a switch through the port of it; None: all."""
    other = next(host for host in link.between if host != source)
    way = link.direction(source, other)
    return None if way is None else way.carried_bps


def _times_in_span(sweep: Sweep, load: Load, lasts_ns: int | None) -> Fraction:
    """How often a sweep runs in the span, on average where the campaign goes on after it.

    So it does not depend on the moment at which the campaign begins.
    """
    ran = Fraction(load.due[sweep.name] - load.missed[sweep.name])
    if ran == 0 or (lasts_ns is not None and lasts_ns <= load.span_ns):
        return ran
    timing, span_ns = sweep.timing, load.span_ns
    if timing is not None and timing.every_ns is not None and (is_even(timing) or timing.every_ns > span_ns):
        every_ns = timing.every_ns if lasts_ns is None else min(timing.every_ns, lasts_ns)
        ran *= Fraction(span_ns, every_ns * load.due[sweep.name])
    return min(ran, Fraction(span_ns, load.run_ns[sweep.name]))


def _first_day(
    plan: Plan, begun_unix_ns: int, seed: int, runs: Mapping[str, SweepRun]
) -> tuple[list[Occasion], int]:
    """What is due on the first day, or in the part of it that is tried out; and when that ends."""
    ends_ns = end_of(plan.campaign, begun_unix_ns)
    until_ns = begun_unix_ns + DAY_NS if ends_ns is None else min(ends_ns, begun_unix_ns + DAY_NS)
    slots_max = _SLOTS_MAX if plan.campaign.concurrent > 1 else math.inf
    due: list[Occasion] = []
    slots = 0
    for occasion in takewhile(lambda one: one.due_unix_ns < until_ns, occasions(plan, begun_unix_ns, seed)):
        if len(due) == _OCCASIONS_MAX or slots > slots_max:
            return due, occasion.due_unix_ns
        due.append(occasion)
        slots += len(runs[occasion.sweep].slots)
    return due, until_ns


def _add_runs(load: Load, times: Fraction, slots: Sequence[Slot], plan: Plan, sharing: Sharing) -> None:
    """Add what slots take that run so many times."""
    for slot in slots:
        steps = times * slot.whole_steps
        hosts = dict.fromkeys(host for trial in slot.trials for host in trial.hosts)
        for host in hosts:
            load.busy_ns[host] += int(steps * slot_duration_ns(slot))
        if not sharing.needs(slot):
            load.beside.update(hosts)
        bits = Counter[tuple[str, str]]()
        for trial in slot.trials:
            bits.update(_add_bytes(load, trial, steps, plan))
        for (name, source), asked in bits.items():
            waits_ns = max(trial.parameters.wait_ns for trial in slot.trials)
            most = _carried_bits(plan, name, source, steps * (slot_duration_ns(slot) + waits_ns))
            load.link_bits[name, source] += asked if most is None else min(asked, most)


def _add_bytes(load: Load, trial: Trial, steps: Fraction, plan: Plan) -> Counter[tuple[str, str]]:
    """Each sender sends its own, background traffic too; return what of it each link may get, in bits."""
    bits = Counter[tuple[str, str]]()
    for sent in sent_by(trial, plan.links):
        sources = dict.fromkeys(src for src, _ in sent.pairs)
        if sent.bytes_at_most is None:
            load.unbounded.update(sources)
            continue
        if sent.is_about:
            load.about.update(sources)
        size = int(steps * sent.bytes_at_most)
        for source in sources:
            load.sent_bytes[source] += size // len(sources)
        used = Counter(
            (name, pair[0], way.carried_bps)
            for pair in sent.pairs
            for name, way in links_of(pair, plan.links, sent.parameters.paths)
        )
        for (name, source, rate_bps), pairs in used.items():
            most = sent.bytes_over(pairs, rate_bps)
            share = size * pairs // len(sent.pairs)
            bits[name, source] += 8 * (share if most is None else min(share, int(steps * most)))
    return bits


def _carried_bits(plan: Plan, name: str, source: str, lasts_ns: Fraction) -> int | None:
    """What a link carries from one side of it in some time; None: without a limit."""
    [link] = (link for link in plan.links if link.name == name)
    rate_bps = carried_from(link, source)
    return None if rate_bps is None else int(rate_bps * lasts_ns / SECOND_NS)
