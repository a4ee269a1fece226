"""From a plan's links to names and addresses. Pure: nothing here touches the machine."""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from flowsweep.errors import LabError
from flowsweep.hosts.access import DataAddress, HostAccess
from flowsweep.lab.guard import LAB_VARIABLE
from flowsweep.lab.owner import Owner
from flowsweep.plan.links.model import Link
from flowsweep.plan.model import Host

IPV4_BASE = IPv4Address("198.18.0.0")
"""198.18.0.0/15, reserved for benchmarks (RFC 2544, RFC 6890): in nobody's way. Four addresses an end."""
IPV6_BASE = IPv6Network("2001:2::/48")
"""2001:2::/48, reserved for benchmarks (RFC 5180). One /64 an end."""
ENDS_MAX = 2**15
IPV4_PREFIX = 30
IPV6_PREFIX = 64


@dataclass(frozen=True, slots=True)
class End:
    """A host's end of a link, or a router's end of one of its hops."""

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
    """A link made of an emulator, or a hop of one: a device at each of its ends, as in `Link.between`."""

    link: Link
    """A hop is a link of its own, between its neighbours."""
    ends: tuple[End, End]
    goals: tuple[End, End]
    """The host's end that each of the two ends leads to: behind the last hop in its direction."""

    @property
    def joins(self) -> tuple[str, str]:
        """The two hosts whose packets it carries."""
        return self.goals[1].host, self.goals[0].host


@dataclass(frozen=True, slots=True)
class Topology:
    """All namespaces of a lab and how they are joined."""

    mark: str
    """Its controller's (`Owner.mark`)."""
    host_namespaces: dict[str, str]
    """By host name."""
    hop_namespaces: dict[str, str]
    """Of the routers between hops, by router name."""
    routed: tuple[RoutedLink, ...]
    emulated: tuple[EmulatedLink, ...]

    @property
    def links(self) -> tuple[RoutedLink | EmulatedLink, ...]:
        """All links."""
        return (*self.routed, *self.emulated)

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Hosts first, then routers."""
        routers = (layout.router_namespace for layout in self.routed)
        return (*self.host_namespaces.values(), *self.hop_namespaces.values(), *routers)

    def routers_of(self, link: Link) -> tuple[str, ...]:
        """Namespaces of the routers that a link is made of."""
        of_hops = (self.hop_namespaces[hop.between[0]] for hop in hops_of(link)[1:])
        return (*of_hops, *(layout.router_namespace for layout in self.routed if layout.link == link))


def lay_out(links: Sequence[Link], hosts: Sequence[Host], owner: Owner) -> Topology:
    """Give every host and link its namespace, devices and addresses.

    Raises:
        LabError: There are more ends of links than addresses.
    """
    ends_asked = sum(2 * len(link.hops) if link.hops else len(link.between) for link in links)
    if ends_asked > ENDS_MAX:
        raise LabError(f"the plan's links have {ends_asked} ends; a lab has addresses for {ENDS_MAX}")
    names = dict.fromkeys(
        [*(host.name for host in hosts), *(name for link in links for name in link.between)]
    )
    host_namespaces = {name: owner.namespace("host", name) for name in names}
    chains = [hops_of(link) for link in links]
    routers = dict.fromkeys(name for chain in chains for hop in chain[1:] for name in hop.between[:1])
    hop_namespaces = {name: owner.namespace("link", name) for name in routers}
    namespaces = host_namespaces | hop_namespaces
    numbers, devices = itertools.count(), itertools.count()
    routed: list[RoutedLink] = []
    emulated: list[EmulatedLink] = []
    for link, chain in zip(links, chains, strict=True):
        ends = [
            [_end(next(numbers), device, name, namespaces[name]) for name in hop.between]
            for hop, device in zip(chain, devices, strict=False)
        ]
        if link.is_emulated:
            pairs = [(first, second) for (_, first), (_, second) in ends]
            goals = pairs[-1][1], pairs[0][0]
            emulated += (EmulatedLink(hop, pair, goals) for hop, pair in zip(chain, pairs, strict=True))
        else:
            router = owner.namespace("link", link.name)
            legs = (_leg(number, side, end, router) for side, (number, end) in enumerate(ends[0]))
            routed.append(RoutedLink(link, router, tuple(legs)))
    return Topology(owner.mark, host_namespaces, hop_namespaces, tuple(routed), tuple(emulated))


def hops_of(link: Link) -> tuple[Link, ...]:
    """Take a link apart into its hops, links from neighbour to neighbour; one without hops is all of it.

    Of `wan` between two hosts, they are `wan:1`, `wan:2`, …, and so are the routers behind them. No name of a
    plan has a colon.
    """
    if not link.hops:
        return (link,)
    names = [f"{link.name}:{number}" for number in range(1, len(link.hops) + 1)]
    nodes = [link.between[0], *names[:-1], link.between[1]]
    return tuple(
        Link(name=name, between=between, mtu_bytes=link.mtu_bytes, forward=hop.forward, backward=hop.backward)
        for name, between, hop in zip(names, itertools.pairwise(nodes), link.hops, strict=True)
    )


def host_access(topology: Topology, host: Host, *, ip: str, ipv6: bool) -> HostAccess:
    """How to start an engine in a lab host, and where each host linked to it reaches it: IPv4, then IPv6.

    `ip`: path of that program, which starts the engine. What is started so is known as the lab's (`guard`).
    """
    addresses: dict[str, tuple[DataAddress, ...]] = {}
    links: Counter[str] = Counter()
    for layout in topology.links:
        for end, peer in _reached(layout):
            if end.host == host.name:
                links[peer.host] += 1
                addresses[peer.host] = (*addresses.get(peer.host, ()), *_data_addresses(end, ipv6=ipv6))
    return HostAccess(
        name=host.name,
        launch=(
            "env",
            f"{LAB_VARIABLE}={topology.mark}",
            ip,
            "netns",
            "exec",
            topology.host_namespaces[host.name],
        ),
        engine=host.engine,
        addresses=addresses,
        further={peer: known[len(known) // links[peer] :] for peer, known in addresses.items()},
        folder=host.folder,
        bind=host.bind,
        ports=host.ports,
        listens=host.listens,
        server=host.server,
    )


def _reached(layout: RoutedLink | EmulatedLink) -> Iterator[tuple[End, End]]:
    """Each end with those that it is reached from."""
    if isinstance(layout, EmulatedLink):
        return zip(layout.ends, layout.goals, strict=True)
    return itertools.permutations(layout.ends, 2)


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
