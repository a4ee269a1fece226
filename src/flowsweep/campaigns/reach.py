"""The hosts of a plan, as engines reach them: those that it names, or a lab's."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.of_plan import accesses_of
from flowsweep.lab import build_lab
from flowsweep.plan import Plan
from flowsweep.run.observer import PathObserver


@contextmanager
def reached_hosts(plan: Plan, seed: int) -> Iterator[tuple[Mapping[str, HostAccess], PathObserver | None]]:
    """The hosts of a plan while the block runs, and who knows the paths between them: a lab, or nobody."""
    if not plan.links:
        yield accesses_of(plan.hosts), None
        return
    with build_lab(plan.links, plan.hosts, seed=seed) as lab:
        yield lab.access, lab.observer
