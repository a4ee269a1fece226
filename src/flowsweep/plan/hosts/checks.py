"""What hosts and paths must agree on, and paths with the links of a lab."""

import re
from collections.abc import Iterable, Iterator, Sequence

from flowsweep.plan.fields import NAME_EXPECTED, NAME_PATTERN
from flowsweep.plan.hosts.expansion import HostPair
from flowsweep.plan.hosts.pairs import pairs_of_path
from flowsweep.plan.input import HostTable, PlanFile
from flowsweep.plan.links.table import LinkTable
from flowsweep.plan.problems import KeyPath, Problem, shown_path
from flowsweep.plan.readers import did_you_mean, shown
from flowsweep.plan.sweeps.table import PathTable


def host_problems(file: PlanFile) -> Iterator[Problem]:
    """Find hosts that nobody described or can reach, and paths that no link joins."""
    links = file.lab.links if file.lab else {}
    yield from _name_problems(file, links)
    if file.lab:
        yield from _lab_host_problems(file, links)
    addresses_missing: set[str] = set()
    for at, path in _paths(file):
        unknown = list(_unknown_names(file, at, path))
        yield from unknown
        pairs = pairs_of_path(file, path)
        if unknown or not {host for pair in pairs for host in pair} <= known_hosts(file):
            continue
        if file.lab:
            yield from _unjoined(links, at, pairs)
        # What runs beside a trial is never turned round.
        one_way = "background" in at or file.sweep[int(at[1])].directions == "one"
        for src, dst in pairs if one_way else (*pairs, *((dst, src) for src, dst in pairs)):
            for problem in _unreachable(file, at, src, dst):
                if shown_path(problem.path) not in addresses_missing:
                    addresses_missing.add(shown_path(problem.path))
                    yield problem


def listening_host(hosts: dict[str, HostTable], src: str, dst: str) -> str | None:
    """Return which end of a path listens: a server, or the sink where it can; None if neither can."""
    for name in (dst, src):
        if hosts.get(name, HostTable()).peer != "engine":
            return name
    return next((name for name in (dst, src) if hosts.get(name, HostTable()).listens), None)


def known_hosts(file: PlanFile) -> set[str]:
    """Name all hosts that paths and groups may name: those of the lab's links if there is a lab."""
    if file.lab:
        return {host for link in file.lab.links.values() for host in link.between}
    return set(file.hosts)


def unknown_host(file: PlanFile, at: KeyPath, name: str, known: Iterable[str]) -> Problem:
    """Say that a name is none of those that are known, and how to make it one."""
    add = (
        "join it by a link of the lab in [lab.links.…]"
        if file.lab
        else f"describe it in [hosts.{name}], which may be empty if it is this machine"
    )
    hint = did_you_mean(name, sorted(known)) or f": {add}"
    about: tuple[KeyPath, ...] = (("hosts",), ("groups", name), ("lab",), ("lab", "links"))
    about += tuple(("lab", "links", link, "between") for link in (file.lab.links if file.lab else ()))
    return Problem(at, f"found the unknown host {shown(name)}{hint}", about=about)


def is_bare(host: HostTable) -> bool:
    """Say whether nothing is said of where the host is: it is this machine, on its loopback."""
    return not host.launch and host.address is None and host.data_address is None


def _paths(file: PlanFile) -> Iterator[tuple[KeyPath, PathTable]]:
    for number, sweep in enumerate(file.sweep):
        for index, path in enumerate(sweep.paths):
            yield ("sweep", number, "paths", index), path
        for index, background in enumerate(sweep.background):
            if background.src is not None and background.dst is not None:
                path = PathTable.model_validate({"from": background.src, "to": background.dst})
                yield ("sweep", number, "background", index), path


def _name_problems(file: PlanFile, links: dict[str, LinkTable]) -> Iterator[Problem]:
    paths: list[KeyPath] = [("hosts", name) for name in file.hosts]
    paths += [("groups", name) for name in file.groups]
    paths += [("lab", "links", name) for name in links]
    for path in paths:
        if not re.fullmatch(NAME_PATTERN, str(path[-1])):
            yield Problem(path, f"found {shown(path[-1])}, expected {NAME_EXPECTED}")


def _lab_host_problems(file: PlanFile, links: dict[str, LinkTable]) -> Iterator[Problem]:
    link_of = {host: name for name, link in links.items() for host in link.between}
    betweens: tuple[KeyPath, ...] = tuple(("lab", "links", name, "between") for name in links)
    for name, host in file.hosts.items():
        if name not in link_of:
            message = "is in no link of the lab: a plan with a lab measures between hosts of its links only"
            yield Problem(("hosts", name), message + did_you_mean(name, list(link_of)), about=betweens)
            continue
        for key in ("launch", "address", "data_address", "further_addresses", "bind"):
            if getattr(host, key):
                message = (
                    f"found on a host of lab.links.{link_of[name]}: a lab makes its hosts on this machine "
                    "and gives them their addresses; leave it out"
                )
                yield Problem(("hosts", name, key), message)


def _unknown_names(file: PlanFile, at: KeyPath, path: PathTable) -> Iterator[Problem]:
    known = known_hosts(file) | file.groups.keys()
    for key, name in (("from", path.src), ("to", path.dst)):
        if name not in known:
            yield unknown_host(file, (*at, key), name, known)


def _unjoined(links: dict[str, LinkTable], at: KeyPath, pairs: Sequence[HostPair]) -> Iterator[Problem]:
    for src, dst in pairs:
        if not any({src, dst} <= set(link.between) for link in links.values()):
            message = f'found "{src}" and "{dst}", which no link of the lab joins: add one between them'
            yield Problem(at, message, about=tuple(("lab", "links", name, "between") for name in links))
            return


def _unreachable(file: PlanFile, at: KeyPath, src: str, dst: str) -> Iterator[Problem]:
    listener = listening_host(file.hosts, src, dst)
    if listener is None:
        message = (
            f"found listens = false at both ends, {src} and {dst}, expected one end that can be connected to"
        )
        yield Problem(at, message)
        return
    peer = src if listener == dst else dst
    if file.lab or (is_bare(file.hosts[listener]) and not file.hosts[peer].launch):
        return
    host = file.hosts[listener]
    if host.address is None and host.data_address is None:
        message = f'missing: write the name or IP address by which "{peer}" can connect, for {shown_path(at)}'
        about: tuple[KeyPath, ...] = (("hosts", listener, "data_address"), ("hosts", listener, "listens"))
        yield Problem(("hosts", listener, "address"), message, about=about)
