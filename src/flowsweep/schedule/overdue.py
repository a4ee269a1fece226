"""Whether a sweep should have run since it was measured last."""

from collections.abc import Mapping
from itertools import islice, takewhile

from flowsweep.plan.model import Plan
from flowsweep.schedule.timetable import has_times, occasions, surely_before


def due_well_before(plan: Plan, begun_ns: int, unix_ns: int) -> Mapping[str, int]:
    """By sweep, up to which number it was due well before a moment: a year of times need not be counted."""
    return {
        sweep.name: max(0, surely_before(sweep.timing, begun_ns, unix_ns) - 2)
        for sweep in plan.sweeps
        if sweep.timing is not None
    }


def was_due_twice(plan: Plan, begun_ns: int, seed: int, sweep: str, *, since_ns: int, now_ns: int) -> bool:
    """Whether a sweep had to have run more than once between two moments, in Unix nanoseconds.

    Args:
        plan: With or without times; without, nothing is due.
        begun_ns: When the campaign began.
        seed: Of the campaign.
        sweep: Its name.
        since_ns: When it was measured last; when the campaign began if it never was.
        now_ns: The moment that is asked for.
    """
    own = plan.model_copy(update={"sweeps": tuple(one for one in plan.sweeps if one.name == sweep)})
    if not has_times(own):
        return False
    due = occasions(own, begun_ns, seed, due_well_before(own, begun_ns, since_ns))
    past = takewhile(lambda one: one.latest_unix_ns < now_ns, due)
    missing = (one for one in past if one.due_unix_ns > since_ns)
    return len(list(islice(missing, 2))) == 2
