"""Whether the two ends of a path can meet: what their IP versions must agree on, and their ports."""

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from flowsweep.plan.hosts.checks import listening_host
from flowsweep.plan.hosts.expansion import HostPair
from flowsweep.plan.hosts.pairs import pairs_of_path
from flowsweep.plan.hosts.ports import port_problems
from flowsweep.plan.input import HostTable, PlanFile
from flowsweep.plan.problems import KeyPath, Problem, shown_path
from flowsweep.plan.sweeps.table import SweepTable

LOOPBACK_VERSION = 4
"""Where the loopback is reached if neither an address nor a `family` says otherwise."""


def rendezvous_problems(file: PlanFile) -> Iterator[Problem]:
    """Find paths whose ends have no IP version in common, or too few ports to listen on."""
    for number, sweep in enumerate(file.sweep):
        at: KeyPath = ("sweep", number)
        for index, path in enumerate(sweep.paths):
            pairs = pairs_of_path(file, path, max(sweep.pairs) if sweep.pairs else None)
            yield from port_problems(file, sweep, path, (*at, "paths", index))
            if not file.lab:
                both_ways = (*pairs, *((dst, src) for src, dst in pairs))
                for src, dst in pairs if sweep.directions == "one" else both_ways:
                    yield from _version_problems(file.hosts, sweep, (src, dst), at)


@dataclass(frozen=True, slots=True)
class _Address:
    """Something that a host says of its addresses, and the IP version it has."""

    path: KeyPath
    text: str
    version: int


def _version_problems(
    hosts: dict[str, HostTable], sweep: SweepTable, pair: HostPair, at: KeyPath
) -> Iterator[Problem]:
    src, dst = pair
    listener = listening_host(hosts, src, dst)
    if listener is None or not {src, dst} <= hosts.keys():
        return
    families: Sequence[int | None] = sweep.family or (None,)
    for index, family in enumerate(families):
        addresses = list(_addresses(hosts, listener, src if listener == dst else dst, family))
        if family is None:
            yield from _disagreeing(addresses, f"{src} and {dst}")
            continue
        key = (*at, "family", index) if len(families) > 1 else (*at, "family")
        for address in addresses:
            if address.version != family:
                message = (
                    f"found {family}, which {shown_path(address.path)} rules out: "
                    f"{address.text} is IPv{address.version}"
                )
                yield Problem(key, message, about=(address.path,))


def _disagreeing(addresses: list[_Address], ends: str) -> Iterator[Problem]:
    for address in addresses[1:]:
        first = addresses[0]
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
