"""Which hosts the trials of a path are between."""

from flowsweep.plan.hosts.expansion import HostPair, host_pairs, members
from flowsweep.plan.input import PlanFile
from flowsweep.plan.sweeps.table import PathTable


def pairs_of_path(file: PlanFile, path: PathTable, pairs: int | None = None) -> tuple[HostPair, ...]:
    """Pair the hosts of a path that take part: in one trial, or of a mesh in a trial each."""
    sources, sinks = (members(file.groups, name, pairs) for name in (path.src, path.dst))
    if path.mesh == "pairs":
        return tuple(zip(sources, sinks, strict=False))  # groups of other sizes are refused as such
    return host_pairs(sources, sinks)
