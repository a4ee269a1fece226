"""What a plan with times is predicted to send: each time that its sweeps are due, and until it ends."""

import time
from collections.abc import Mapping

from flowsweep.plan import Plan
from flowsweep.schedule import has_times
from flowsweep.schedule.timetable import times_until_end
from flowsweep.wording import format_size

EACH_TIME = "each time that the sweeps are due"


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
