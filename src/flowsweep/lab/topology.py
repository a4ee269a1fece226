"""From a plan's links to names and addresses. Pure: nothing here touches the machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from flowsweep.errors import LabError
from flowsweep.hosts.access import DataAddress, HostAccess
from flowsweep.lab.owner import Owner
from flowsweep.plan.model import Host, Link

IPV4_BASE = IPv4Address("198.18.0.0")
"""198.18.0.0/15, reserved for benchmarks (RFC 2544, RFC 6890): in nobody's way. Eight addresses a link."""
IPV6_BASE = IPv6Network("2001:2::/48")
"""2001:2::/48, reserved for benchmarks (RFC 5180). Two /64 a link."""
LINKS_MAX = 2**15 // 2
IPV4_PREFIX = 30
IPV6_PREFIX = 64


@dataclass(frozen=True, slots=True)
class Leg:
    """One half of a link: the veth pair between a host and the link's router."""

    host: str
    host_namespace: str
    host_device: str
    host_ipv4: IPv4Address
    host_ipv6: IPv6Address
    host_mac: str
    router_namespace: str
    router_device: str
    router_ipv4: IPv4Address
    router_ipv6: IPv6Address
    router_mac: str


@dataclass(frozen=True, slots=True)
class LinkLayout:
    """A link with its two legs, in the order of `Link.between`."""

    link: Link
    router_namespace: str
    legs: tuple[Leg, Leg]


@dataclass(frozen=True, slots=True)
class Topology:
    """All namespaces of a lab and how they are joined."""

    host_namespaces: dict[str, str]
    """By host name."""
    links: tuple[LinkLayout, ...]

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Hosts first, then routers."""
        return (*self.host_namespaces.values(), *(layout.router_namespace for layout in self.links))


def lay_out(links: Sequence[Link], hosts: Sequence[Host], owner: Owner) -> Topology:
    """Give every host and link its namespace, devices and addresses.

    Raises:
        LabError: There are more links than addresses.
    """
    if len(links) > LINKS_MAX:
        raise LabError(f"the plan has {len(links)} links; a lab has addresses for {LINKS_MAX}")
    names = dict.fromkeys(
        [*(host.name for host in hosts), *(name for link in links for name in link.between)]
    )
    host_namespaces = {name: owner.namespace("host", name) for name in names}
    layouts = []
    for index, link in enumerate(links):
        router_namespace = owner.namespace("link", link.name)
        first, second = (
            _leg(index, side, name, host_namespaces[name], router_namespace)
            for side, name in enumerate(link.between)
        )
        layouts.append(LinkLayout(link, router_namespace, (first, second)))
    return Topology(host_namespaces, tuple(layouts))


def host_access(topology: Topology, host: Host, *, ip: str, ipv6: bool) -> HostAccess:
    """How to start an engine in a lab host, and where each host linked to it reaches it: IPv4, then IPv6.

    `ip`: path of that program, which starts the engine.
    """
    addresses: dict[str, tuple[DataAddress, ...]] = {}
    for layout in topology.links:
        for leg, peer in (layout.legs, layout.legs[::-1]):
            if leg.host == host.name:
                addresses[peer.host] = (*addresses.get(peer.host, ()), *_data_addresses(leg, ipv6=ipv6))
    return HostAccess(
        name=host.name,
        launch=(ip, "netns", "exec", topology.host_namespaces[host.name]),
        engine=host.engine,
        addresses=addresses,
        bind=host.bind,
        ports=host.ports,
        listens=host.listens,
    )


def _leg(index: int, side: int, host: str, host_namespace: str, router_namespace: str) -> Leg:
    ipv4 = IPV4_BASE + 8 * index + 4 * side
    ipv6 = IPV6_BASE.network_address + ((2 * index + side) << 64)
    return Leg(
        host=host,
        host_namespace=host_namespace,
        host_device=f"link{index}",
        host_ipv4=ipv4 + 2,
        host_ipv6=ipv6 + 2,
        host_mac=_mac(index, side, 2),
        router_namespace=router_namespace,
        router_device=f"side{side}",
        router_ipv4=ipv4 + 1,
        router_ipv6=ipv6 + 1,
        router_mac=_mac(index, side, 1),
    )


def _mac(index: int, side: int, end: int) -> str:
    """A locally administered Ethernet address (IEEE 802, bit 2 of the first byte)."""
    return f"02:00:{index >> 8:02x}:{index & 0xFF:02x}:{side:02x}:{end:02x}"


def _data_addresses(leg: Leg, *, ipv6: bool) -> tuple[DataAddress, ...]:
    first = DataAddress(str(leg.host_ipv4), 4)
    return (first, DataAddress(str(leg.host_ipv6), 6)) if ipv6 else (first,)
