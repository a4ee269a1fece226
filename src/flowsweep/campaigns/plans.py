"""The plans of a service: each right for itself, and none in the way of another."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from flowsweep.campaigns.folders import folder_name, is_of_one_name
from flowsweep.errors import PlanError
from flowsweep.lab.rootless import in_user_namespace, may_administer_networks
from flowsweep.plan import Plan, load_plan, plan_difference
from flowsweep.plan.build import LOOPBACK
from flowsweep.schedule import has_times


def plan_files(places: Iterable[Path]) -> list[Path]:
    """List the plans: files, and those of folders whose names end in `.toml`.

    Raises:
        PlanError: There is none.
    """
    found = [
        file for place in places for file in (sorted(place.glob("*.toml")) if place.is_dir() else [place])
    ]
    if not found:
        raise PlanError("service", ("no plan: expected files, or folders with files that end in .toml",))
    return list(dict.fromkeys(found))


def load_plans(places: Iterable[Path]) -> dict[Path, Plan]:
    """Read the plans of a service.

    Raises:
        PlanError: One is wrong, has no times, or is in the way of another.
    """
    plans = {file: load_plan(file) for file in plan_files(places)}
    for plan in plans.values():
        if not has_times(plan):
            message = "campaign.every: missing, expected times: a service runs what is due again and again"
            raise PlanError(plan.source, (message,))
    problems = (*_conflicts(plans), *_cut_off(plans))
    if problems:
        raise PlanError(", ".join(plan.source for plan in plans.values()), problems)
    return plans


def has_changed(then: Plan, now: Plan | None) -> bool:
    """Whether a campaign has to end: its plan asks for something else, or is gone. A comment is nothing."""
    if now is None or plan_difference(then, now):
        return True
    return _beside(then) != _beside(now)


def _beside(plan: Plan) -> tuple[object, ...]:
    """What a campaign has beside its measurements: it may change while its archive goes on."""
    return plan.alarms, plan.retain, {monitor.name: monitor for monitor in plan.monitors}


def _conflicts(plans: Mapping[Path, Plan]) -> Iterable[str]:
    """Two plans have an archive each, and no host in common: they would measure each other."""
    for first, second in combinations(plans.values(), 2):
        both = f"{first.source} and {second.source}"
        if folder_name(first) == folder_name(second):
            yield f"campaign.name: {both} have the same, {first.campaign.name}: expected a name for each"
        elif is_of_one_name(folder_name(first), folder_name(second)):
            yield (
                f"campaign.name: {both} are called {first.campaign.name} and {second.campaign.name}: where "
                "the plan of the shorter name changes, its archive has the longer one; expected other names"
            )
        if not first.links and not second.links and (shared := sorted(_hosts(first) & _hosts(second))):
            yield (
                f"hosts: {both} both measure at {', '.join(shared)}, and would disturb each other: put their "
                "sweeps into one plan"
            )


def _cut_off(plans: Mapping[Path, Plan]) -> Iterable[str]:
    """Without root a service with emulated links is in a namespace, from where it reaches no other host."""
    if may_administer_networks() and not in_user_namespace():
        return
    emulated = [plan.source for plan in plans.values() if plan.links]
    real = [plan.source for plan in plans.values() if not plan.links]
    if emulated and real:
        yield (
            f"links: {', '.join(emulated)} emulated, {', '.join(real)} not: without root emulated links are "
            "in a network namespace, from where nothing else is reached; expected a service for each, or root"
        )


def refuse_what_needs_a_start(plans: Mapping[Path, Plan]) -> None:
    """Refuse, without root, emulated links in a process that began without, and other hosts in one with some.

    Raises:
        PlanError: There are some: the user namespace for links is entered when a service begins, never later,
            and never left.
    """
    emulated = [plan.source for plan in plans.values() if plan.links]
    if emulated and not may_administer_networks():
        message = "links: expected none without root, as the service began without any: start it anew"
        raise PlanError(", ".join(emulated), (message,))
    real = [plan.source for plan in plans.values() if not (plan.links or _is_bare(plan))]
    if real and in_user_namespace():
        message = (
            "hosts: not reached, as without root the service began with emulated links, in a network "
            "namespace: start it anew"
        )
        raise PlanError(", ".join(real), (message,))


def _is_bare(plan: Plan) -> bool:
    """Whether all hosts are this machine's loopback, which there is in a namespace, too."""
    return all(
        host.address == LOOPBACK and not (host.launch or host.data_address or host.server)
        for host in plan.hosts
    )


def _hosts(plan: Plan) -> set[str]:
    """What identifies the hosts of a plan: where peers reach them, or else what starts engines there.

    Those of labs are its own; one of which nothing is said is on this machine's loopback.
    """
    if plan.links:
        return set()
    return {host.data_address or host.address or _launched_by(host.launch) for host in plan.hosts}


def _launched_by(launch: Sequence[str]) -> str:
    return f"`{shlex.join(launch)}`" if launch else "this machine"
