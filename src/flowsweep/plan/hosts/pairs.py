"""Which hosts the trials of a path are between."""

from flowsweep.plan.hosts.expansion import HostPair, mesh_pairs
from flowsweep.plan.input import PlanFile
from flowsweep.plan.sweeps.table import PathTable


def pairs_of_path(file: PlanFile, path: PathTable, pairs: int | None = None) -> tuple[HostPair, ...]:
    """Pair the hosts of a path that take part, as `mesh_pairs` does."""
    return mesh_pairs(file.groups, path.src, path.dst, path.mesh, pairs)


def trials_of_path(file: PlanFile, path: PathTable) -> int:
    """How many trials one way run over a path for each point: of a mesh one for each pair."""
    return 1 if path.mesh is None else len(pairs_of_path(file, path))
