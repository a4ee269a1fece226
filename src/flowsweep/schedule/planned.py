"""What a plan asks for, as an archive keeps it: how many trials, over which emulated links."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from flowsweep.plan.model import Link, Plan
from flowsweep.schedule.grid import expand


def planned_trials(stored_plan: Mapping[str, Any]) -> int | None:
    """Count the trials that a checked plan, as JSON has it, asks for; None for one of another version."""
    try:
        plan = Plan.model_validate(stored_plan)
    except ValidationError:
        return None
    each = (
        len(point.trials(repeat=1)) * (1 if point.search is None else point.search.trials)
        for point in expand(plan)
    )
    return plan.campaign.repeats * sum(each)


def planned_links(stored_plan: Mapping[str, Any]) -> tuple[Link, ...]:
    """Take the emulated links from a checked plan, as JSON has it; none from one of another version."""
    try:
        return tuple(Link.model_validate(link) for link in stored_plan.get("links", ()))
    except ValidationError:
        return ()
