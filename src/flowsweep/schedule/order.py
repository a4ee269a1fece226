"""The order in which trials run."""

import random
from collections.abc import Sequence

from flowsweep.plan.model import Plan
from flowsweep.plan.searching.model import SearchInRounds
from flowsweep.schedule.grid import Point, expand, searches_gathered
from flowsweep.schedule.matched import matched
from flowsweep.schedule.packing.needs import sharing_of
from flowsweep.schedule.packing.order import in_packed_order
from flowsweep.schedule.timetable import Occasion
from flowsweep.schedule.trial import Slot


def schedule(plan: Plan, seed: int) -> tuple[Slot, ...]:
    """Put all trials of a plan in order: every point once in each repeat, its two directions side by side.

    `order = "blocks"` is a randomised complete block design (Fisher, The Design of Experiments, 1935): what
    drifts while a campaign runs falls on all points alike. The points of all sweeps are shuffled together
    inside each repeat, and which direction of a point goes first is drawn too.
    `order = "listed"` keeps the order of the plan in each repeat, and does not use the seed.

    Of two plans that were joined, the same point of A and of B run side by side, direction by direction, and
    which goes first is drawn each time: what drifts falls on both alike and cancels in their differences.

    Where several run at the same time (`concurrent`), points keep this order, and the paths within each point
    are turned so that many fit beside each other: `packing`.

    Of a plan with times it is what runs once: each sweep when it is due, as `occasion_slots` says.
    """
    points = searches_gathered(expand(plan))
    together: Sequence[tuple[Point, ...]] = matched(plan) or [(point,) for point in points]
    slots: list[Slot] = []
    for repeat in range(1, plan.campaign.repeats + 1):
        if plan.campaign.order == "listed":
            slots.extend(slot for point in points for slot in _slots(point, repeat))
        else:
            slots.extend(_shuffled(together, repeat, seed))
    return tuple(slots) if plan.campaign.order == "listed" else in_packed_order(slots, sharing_of(plan), seed)


def occasion_slots(plan: Plan, points: Sequence[Point], occasion: Occasion, seed: int) -> tuple[Slot, ...]:
    """Put the trials of one time that a sweep is due in order, as those of a repeat.

    Of two plans that were joined, those of A and of B have the same order.

    Args:
        plan: With times.
        points: Of the sweep.
        occasion: Which time.
        seed: Of the campaign; the order is drawn from it, the sweep and the number.
    """
    if plan.campaign.order == "listed":
        return tuple(slot for point in points for slot in _slots(point, occasion.number))
    together = [(point,) for point in points]
    name = next(sweep.plain_name for sweep in plan.sweeps if sweep.name == occasion.sweep)
    of_sweep = f"{seed}/{name}"
    drawn = _shuffled(together, occasion.number, of_sweep)
    return in_packed_order(drawn, sharing_of(plan), f"{of_sweep}/{occasion.number}")


def _shuffled(together: Sequence[tuple[Point, ...]], repeat: int, seed: int | str) -> list[Slot]:
    """Sort the points of one repeat by drawn numbers; those that run side by side are one.

    The numbers come from `random.Random(f"{seed}/{repeat}")`: first one for each point, in the order of the
    plan, then one for each point in the drawn order, which turns its directions round if it is below a half,
    followed, where A and B run side by side, by one for each direction, which has B go first likewise.
    Python promises the same sequence of `random()` for a seed in all versions; of `shuffle()` it does not.
    """
    generator = random.Random(f"{seed}/{repeat}")
    keys = [generator.random() for _ in together]
    slots: list[Slot] = []
    for index in sorted(range(len(together)), key=keys.__getitem__):
        ways = list(zip(*(_slots(point, repeat) for point in together[index]), strict=True))
        for settings in reversed(ways) if generator.random() < 0.5 else ways:
            turned = len(settings) > 1 and generator.random() < 0.5
            slots.extend(reversed(settings) if turned else settings)
    return slots


def _slots(point: Point, repeat: int) -> list[Slot]:
    if isinstance(point.search, SearchInRounds) and repeat > 1:
        return []  # its rounds are its repeats
    trials = point.trials(repeat)
    if point.directions == "simultaneous":
        return [Slot(trials=trials)]
    if not point.alternatives:
        return [Slot(trials=(trial,)) for trial in trials]
    by_way = zip(*(other.trials(repeat) for other in point.alternatives), strict=True)
    return [Slot(trials=(trial,), alternatives=others) for trial, others in zip(trials, by_way, strict=True)]
