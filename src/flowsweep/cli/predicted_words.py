"""What predictions take for granted, how far they were compared, and what they come to: for people."""

import time
from collections.abc import Iterable, Mapping, Sequence

from flowsweep.grouping import grouped
from flowsweep.plan import Plan
from flowsweep.plan.model import Sweep
from flowsweep.prediction.points import DEFAULT_CONGESTION, PredictedPoint, left_to_host
from flowsweep.prediction.setting import Compared
from flowsweep.schedule import has_times
from flowsweep.schedule.timetable import times_until_end
from flowsweep.wording import format_size

CUBIC_TAKEN = f"Where the plan names no congestion control, the model takes {DEFAULT_CONGESTION}."
BEYOND = "beyond what the model was compared with"


def each_time(plan: Plan) -> str:
    """When a plan with times takes that; sweeps may be due at times of their own."""
    if not has_times(plan):
        return ""
    if len({sweep.timing for sweep in plan.sweeps}) > 1:
        return " when all sweeps are due together"
    return " each time that the sweeps are due"


def about_or_at_most(sweeps: Iterable[Sweep]) -> str:
    """The word before what sweeps are said to take."""
    return "at most" if any(sweep.may_take_less for sweep in sweeps) else "about"


def takes_default_congestion(points: Sequence[PredictedPoint]) -> bool:
    """Whether the model takes the default congestion control for some point, whose plan names none."""
    return any(point.setting is not None and left_to_host(point.trial) for point in points)


def beyond_compared(points: Sequence[PredictedPoint]) -> Mapping[Compared, int]:
    """How many points are beyond what the model was compared with, by what that is."""
    beyond = [
        point.setting.compared
        for point in points
        if point.setting and point.prediction and not point.prediction.was_compared
    ]
    return {compared: len(own) for compared, own in grouped(beyond, lambda compared: compared).items()}


def until_end(plan: Plan, bytes_of: Mapping[str, float]) -> str:
    """Say what all times come to, if the campaign begins now; nothing of a plan without times or end.

    Args:
        plan: With or without times.
        bytes_of: What a sweep's predicted trials carry each time, by its name.
    """
    if not has_times(plan):
        return ""
    now_ns = time.time_ns()
    sizes = []
    for sweep in plan.sweeps:
        times = times_until_end(plan.campaign, sweep, now_ns)
        if times is None:
            return ""
        sizes.append(times * bytes_of.get(sweep.name, 0.0))
    return f"{format_size(sum(sizes))} until the plan's end, if it begins now and no time is missed"
