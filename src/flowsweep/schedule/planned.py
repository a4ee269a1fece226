"""What a plan asks for, as an archive keeps it: sweeps, how many trials, over which emulated links."""

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from flowsweep import defaults
from flowsweep.plan.links.model import Link
from flowsweep.plan.model import Plan, Sweep
from flowsweep.plan.searching.model import SearchInRounds
from flowsweep.schedule.grid import expand
from flowsweep.schedule.timetable import has_times
from flowsweep.schedule.trial import Slot


def planned_trials(stored_plan: Mapping[str, Any]) -> int | None:
    """Count the trials that a stored plan asks for.

    Args:
        stored_plan: A checked plan, as JSON has it.

    Returns:
        None for one whose sweeps run when they are due, of which nobody knows how often that will be, or that
        searches until it knows enough; for one of another version, and for one that no file can have asked
        for: archives come from strangers, too, and the plan in one may never have been checked.
    """
    plan = bounded_plan(stored_plan)
    if plan is None or has_times(plan) or any(isinstance(one.search, SearchInRounds) for one in plan.sweeps):
        return None
    each = (
        len(trials) * Slot(trials=trials[:1]).steps
        for trials in (point.trials(repeat=1) for point in expand(plan))
    )
    return plan.campaign.repeats * sum(each)


def bounded_plan(stored_plan: Mapping[str, Any]) -> Plan | None:
    """Take a plan as JSON has it; None for one of another version, or that no file can have asked for."""
    try:
        plan = Plan.model_validate(stored_plan)
        most = plan.campaign.repeats * sum(map(_most_points, plan.sweeps))
        ceiling = defaults.TRIALS_MAX * (2 if any(sweep.setting for sweep in plan.sweeps) else 1)
        if plan.campaign.repeats < 1 or most > ceiling:
            return None
        for point in expand(plan):
            point.trials(repeat=1)
    except (ValidationError, ArithmeticError):
        return None
    return plan


def planned_links(stored_plan: Mapping[str, Any]) -> tuple[Link, ...]:
    """Take the emulated links from a checked plan, as JSON has it; none from one of another version."""
    return _entries(_LINKS, stored_plan.get("links", ()))


_Entry = TypeVar("_Entry")


class PlannedPath(BaseModel):
    """Hosts that a sweep measures between."""

    src: str
    dst: str


class PlannedSweep(BaseModel):
    """What is known of a sweep in a plan of any version."""

    name: str
    paths: tuple[PlannedPath, ...] = ()


def planned_sweeps(stored_plan: Mapping[str, Any]) -> tuple[PlannedSweep, ...]:
    """Take the sweeps from a plan, as JSON has it, in its order; none from one that has them otherwise."""
    return _entries(_SWEEPS, stored_plan.get("sweeps", ()))


def planned_name(stored_plan: Mapping[str, Any]) -> str | None:
    """The campaign's name in a plan, as JSON has it."""
    campaign = stored_plan.get("campaign")
    name = campaign.get("name") if isinstance(campaign, Mapping) else None
    return name if isinstance(name, str) else None


_SWEEPS = TypeAdapter(tuple[PlannedSweep, ...])
_LINKS = TypeAdapter(tuple[Link, ...])
_NO_AXES = {"background"}


def _entries(adapter: TypeAdapter[tuple[_Entry, ...]], stored: object) -> tuple[_Entry, ...]:
    """Read a list of a stored plan; nothing of one that is of another version."""
    try:
        return adapter.validate_python(stored)
    except ValidationError:
        return ()


def _most_points(sweep: Sweep) -> int:
    """How many points the axes of a sweep multiply to: counted before they are made."""
    axes = (value for name, value in sweep if isinstance(value, tuple) and name not in _NO_AXES)
    return math.prod(len(axis) or 1 for axis in axes)
