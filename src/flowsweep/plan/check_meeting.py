"""Whether the two ends of a path can meet: what their IP versions and ports must agree on."""

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from flowsweep.plan.check_hosts import listening_host
from flowsweep.plan.input import HostTable, PlanFile
from flowsweep.plan.problems import KeyPath, Problem, shown_path
from flowsweep.plan.sweep_table import PathTable, SweepTable

LOOPBACK_VERSION = 4
"""Where the loopback is reached if neither an address nor a `family` says otherwise."""


def meeting_problems(file: PlanFile) -> Iterator[Problem]:
    """Find paths whose ends have no IP version in common, or too few ports to listen on."""
    for number, sweep in enumerate(file.sweep):
        at: KeyPath = ("sweep", number)
        for index, path in enumerate(sweep.paths):
            if path.src == path.dst:
                continue
            if sweep.directions == "simultaneous":
                yield from _port_problems(file, path, (*at, "paths", index))
            if not file.lab:
                yield from _version_problems(file.hosts, sweep, path, at)


@dataclass(frozen=True, slots=True)
class _Address:
    """Something that a host says of its addresses, and the IP version it has."""

    path: KeyPath
    text: str
    version: int


def _version_problems(
    hosts: dict[str, HostTable], sweep: SweepTable, path: PathTable, at: KeyPath
) -> Iterator[Problem]:
    ways = [(path.src, path.dst), (path.dst, path.src)]
    families: Sequence[int | None] = sweep.family or (None,)
    for (src, dst), (index, family) in product(
        ways[:1] if sweep.directions == "one" else ways, enumerate(families)
    ):
        listener = listening_host(hosts, src, dst)
        if listener is None or not {src, dst} <= hosts.keys():
            continue
        said = list(_addresses(hosts, listener, src if listener == dst else dst, family))
        if family is None:
            yield from _disagreeing(said, f"{src} and {dst}")
            continue
        key = (*at, "family", index) if len(families) > 1 else (*at, "family")
        for address in said:
            if address.version != family:
                message = (
                    f"found {family}, which {shown_path(address.path)} rules out: "
                    f"{address.text} is IPv{address.version}"
                )
                yield Problem(key, message, about=(address.path,))


def _disagreeing(said: list[_Address], ends: str) -> Iterator[Problem]:
    for address in said[1:]:
        first = said[0]
        if address.version != first.version:
            message = (
                f"found {address.text}, expected an IPv{first.version} address: between {ends} it has to go "
                f"with {shown_path(first.path)}, {first.text}"
            )
            yield Problem(address.path, message, about=(first.path,))


def _addresses(
    hosts: dict[str, HostTable], listener: str, peer: str, family: int | None
) -> Iterator[_Address]:
    """What is known of the addresses of a connection from the peer; a name may have both versions."""
    host = hosts[listener]
    key = "data_address" if host.data_address is not None else "address"
    written = host.data_address or host.address
    if version := _version(written):
        yield _Address(("hosts", listener, key), str(written), version)
    elif written is None and family is None:
        yield _Address(("hosts", listener), "this machine's loopback", LOOPBACK_VERSION)
    for name in (listener, peer):
        bind = hosts[name].bind
        # Listening on all addresses of IPv6 is listening on those of IPv4 too, unless IPv6 is asked for.
        takes_both = name == listener and family is None and bind == "::"
        if (version := _version(bind)) and not takes_both:
            yield _Address(("hosts", name, "bind"), str(bind), version)


def _version(address: str | None) -> int | None:
    try:
        return ipaddress.ip_address(address or "").version
    except ValueError:
        return None


def _port_problems(file: PlanFile, path: PathTable, at: KeyPath) -> Iterator[Problem]:
    """Both directions at once need two ports where one machine listens for both."""
    there = listening_host(file.hosts, path.src, path.dst)
    back = listening_host(file.hosts, path.dst, path.src)
    if there is None or back is None:
        return
    one, other = (file.hosts.get(name, HostTable()) for name in (there, back))
    if one.ports is None or one.ports != other.ports or one.ports[0] != one.ports[1]:
        return
    if there == back:
        who = f"{there} listens"
    elif (
        not file.lab
        and one.launch == other.launch
        and (one.bind == other.bind or not (one.bind and other.bind))
    ):
        who = f"{there} and {back}, on one machine, listen"
    else:
        return
    message = (
        f"found a single port, expected at least two: {who} for both directions of {shown_path(at)} at once"
    )
    yield Problem(
        ("hosts", there, "ports"), message, about=(("hosts", back, "ports"), ("hosts", back, "bind"))
    )
