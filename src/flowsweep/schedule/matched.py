"""The points of two plans that were joined, each of A beside the same of B."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from flowsweep.plan.against import setting_pairs
from flowsweep.plan.model import Plan
from flowsweep.schedule.grid import Point, expand
from flowsweep.schedule.planned import bounded_plan
from flowsweep.schedule.trial import Trial


def joined_plan(stored_plan: Mapping[str, Any]) -> Plan | None:
    """Take a plan of two settings, as JSON has it; None for any other, and for one of another version."""
    plan = bounded_plan(stored_plan)
    return plan if plan is not None and setting_pairs(plan) else None


def matched(plan: Plan) -> tuple[tuple[Point, Point], ...]:
    """Match the points of A and of B, which their sweeps have in the same order; none of any other plan.

    Raises:
        ValueError: The sweeps have not the same points, as no plan that was joined has them.
    """
    sweeps = setting_pairs(plan)
    if not sweeps:
        return ()
    of_sweep: dict[str, list[Point]] = {sweep.name: [] for sweep in plan.sweeps}
    for point in expand(plan):
        of_sweep[point.sweep].append(point)
    return tuple(
        both
        for first, second in sweeps
        for both in zip(of_sweep[first.name], of_sweep[second.name], strict=True)
    )


def matched_trials(
    plan: Plan, repeats: Iterable[int] | None = None
) -> Iterator[tuple[str, tuple[tuple[Trial, Trial], ...]]]:
    """List what is compared: for each point and direction the trials of A and of B, repeat by repeat.

    Args:
        plan: That was joined.
        repeats: Which ones; those that the campaign asks for, if absent.

    Yields:
        The name of the sweep in both plans, and the pairs.

    Raises:
        ValueError: As of `matched`.
    """
    names = {first.name: first.plain_name for first, _ in setting_pairs(plan)}
    numbers = tuple(range(1, plan.campaign.repeats + 1) if repeats is None else repeats)
    for first, second in matched(plan):
        of_repeats = [zip(first.trials(repeat), second.trials(repeat), strict=True) for repeat in numbers]
        for pairs in zip(*of_repeats, strict=True):
            yield names[first.sweep], pairs
