"""From a plan's links to names and addresses. Pure: nothing here touches the machine."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from flowsweep.errors import LabError
from flowsweep.hosts.access import DataAddress, HostAccess
from flowsweep.lab.owner import Owner
from flowsweep.plan.model import Host, Link

IPV4_BASE = IPv4Address("198.18.0.0")
"""198.18.0.0/15, reserved for benchmarks (RFC 2544, RFC 6890): in nobody's way. Four addresses an end."""
IPV6_BASE = IPv6Network("2001:2::/48")
"""2001:2::/48, reserved for benchmarks (RFC 5180). One /64 an end."""
ENDS_MAX = 2**15
IPV4_PREFIX = 30
IPV6_PREFIX = 64


@dataclass(frozen=True, slots=True)
class End:
    """A host's end of a link."""

    host: str
    host_namespace: str
    host_device: str
    host_ipv4: IPv4Address
    host_ipv6: IPv6Address


@dataclass(frozen=True, slots=True)
class Leg(End):
    """The veth pair between a host and the link's router."""

    host_mac: str
    router_namespace: str
    router_device: str
    router_ipv4: IPv4Address
    router_ipv6: IPv6Address
    router_mac: str


@dataclass(frozen=True, slots=True)
class RoutedLink:
    """A link made of a router, with a leg to each host in the order of `Link.between`."""

    link: Link
    router_namespace: str
    ends: tuple[Leg, ...]


@dataclass(frozen=True, slots=True)
class EmulatedLink:
    """A link made of an emulator, with a device in each of two hosts, in the order of `Link.between`."""

    link: Link
    ends: tuple[End, End]


@dataclass(frozen=True, slots=True)
class Topology:
    """All namespaces of a lab and how they are joined."""

    host_namespaces: dict[str, str]
    """By host name."""
    routed: tuple[RoutedLink, ...]
    emulated: tuple[EmulatedLink, ...]

    @property
    def links(self) -> tuple[RoutedLink | EmulatedLink, ...]:
        """All links."""
        return (*self.routed, *self.emulated)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Hosts first, then routers."""
        return (*self.host_namespaces.values(), *(layout.router_namespace for layout in self.routed))


def lay_out(links: Sequence[Link], hosts: Sequence[Host], owner: Owner) -> Topology:
    """Give every host and link its namespace, devices and addresses.

    Raises:
        LabError: There are more ends of links than addresses.
    """
    ends_asked = sum(len(link.between) for link in links)
    if ends_asked > ENDS_MAX:
        raise LabError(f"the plan's links have {ends_asked} ends; a lab has addresses for {ENDS_MAX}")
    names = dict.fromkeys(
        [*(host.name for host in hosts), *(name for link in links for name in link.between)]
    )
    host_namespaces = {name: owner.namespace("host", name) for name in names}
    numbers = itertools.count()
    routed: list[RoutedLink] = []
    emulated: list[EmulatedLink] = []
    for index, link in enumerate(links):
        ends = [_end(next(numbers), index, host, host_namespaces[host]) for host in link.between]
        if link.is_emulated:
            first, second = (end for _, end in ends)
            emulated.append(EmulatedLink(link, (first, second)))
        else:
            router = owner.namespace("link", link.name)
            legs = (_leg(number, side, end, router) for side, (number, end) in enumerate(ends))
            routed.append(RoutedLink(link, router, tuple(legs)))
    return Topology(host_namespaces, tuple(routed), tuple(emulated))


def host_access(topology: Topology, host: Host, *, ip: str, ipv6: bool) -> HostAccess:
    """How to start an engine in a lab host, and where each host linked to it reaches it: IPv4, then IPv6.

    `ip`: path of that program, which starts the engine.
    """
    addresses: dict[str, tuple[DataAddress, ...]] = {}
    for layout in topology.links:
        for end, peer in itertools.permutations(layout.ends, 2):
            if end.host == host.name:
                addresses[peer.host] = (*addresses.get(peer.host, ()), *_data_addresses(end, ipv6=ipv6))
    return HostAccess(
        name=host.name,
        launch=(ip, "netns", "exec", topology.host_namespaces[host.name]),
        engine=host.engine,
        addresses=addresses,
        bind=host.bind,
        ports=host.ports,
        listens=host.listens,
    )


def _end(number: int, link_index: int, host: str, host_namespace: str) -> tuple[int, End]:
    """The end of that number in the lab."""
    ipv4, ipv6 = _network(number)
    return number, End(host, host_namespace, f"link{link_index}", ipv4 + 2, ipv6 + 2)


def _leg(number: int, side: int, end: End, router_namespace: str) -> Leg:
    ipv4, ipv6 = _network(number)
    return Leg(
        host=end.host,
        host_namespace=end.host_namespace,
        host_device=end.host_device,
        host_ipv4=end.host_ipv4,
        host_ipv6=end.host_ipv6,
        host_mac=_mac(number, 2),
        router_namespace=router_namespace,
        router_device=f"side{side}",
        router_ipv4=ipv4 + 1,
        router_ipv6=ipv6 + 1,
        router_mac=_mac(number, 1),
    )


def _network(number: int) -> tuple[IPv4Address, IPv6Address]:
    return IPV4_BASE + 4 * number, IPV6_BASE.network_address + (number << 64)


def _mac(number: int, device: int) -> str:
    """A locally administered Ethernet address (IEEE 802, bit 2 of the first byte)."""
    return f"02:00:00:{number >> 8:02x}:{number & 0xFF:02x}:{device:02x}"


def _data_addresses(end: End, *, ipv6: bool) -> tuple[DataAddress, ...]:
    first = DataAddress(str(end.host_ipv4), 4)
    return (first, DataAddress(str(end.host_ipv6), 6)) if ipv6 else (first,)
