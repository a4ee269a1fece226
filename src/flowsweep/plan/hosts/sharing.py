"""What the keys must agree on that say which trials run at the same time, and paths that are meshes."""

from collections.abc import Iterator

from flowsweep.plan.hosts.checks import known_hosts, unknown_host
from flowsweep.plan.hosts.expansion import HostPair, members
from flowsweep.plan.hosts.pairs import pairs_of_path
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem, shown_path
from flowsweep.plan.sweeps.table import PathTable, SweepTable

_CONCURRENT: KeyPath = ("campaign", "concurrent")


def sharing_problems(file: PlanFile) -> Iterator[Problem]:
    """Find named links that nothing can use, keys that do nothing, and meshes that pair no hosts."""
    yield from _link_problems(file)
    for number, sweep in enumerate(file.sweep):
        at: KeyPath = ("sweep", number)
        if not sweep.exclusive and file.campaign.concurrent == 1:
            message = "has no effect: trials run one at a time, unless `concurrent` of [campaign] is above 1"
            yield Problem((*at, "exclusive"), message, about=(_CONCURRENT,))
        found = [
            problem
            for index, path in enumerate(sweep.paths)
            if path.mesh is not None
            for problem in _mesh_problems(file, sweep, path, (*at, "paths", index))
        ]
        yield from found or _twice_problems(file, sweep, at)


def _link_problems(file: PlanFile) -> Iterator[Problem]:
    known = known_hosts(file)
    for name, link in file.links.items():
        at: KeyPath = ("links", name)
        if file.lab:
            message = "found in a plan with a lab, whose links bear one trial at a time: leave it out"
            yield Problem(at, message, about=(("lab",),))
            continue
        if file.campaign.concurrent == 1:
            message = "has no effect: trials run one at a time, unless `concurrent` of [campaign] is above 1"
            yield Problem(at, message, about=(_CONCURRENT,))
        for index, side in enumerate(link.between):
            if side not in known and side not in file.groups:
                yield unknown_host(file, (*at, "between", index), side, known | file.groups.keys())
        sides = [set(members(file.groups, side)) for side in link.between]
        if both := sorted(set.intersection(*sides)):
            message = f"found {both[0]} on both sides, expected two sides without a common host"
            yield Problem((*at, "between"), message, about=(("groups",),))


def _mesh_problems(file: PlanFile, sweep: SweepTable, path: PathTable, at: KeyPath) -> Iterator[Problem]:
    sizes = {name: len(file.groups[name]) for name in (path.src, path.dst) if name in file.groups}
    about: tuple[KeyPath, ...] = (*(("groups", name) for name in sizes), (*at[:2], "pairs"))
    if not sizes:
        message = f"found for a path from {path.src} to {path.dst}, which are no groups; leave it out"
        yield Problem((*at, "mesh"), message, about)
    elif sweep.pairs is not None:
        message = "found together with `pairs`, which is for trials between several hosts: leave one out"
        yield Problem((*at, "mesh"), message, about)
    elif path.mesh == "pairs" and (path.src == path.dst or len(sizes) == 1):
        message = 'found "pairs", expected two groups at the ends of the path, or "full"'
        yield Problem((*at, "mesh"), message, about)
    elif path.mesh == "pairs" and len(set(sizes.values())) > 1:
        listed = ", ".join(f"{name} {size}" for name, size in sizes.items())
        message = f'found "pairs" for groups of other sizes ({listed}), expected as many hosts in both'
        yield Problem((*at, "mesh"), message, about)
    elif path.mesh == "pairs" and (same := [src for src, dst in pairs_of_path(file, path) if src == dst]):
        message = (
            f'found "pairs", which pairs {same[0]} with itself, expected two hosts at each place: '
            'order one of the groups otherwise, or write "full"'
        )
        yield Problem((*at, "mesh"), message, about)


def _twice_problems(file: PlanFile, sweep: SweepTable, at: KeyPath) -> Iterator[Problem]:
    """Find pairs of hosts that a mesh has, and another path has too."""
    both_ends_told = any(path.src == path.dst for path in sweep.paths) and sweep.directions != "one"
    if both_ends_told or all(path.mesh is None for path in sweep.paths):
        return
    seen: dict[HostPair, KeyPath] = {}
    for index, path in enumerate(sweep.paths):
        here = (*at, "paths", index)
        own = ((path.src, path.dst),)
        pairs = own if path.mesh is None else pairs_of_path(file, path)
        back = () if sweep.directions == "one" else tuple((dst, src) for src, dst in pairs)
        for src, dst in (*pairs, *back):
            if (first := seen.get((src, dst))) is not None:
                message = f"measures from {src} to {dst}, which {shown_path(first)} does: leave one out"
                if first == here:
                    message = (
                        f"measures from {src} to {dst} twice, there and back, since both hosts are at both "
                        'ends: write `directions` = "one", or groups without common hosts'
                    )
                yield Problem(here, message, about=(first, (*at, "directions"), ("groups",)))
                return
            seen[src, dst] = here
