"""What a plan with times asks of its hosts and links: tried out in virtual time, before any of it runs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from flowsweep.defaults import SECOND_NS
from flowsweep.plan.model import Plan
from flowsweep.schedule.estimate import bytes_at_most, slot_duration_ns
from flowsweep.schedule.grid import Point, points_by_sweep
from flowsweep.schedule.order import occasion_slots
from flowsweep.schedule.packing import jobs_of, packed, sharing_of
from flowsweep.schedule.path import links_of
from flowsweep.schedule.timetable import Occasion, end_of, occasions
from flowsweep.schedule.trial import Slot, Trial

DAY_NS = 24 * 3600 * SECOND_NS
_OCCASIONS_MAX = 2000
"""So many are tried out at most, the first ones."""


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
    """By host."""
    sent_bytes: Counter[str] = field(default_factory=Counter)
    """By host: application bytes at most."""
    unbounded: set[str] = field(default_factory=set)
    """Hosts that send trials without a bound."""
    link_bits: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By emulated link and host on the side from which they come; without trials that have no bound."""


def load_of(plan: Plan, begun_unix_ns: int, seed: int) -> Load:
    """Try out a plan with times, as if it began at a moment.

    What is due begins when what ran before is over, in the order in which it is due, or not at all if that is
    too late: as `flowsweep run` does it.
    """
    load = Load()
    runs = {name: _Run.of(name, points, plan) for name, points in points_by_sweep(plan).items()}
    load.run_ns = {name: run.duration_ns for name, run in runs.items()}
    ends_ns = end_of(plan.campaign, begun_unix_ns)
    until_ns = begun_unix_ns + DAY_NS if ends_ns is None else min(ends_ns, begun_unix_ns + DAY_NS)
    free_ns, running = begun_unix_ns, ""
    day = takewhile(lambda one: one.due_unix_ns < until_ns, occasions(plan, begun_unix_ns, seed))
    for number, occasion in enumerate(day, start=1):
        if number > _OCCASIONS_MAX:
            until_ns = occasion.due_unix_ns
            break
        load.due[occasion.sweep] += 1
        if free_ns > occasion.latest_unix_ns:
            load.missed[occasion.sweep] += 1
            load.in_the_way.setdefault(occasion.sweep, running)
            late_ns = free_ns - occasion.due_unix_ns
            load.late_ns[occasion.sweep] = max(late_ns, load.late_ns.get(occasion.sweep, 0))
            continue
        run, running = runs[occasion.sweep], occasion.sweep
        free_ns = max(free_ns, occasion.due_unix_ns) + run.duration_ns
        run.add_to(load, plan)
    load.span_ns = max(until_ns, free_ns) - begun_unix_ns
    return load


@dataclass(frozen=True, slots=True)
class _Run:
    """All points of a sweep, once."""

    slots: Sequence[Slot]
    duration_ns: int

    @classmethod
    def of(cls, name: str, points: Sequence[Point], plan: Plan) -> "_Run":
        slots = occasion_slots(plan, points, Occasion(name, 1, 0, 0), 0)
        sharing = sharing_of(plan)
        return cls(slots, packed(jobs_of(slots, sharing), sharing).lasts_ns)

    def add_to(self, load: Load, plan: Plan) -> None:
        for slot in self.slots:
            for host in {host for trial in slot.trials for host in trial.hosts}:
                load.busy_ns[host] += slot_duration_ns(slot) * slot.steps
            for trial in slot.trials:
                self._add_bytes(trial, slot.steps, load, plan)

    @staticmethod
    def _add_bytes(trial: Trial, steps: int, load: Load, plan: Plan) -> None:
        size = bytes_at_most(trial, plan.links)
        if size is None:
            load.unbounded.update(trial.sources)
            return
        for source in trial.sources:
            load.sent_bytes[source] += steps * size // len(trial.sources)
        for pair in trial.pairs:
            for name, _ in links_of(pair, plan.links, trial.parameters.paths):
                load.link_bits[name, pair[0]] += 8 * steps * size // len(trial.pairs)
