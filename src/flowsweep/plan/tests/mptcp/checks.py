"""What a sweep of Multipath TCP must have."""

from collections.abc import Collection, Iterator
from ipaddress import ip_address
from typing import Literal

from flowsweep.plan.hosts.pairs import pairs_of_path
from flowsweep.plan.input import HostTable, PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.wording import counted

Family = Literal[4, 6]
_EITHER: Collection[Family] = (4, 6)
_MORE = {True: "join them by another link", False: "say `further_addresses` of both hosts"}
"""What makes another path, in a lab or not."""


def mptcp_problems(file: PlanFile, sweep: SweepTable, _: list[int], at: KeyPath) -> Iterator[Problem]:
    """Find what connections of several paths cannot be made with."""
    if sweep.dscp is not None and sweep.family != [4]:
        message = "found without `family` = 4, expected it: Linux marks no such connection over IPv6"
        yield Problem((*at, "dscp"), message, about=((*at, "family"), (*at, "test")))
    most = max(sweep.subflows or [1])
    for index, path in enumerate(sweep.paths):
        for src, dst in pairs_of_path(file, path):
            paths, where = _fewest_paths(file, sweep, src, dst)
            if most > paths:
                found = f"found {most}, with {counted(paths, 'path')} between {src} and {dst}{where}"
                message = f"{found}, expected no more: {_MORE[file.lab is not None]}"
                yield Problem((*at, "subflows"), message, about=((*at, "paths", index),))
                return


def _fewest_paths(file: PlanFile, sweep: SweepTable, src: str, dst: str) -> tuple[int, str]:
    """How many paths a connection has at least, and the words for its IP version where that decides.

    Without `family`, a connection is of the version of the hosts' addresses; where a name may be of either,
    of the one with more paths: nobody knows.
    """
    if file.lab:
        return sum({src, dst} <= set(link.between) for link in file.lab.links.values()), ""
    hosts = [file.hosts[name] for name in (src, dst) if name in file.hosts]
    further = [[ip_address(address).version for address in host.further_addresses] for host in hosts]
    versions = sweep.family or {version for host in hosts for version in _versions(host)} or _EITHER
    paths = {version: 1 + max((known.count(version) for known in further), default=0) for version in versions}
    if not sweep.family:
        return max(paths.values()), ""
    fewest = min(paths, key=lambda version: paths[version])
    return paths[fewest], f" over IPv{fewest}" if len(set(paths.values())) > 1 else ""


def _versions(host: HostTable) -> Collection[Family]:
    """The IP versions that the address for data may be of."""
    try:
        return {ip_address(host.data_address or host.address or "").version}
    except ValueError:
        return _EITHER
