"""What a sweep of Multipath TCP must have."""

from collections.abc import Collection, Iterator
from ipaddress import ip_address
from typing import Literal

from flowsweep.plan.hosts.checks import listening_host
from flowsweep.plan.hosts.pairs import pairs_of_path
from flowsweep.plan.input import HostTable, PlanFile
from flowsweep.plan.problems import KeyPath, Problem
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.wording import counted

Family = Literal[4, 6]
_EITHER: Collection[Family] = (4, 6)


def mptcp_problems(file: PlanFile, sweep: SweepTable, _: list[int], at: KeyPath) -> Iterator[Problem]:
    """Find what connections of several paths cannot be made with."""
    if sweep.dscp is not None and sweep.family != [4]:
        message = "found without `family` = 4, expected it: Linux marks no such connection over IPv6"
        yield Problem((*at, "dscp"), message, about=((*at, "family"), (*at, "test")))
    most = max(sweep.subflows or [1])
    for index, path in enumerate(sweep.paths):
        pairs = pairs_of_path(file, path)
        for src, dst in pairs if sweep.directions == "one" else (*pairs, *((dst, src) for src, dst in pairs)):
            paths, only = _fewest_paths(file, sweep, src, dst)
            if most > paths:
                over = "" if only is None else f" over IPv{only}"
                found = f"found {most}, with {counted(paths, 'path')} between {src} and {dst}{over}"
                message = f"{found}, expected no more: {_what_adds_one(file, only)}"
                yield Problem((*at, "subflows"), message, about=((*at, "paths", index),))
                return


def _what_adds_one(file: PlanFile, only: Family | None) -> str:
    if file.lab:
        return "join them by another link"
    return f"say `further_addresses`{'' if only is None else ' of that version'} of both hosts"


def _fewest_paths(file: PlanFile, sweep: SweepTable, src: str, dst: str) -> tuple[int, Family | None]:
    """How many paths a connection has at least, and its IP version where addresses of the other add none.

    Without `family`, a connection is of the version of the address that one end connects to; where that is a
    name and may be of either, of the one with more paths: nobody knows.
    """
    if file.lab:
        return sum({src, dst} <= set(link.between) for link in file.lab.links.values()), None
    hosts = [file.hosts[name] for name in (src, dst) if name in file.hosts]
    further = [[ip_address(address).version for address in host.further_addresses] for host in hosts]
    versions = sweep.family or _versions(file.hosts.get(listening_host(file.hosts, src, dst) or ""))
    paths = {version: 1 + max((known.count(version) for known in further), default=0) for version in versions}
    fewest = (min if sweep.family else max)(paths.values())
    such = [version for version in versions if paths[version] == fewest]
    others = {version for known in further for version in known} - set(such)
    return fewest, such[0] if others and len(such) == 1 else None


def _versions(host: HostTable | None) -> Collection[Family]:
    """The IP versions that a host's address for data may be of."""
    written = "" if host is None else host.data_address or host.address or ""
    try:
        return {ip_address(written).version}
    except ValueError:
        return _EITHER
