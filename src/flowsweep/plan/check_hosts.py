"""What hosts, links and paths must agree on."""

import itertools
import re
from collections.abc import Iterator

from flowsweep.plan.fields import NAME_EXPECTED, NAME_PATTERN
from flowsweep.plan.input import HostTable, LinkTable, PlanFile
from flowsweep.plan.problems import KeyPath, Problem, shown_path
from flowsweep.plan.readers import did_you_mean, shown
from flowsweep.plan.sweep_table import PathTable

HOSTS_OF_A_LINK = 2


def host_problems(file: PlanFile) -> Iterator[Problem]:
    """Find hosts that nobody described or can reach, and links that join nothing."""
    links = file.lab.links if file.lab else {}
    yield from _name_problems(file, links)
    yield from _link_problems(file, links)
    if file.lab:
        yield from _lab_host_problems(file, links)
    addresses_missing: set[str] = set()
    for at, path in _paths(file):
        unknown = list(_unknown_hosts(file, links, at, path))
        yield from unknown
        if unknown or path.src == path.dst:
            continue
        if file.lab:
            yield from _unjoined(links, at, path)
        ways = [(path.src, path.dst), (path.dst, path.src)]
        one_way = file.sweep[int(at[1])].directions == "one"
        for src, dst in ways[:1] if one_way else ways:
            for problem in _unreachable(file, at, src, dst):
                if shown_path(problem.path) not in addresses_missing:
                    addresses_missing.add(shown_path(problem.path))
                    yield problem


def listening_host(hosts: dict[str, HostTable], src: str, dst: str) -> str | None:
    """Return which end of a path listens: the sink where it can; None if neither can."""
    return next((name for name in (dst, src) if hosts.get(name, HostTable()).listens), None)


def is_bare(host: HostTable) -> bool:
    """Say whether nothing is said of where the host is: it is this machine, on its loopback."""
    return not host.launch and host.address is None and host.data_address is None


def _paths(file: PlanFile) -> Iterator[tuple[KeyPath, PathTable]]:
    for number, sweep in enumerate(file.sweep):
        for index, path in enumerate(sweep.paths):
            yield ("sweep", number, "paths", index), path


def _name_problems(file: PlanFile, links: dict[str, LinkTable]) -> Iterator[Problem]:
    paths: list[KeyPath] = [("hosts", name) for name in file.hosts]
    paths += [("lab", "links", name) for name in links]
    for path in paths:
        if not re.fullmatch(NAME_PATTERN, str(path[-1])):
            yield Problem(path, f"found {shown(path[-1])}, expected {NAME_EXPECTED}")


def _link_problems(file: PlanFile, links: dict[str, LinkTable]) -> Iterator[Problem]:
    if file.lab and not links:
        yield Problem(("lab", "links"), "missing: a lab needs a link, as in [lab.links.atlantic]")
    for name, link in links.items():
        if len(set(link.between)) != HOSTS_OF_A_LINK or len(link.between) != HOSTS_OF_A_LINK:
            path = ("lab", "links", name, "between")
            yield Problem(path, f'found {shown(link.between)}, expected two hosts, as in ["left", "right"]')
        if link.queue is not None and link.rate is None:
            path, about = ("lab", "links", name, "queue"), (("lab", "links", name, "rate"),)
            message = "has no effect without `rate`: nothing waits for a link of unlimited rate; set one"
            yield Problem(path, message, about)
    for (first, one), (second, other) in itertools.combinations(links.items(), 2):
        if one.between and set(one.between) == set(other.between):
            message = f"joins the hosts that lab.links.{first} joins already: leave one out"
            yield Problem(("lab", "links", second, "between"), message)


def _lab_host_problems(file: PlanFile, links: dict[str, LinkTable]) -> Iterator[Problem]:
    link_of = {host: name for name, link in links.items() for host in link.between}
    betweens: tuple[KeyPath, ...] = tuple(("lab", "links", name, "between") for name in links)
    for name, host in file.hosts.items():
        if name not in link_of:
            message = "is in no link of the lab: a plan with a lab measures between hosts of its links only"
            yield Problem(("hosts", name), message + did_you_mean(name, list(link_of)), about=betweens)
            continue
        for key in ("launch", "address", "data_address", "bind"):
            if getattr(host, key):
                message = (
                    f"found on a host of lab.links.{link_of[name]}: a lab makes its hosts on this machine "
                    "and gives them their addresses; leave it out"
                )
                yield Problem(("hosts", name, key), message)


def _unknown_hosts(
    file: PlanFile, links: dict[str, LinkTable], at: KeyPath, path: PathTable
) -> Iterator[Problem]:
    if file.lab:
        known = sorted({host for link in links.values() for host in link.between})
        add = "join it by a link of the lab"
    else:
        known = sorted(file.hosts)
        add = "describe it"
    about: tuple[KeyPath, ...] = (("hosts",), ("lab",), ("lab", "links"))
    about += tuple(("lab", "links", name, "between") for name in links)
    for key, host in (("from", path.src), ("to", path.dst)):
        if host not in known:
            section = "[lab.links.…]" if file.lab else f"[hosts.{host}]"
            hint = did_you_mean(host, known) or f": {add} in {section}"
            yield Problem((*at, key), f"found the unknown host {shown(host)}{hint}", about=about)


def _unjoined(links: dict[str, LinkTable], at: KeyPath, path: PathTable) -> Iterator[Problem]:
    if not any(set(link.between) == {path.src, path.dst} for link in links.values()):
        message = f'found "{path.src}" and "{path.dst}", which no link of the lab joins: add one between them'
        yield Problem(at, message, about=tuple(("lab", "links", name, "between") for name in links))


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
