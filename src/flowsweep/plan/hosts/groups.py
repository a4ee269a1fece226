"""What groups of hosts, and the sweeps between them, must agree on."""

from collections import Counter
from collections.abc import Iterator

from flowsweep import defaults
from flowsweep.plan.hosts.checks import known_hosts, unknown_host
from flowsweep.plan.hosts.pairs import pairs_of_path
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.searching.keys import levels_of
from flowsweep.plan.sweeps.table import PathTable, SweepTable
from flowsweep.wording import counted


def group_problems(file: PlanFile) -> Iterator[Problem]:
    """Find groups of hosts that are not there, and sweeps that ask more of groups than they have."""
    known = known_hosts(file)
    for name, hosts in file.groups.items():
        if name in known:
            yield Problem(("groups", name), f'found the name of the host "{name}", expected another name')
        for index, host in enumerate(hosts):
            if host not in known:
                yield unknown_host(file, ("groups", name, index), host, known)
    for number, sweep in enumerate(file.sweep):
        at: KeyPath = ("sweep", number)
        for index, path in enumerate(sweep.paths):
            here = (*at, "paths", index)
            yield from _pairs_problems(file, sweep, path, here, (*at, "pairs"))
            yield from _both_ends_problems(file, sweep, path, here)
            yield from _host_limit_problems(file, sweep, path, at)


def total_flows(file: PlanFile, sweep: SweepTable) -> list[int]:
    """List the numbers of flows that the trials of a sweep have, over all pairs of hosts."""
    counts = {
        (len(pairs_of_path(file, path, pairs)) if path.mesh is None else 1) * flows
        for path in sweep.paths
        for pairs in sweep.pairs or (None,)
        for flows in levels_of(sweep.flows)
    }
    return sorted(counts - {0}) or sorted(levels_of(sweep.flows))


def _pairs_problems(
    file: PlanFile, sweep: SweepTable, path: PathTable, here: KeyPath, at: KeyPath
) -> Iterator[Problem]:
    if sweep.pairs is None or path.mesh is not None:
        return
    groups = [name for name in (path.src, path.dst) if name in file.groups]
    about: tuple[KeyPath, ...] = (here, *(("groups", name) for name in groups))
    if not groups:
        message = f"found for a path from {path.src} to {path.dst}, which are no groups; leave it out"
        yield Problem(at, message, about=(here, ("groups",)))
        return
    smallest = min(groups, key=lambda name: len(file.groups[name]))
    for index, pairs in enumerate(sweep.pairs):
        if pairs > len(file.groups[smallest]):
            key = (*at, index) if len(sweep.pairs) > 1 else at
            message = (
                f"found {pairs}, expected at most {len(file.groups[smallest])}: {smallest} has no more hosts"
            )
            yield Problem(key, message, about)


def _both_ends_problems(
    file: PlanFile, sweep: SweepTable, path: PathTable, here: KeyPath
) -> Iterator[Problem]:
    if path.src == path.dst and path.src in file.groups and sweep.directions != "one":
        message = (
            f'found "{path.src}" at both ends, which has each of its hosts send to each other already: '
            f'leave directions = "{sweep.directions}" out'
        )
        yield Problem(here, message, about=(("groups", path.src),))
    elif path.src != path.dst or path.src in file.groups:
        fewest = min(sweep.pairs) if sweep.pairs else None
        if not pairs_of_path(file, path, fewest):
            yield Problem(
                here,
                "found a single host at both ends, expected another one that it can send to",
                about=(("groups", path.src), ("groups", path.dst), (*here[:2], "pairs")),
            )


def _host_limit_problems(
    file: PlanFile, sweep: SweepTable, path: PathTable, at: KeyPath
) -> Iterator[Problem]:
    if path.mesh is not None:
        return
    pairs = pairs_of_path(file, path, max(sweep.pairs) if sweep.pairs else None)
    peers = Counter(host for pair in pairs for host in pair)
    if not peers:
        return
    ((host, most),) = peers.most_common(1)
    flows = max(levels_of(sweep.flows))
    if most * flows > defaults.FLOWS_MAX and most > 1:
        message = (
            f"found {counted(flows, 'flow')} from each source to each sink, which are {most * flows} at "
            f"{host}, expected at most {defaults.FLOWS_MAX} at a host"
        )
        yield Problem((*at, "flows"), message, about=(("groups",), (*at, "paths"), (*at, "pairs")))
