"""Which hosts take part in a plan's trials."""

from flowsweep.plan.hosts.expansion import members
from flowsweep.plan.input import PlanFile


def hosts_taking_part(file: PlanFile) -> list[str]:
    """Name every host of a path once, in the order of the file; one that takes no part needs no engine."""
    named = (
        host
        for sweep in file.sweep
        for path in sweep.paths
        for name in (path.src, path.dst)
        for host in members(file.groups, name, max(sweep.pairs) if sweep.pairs else None)
    )
    beside = (
        host
        for sweep in file.sweep
        for background in sweep.background
        for name in (background.src, background.dst)
        if name is not None
        for host in members(file.groups, name)
    )
    return list(dict.fromkeys([*named, *beside]))
