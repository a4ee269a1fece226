"""The order in which trials run."""

import random

from flowsweep.plan.model import Plan
from flowsweep.schedule.grid import Point, expand
from flowsweep.schedule.trial import Slot


def schedule(plan: Plan, seed: int) -> tuple[Slot, ...]:
    """Put all trials of a plan in order: every point once in each repeat, its two directions side by side.

    `order = "blocks"` is a randomised complete block design (Fisher, The Design of Experiments, 1935): what
    drifts while a campaign runs falls on all points alike. The points of all sweeps are shuffled together
    inside each repeat, and which direction of a point goes first is drawn too.
    `order = "listed"` keeps the order of the plan in each repeat, and does not use the seed.
    """
    points = expand(plan)
    slots: list[Slot] = []
    for repeat in range(1, plan.campaign.repeats + 1):
        if plan.campaign.order == "listed":
            slots.extend(slot for point in points for slot in _slots(point, repeat))
        else:
            slots.extend(_shuffled(points, repeat, seed))
    return tuple(slots)


def _shuffled(points: tuple[Point, ...], repeat: int, seed: int) -> list[Slot]:
    """Sort the points of one repeat by drawn numbers.

    The numbers come from `random.Random(f"{seed}/{repeat}")`: first one for each point, in the order of the
    plan, then one for each point in the drawn order, which turns its directions round if it is below a half.
    Python promises the same sequence of `random()` for a seed in all versions; of `shuffle()` it does not.
    """
    generator = random.Random(f"{seed}/{repeat}")
    keys = [generator.random() for _ in points]
    slots: list[Slot] = []
    for index in sorted(range(len(points)), key=keys.__getitem__):
        pair = _slots(points[index], repeat)
        slots.extend(reversed(pair) if generator.random() < 0.5 else pair)
    return slots


def _slots(point: Point, repeat: int) -> list[Slot]:
    trials = point.trials(repeat)
    if point.directions == "simultaneous":
        return [Slot(trials=trials)]
    return [Slot(trials=(trial,)) for trial in trials]
