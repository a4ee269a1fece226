"""What `check` says of trials that run at the same time: how many, how long that takes, what limits it."""

from collections.abc import Iterator, Sequence

from flowsweep.plan import Plan
from flowsweep.schedule import Slot
from flowsweep.schedule.packing import Packed, jobs_of, packed, sharing_of
from flowsweep.wording import counted, format_duration

Row = tuple[str, str]
_ANY_SEED = 0


def seed_to_count_with(plan: Plan) -> int:
    """The plan's seed, or any: counts and times are the same for every seed."""
    return _ANY_SEED if plan.campaign.seed is None else plan.campaign.seed


def expected_packed(plan: Plan, slots: Sequence[Slot]) -> Packed:
    """What slots of a plan take if trials last as long as expected."""
    sharing = sharing_of(plan)
    return packed(jobs_of(slots, sharing), sharing)


def packed_rows(plan: Plan, slots: Sequence[Slot]) -> Iterator[Row]:
    """Say what several trials at a time come to; nothing where there is one at a time."""
    if plan.campaign.concurrent == 1:
        return
    found = expected_packed(plan, slots)
    is_best = found.lasts_ns == found.bound_ns
    shortest = f"no schedule can be shorter than {format_duration(found.bound_ns)}"
    best = "this is the shortest possible schedule" if is_best else shortest
    alone_ns = sum(job.lasts_ns for job in found.begins_ns)
    trials, places = found.most_trials_at_once, found.most_at_once
    most = f"up to {counted(trials, 'trial')} (the plan allows {plan.campaign.concurrent})"
    if trials > places:
        most = (
            f"up to {counted(trials, 'trial')}, which count as {places} (the plan allows "
            f"{plan.campaign.concurrent}), since two directions at once count as one"
        )
    yield "at the same time", f"{most}; {best}; one at a time: {format_duration(alone_ns)}"
    if plan.named_links:
        links = (f"{link.name} ({counted(link.concurrent, 'trial')} at a time)" for link in plan.named_links)
        yield "named links", ", ".join(links)
