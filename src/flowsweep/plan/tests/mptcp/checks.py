"""What a sweep of Multipath TCP must have."""

from collections.abc import Iterator
from ipaddress import ip_address

from flowsweep.plan.hosts.pairs import pairs_of_path
from flowsweep.plan.input import PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.wording import counted

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
            paths = _path_count(file, sweep, src, dst)
            if most > paths:
                found = f"found {most}, with {counted(paths, 'path')} between {src} and {dst}"
                message = f"{found}, expected no more: {_MORE[file.lab is not None]}"
                yield Problem((*at, "subflows"), message, about=((*at, "paths", index),))
                return


def _path_count(file: PlanFile, sweep: SweepTable, src: str, dst: str) -> int:
    if file.lab:
        return sum({src, dst} <= set(link.between) for link in file.lab.links.values())
    hosts = [file.hosts[name] for name in (src, dst) if name in file.hosts]
    versions = [[ip_address(address).version for address in host.further_addresses] for host in hosts]
    of_hosts = [known.count(version) for version in sweep.family or (4, 6) for known in versions]
    return 1 + max(of_hosts, default=0)
